#include "scenario_file.h"

#include <charconv>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::behaviour {

namespace {

constexpr std::string_view kRule = "----";

/// Reads "\u{200B}" after its backslash; moves `at` to the closing brace.
bool take_code_point(std::string_view line, std::size_t& at, std::string& out) {
  const std::size_t end = line.find('}', at);
  if (line.substr(at, 2) != "u{" || end == std::string_view::npos) return false;
  unsigned value = 0;
  const char* last = line.data() + end;
  if (std::from_chars(line.data() + at + 2, last, value, 16).ptr != last) return false;
  append_utf8(out, value);
  at = end;
  return true;
}

bool take_escape(std::string_view line, std::size_t& at, std::string& out) {
  switch (line[at]) {
    case 'n': out.push_back('\n'); return true;
    case '"': out.push_back('"'); return true;
    case '\\': out.push_back('\\'); return true;
    default: return take_code_point(line, at, out);
  }
}

/// Reads a quoted word that opens at `at`; moves `at` past its end.
Result<std::string> take_quoted(std::string_view line, std::size_t& at) {
  std::string out;
  for (++at; at < line.size(); ++at) {
    if (line[at] == '"') {
      ++at;
      return out;
    }
    if (line[at] != '\\') {
      out.push_back(line[at]);
    } else if (++at >= line.size() || !take_escape(line, at, out)) {
      return fail(ErrorCode::kInvalidArgument, "bad escape");
    }
  }
  return fail(ErrorCode::kInvalidArgument, "a quote is not closed");
}

Result<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ') {
      ++at;
    } else if (line[at] == '"') {
      FOOTNOTE_TRY(std::string word, take_quoted(line, at));
      words.push_back(std::move(word));
    } else {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      words.emplace_back(line.substr(at, end - at));
      at = end;
    }
  }
  return words;
}

/// Replaces a last word "<<END" by the lines up to END; moves `number` to that line.
Result<void> take_block(const std::vector<std::string_view>& lines, std::size_t& number, std::vector<std::string>& words) {
  const std::string end = words.back().substr(2);
  std::string block;
  while (++number < lines.size()) {
    if (lines[number] == end) {
      words.back() = block;
      return {};
    }
    block += std::string(lines[number]) + "\n";
  }
  return fail(ErrorCode::kInvalidArgument, "no line '{}' ends the block", end);
}

Result<std::vector<Command>> parse_commands(std::string_view script) {
  const std::vector<std::string_view> lines = split(script, '\n');
  std::vector<Command> commands;
  for (std::size_t number = 0; number < lines.size(); ++number) {
    const std::string_view line = trim(lines[number]);
    if (line.empty() || line.starts_with('#')) continue;
    Command command{static_cast<int>(number) + 1, {}};
    const auto named = [&](Error error) { return with_context(std::move(error), fmt::format("line {}", command.line)); };
    auto words = split_words(line);
    if (!words) return named(words.error());
    command.words = *std::move(words);
    if (command.words.back().starts_with("<<")) {
      if (auto block = take_block(lines, number, command.words); !block) return named(block.error());
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

bool is_visible(char32_t c) {
  return c >= 0x20 && c != 0x7F && c != 0xAD && !(c >= 0x200B && c <= 0x200F) && !(c >= 0x2028 && c <= 0x202E) &&
         !(c >= 0x2060 && c <= 0x206F) && c != 0xFEFF && c < 0xE0000;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text) {
  const std::string rule = "\n" + std::string(kRule) + "\n";
  const std::size_t at = text.find(rule);
  if (at == std::string_view::npos) return fail(ErrorCode::kInvalidArgument, "no line of ---- parts commands from what they print");
  Scenario scenario;
  scenario.script = text.substr(0, at + 1);
  scenario.expected = text.substr(at + rule.size());
  if (!scenario.script.starts_with("# ")) return fail(ErrorCode::kInvalidArgument, "line 1: say the rule first, as '# rule'");
  FOOTNOTE_TRY(scenario.commands, parse_commands(scenario.script));
  return scenario;
}

std::string with_expected(const Scenario& scenario, std::string_view expected) {
  return scenario.script + std::string(kRule) + "\n" + std::string(expected);
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (!is_visible(c)) {
      out += fmt::format("\\u{{{:X}}}", static_cast<unsigned>(c));
    } else {
      out += text.substr(begin, at - begin);
    }
  }
  return out + "\"";
}

}  // namespace footnote::behaviour
