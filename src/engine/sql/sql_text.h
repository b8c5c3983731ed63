#pragma once

#include <cstddef>
#include <string_view>

namespace footnote::sql {

/// SQL that was written in the source. Only a string literal becomes one, so no text that came from outside can
/// be run as SQL: values reach a statement as bound parameters or not at all.
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
