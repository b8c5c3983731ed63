#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::behaviour {

/// One command of a scenario, split into words. Quotes around a word are removed; `<<END` takes the lines up to END.
struct Command {
  int line = 0;
  std::vector<std::string> words;
};

/// A scenario file:
///   # the rule that it proves
///   commands, one per line; # starts a comment
///   ----
///   what the commands must print
struct Scenario {
  std::string script;  ///< Everything before the line "----".
  std::vector<Command> commands;
  std::string expected;
};

/// kInvalidArgument names the invalid line.
Result<Scenario> parse_scenario(std::string_view text);

/// The file with its expected part replaced.
std::string with_expected(const Scenario& scenario, std::string_view expected);

/// A text in quotes on one line: \n, \", \\, and \u{200B} for invisible characters. parse_scenario reads it back.
std::string in_quotes(std::string_view text);

}  // namespace footnote::behaviour
