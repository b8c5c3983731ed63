#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote {

/// The longest pattern, in bytes.
inline constexpr std::size_t kGlobBytesMax = 256;

/// A pattern for paths: `*` stands for any run of characters but '/', `?` for one such character, `**` for any run at all, a whole
/// segment `**/` also for none (`docs/**/*.md` takes docs/a.md). A '/' at the end means all that lies below. Everything else stands
/// for itself, upper and lower case apart. The whole path must fit.
/// Time grows with the path's length and, past 63 characters, with the pattern's: all states are followed at once, none is tried again.
class Glob {
 public:
  /// kInvalidArgument: an empty pattern. kTooLarge: one past kGlobBytesMax.
  static Result<Glob> compile(std::string_view pattern);

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

  // State i: the first i parts of the pattern are behind us. Bit tables of `words_` words a row.
  std::size_t words_ = 1;
  std::size_t last_ = 0;         // The state in which a path fits.
  std::vector<Word> steps_;      // By byte: states from which it leads to the next one.
  std::vector<Word> stays_;      // By byte: states that it does not leave.
  std::vector<Word> skips_;      // One row: states that may be passed over when they are come to.
  std::string prefix_;           // What every path that fits begins with.
  std::string suffix_;           // And ends with.
  bool takes_any_rest_ = false;  // In the last state nothing can go wrong any more.
};

/// Patterns of which a path must fit at least one, and none of those that begin with '!'. With exclusions alone all others pass.
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
