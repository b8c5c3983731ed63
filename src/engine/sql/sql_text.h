#pragma once

#include <cstddef>
#include <string_view>

namespace footnote::sql {

/// SQL from a string literal. It has no other constructor, so text from outside can't be run as SQL: values reach a statement only as bound
/// parameters.
class SqlText {
 public:
  template <std::size_t N>
  consteval SqlText(const char (&literal)[N]) : text_(literal, N - 1) {}  // NOLINT: implicit on purpose

  /// Ends in a NUL byte and lives as long as the program.
  constexpr std::string_view view() const { return text_; }

 private:
  std::string_view text_;
};

}  // namespace footnote::sql
