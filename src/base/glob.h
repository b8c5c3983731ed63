#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

/// The longest pattern accepted, in bytes.
inline constexpr std::size_t kGlobBytesMax = 256;

/// kPaths: the syntax that Glob describes. kIgnoreFile: a line of a .gitignore, without `!` and without leading or trailing '/'. There `**`
/// is special only as a whole segment; `[a-z]`, `[!a]` and `[[:digit:]]` match one character; `\\` escapes the next character.
enum class GlobSyntax { kPaths, kIgnoreFile };

/// A pattern for paths. `*` matches any run of characters except '/', `?` one such character, `**` any run at all, and a whole segment
/// `**/` also nothing (`docs/**/*.md` matches docs/a.md). A trailing '/' matches everything below. All other characters match themselves;
/// case matters. The whole path must match.
/// The pattern is an automaton whose states are simulated in parallel, without backtracking: time is linear in the path's length, and in
/// the pattern's length beyond 63 characters.
class Glob {
 public:
  /// kInvalidArgument: the pattern is empty, or (kIgnoreFile) ends in an open `[` or a lone `\\`. kTooLarge: it is longer than
  /// kGlobBytesMax.
  static Result<Glob> compile(std::string_view pattern, GlobSyntax syntax = GlobSyntax::kPaths);

  bool matches(std::string_view path) const;

 private:
  using Word = std::uint64_t;

  Glob() = default;
  void reserve_states(std::size_t count);
  void set(std::vector<Word>& table, std::size_t row, std::size_t state) const {
    table[row * words_ + state / 64] |= Word{1} << state % 64;
  }
  void close(Word* states) const;
  bool matches_short(std::string_view path) const;
  bool matches_long(std::string_view path) const;

  // State i: the first i parts of the pattern are matched. The tables are bit sets with `words_` words per row.
  std::size_t words_ = 1;
  std::size_t last_ = 0;         // The accepting state.
  std::vector<Word> steps_;      // For each byte: the states that advance to the next one.
  std::vector<Word> stays_;      // For each byte: the states that may stay where they are.
  std::vector<Word> skips_;      // A single row: states that may be skipped without input.
  std::string prefix_;           // The literal prefix of every match.
  std::string suffix_;           // The literal suffix of every match.
  bool takes_any_rest_ = false;  // The accepting state accepts any further input.
};

/// A path passes if it matches at least one pattern and none of the patterns that start with '!'. With exclusions only, all other paths
/// pass.
class PathGlobs {
 public:
  PathGlobs() = default;
  /// Errors as Glob::compile.
  static Result<PathGlobs> compile(const std::vector<std::string>& patterns);

  bool matches(std::string_view path) const;

 private:
  std::vector<Glob> wanted_;
  std::vector<Glob> excluded_;
};

}  // namespace footnote
