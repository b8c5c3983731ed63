#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::chunk {

/// Where the lines of a text start.
class LineIndex {
 public:
  /// Borrows the text. `first_line` is the number of its first line. REQUIRES: the text is shorter than 4 GiB.
  LineIndex(std::string_view text, int first_line);

  int count() const { return static_cast<int>(starts_.size()); }
  /// The number of the line that contains the byte.
  int line_of(std::size_t offset) const;
  /// The line at `index`, from 0, without its line end; an empty range at the text's end if out of range.
  TextRange line(int index) const;

 private:
  std::string_view text_;
  int first_line_;
  std::vector<std::uint32_t> starts_;
};

/// The range without leading and trailing ASCII white space; may be empty.
TextRange trimmed(std::string_view text, TextRange range);

/// The kind of a line of Markdown or plain text, judged on its own.
enum class LineKind { kBlank, kText, kHeading, kFence, kTableRow, kListItem, kQuote, kRule };
LineKind classify_line(std::string_view line);
/// 1 to 6 for "# ..." to "###### ..."; 0 for other lines.
int heading_level(std::string_view line);

}  // namespace footnote::chunk
