#include <algorithm>

#include "base/text.h"
#include "chunk/blocks.h"
#include "chunk/lines.h"

namespace footnote::chunk {

namespace {

/// Counts over the lines of one paragraph.
struct ParagraphCounts {
  std::size_t bytes = 0;
  std::size_t brackets = 0;
  std::size_t delimiters = 0;

  void add(std::string_view line) {
    bytes += line.size();
    for (char c : line) {
      brackets += c == '[';
      delimiters += c == '*' || c == '_' || c == '~' || c == '`' || c == '<' || c == '&';
    }
  }
  bool too_many() const {
    return bytes > kMarkdownParagraphBytesMax || brackets > kMarkdownBracketsMax || delimiters > kMarkdownDelimitersMax;
  }
};

struct Markers {
  std::size_t count = 0;   ///< Quote and list markers before the text.
  std::size_t indent = 0;  ///< Columns before the last of them.
  bool starts_item = false;
};

Markers read_markers(std::string_view line) {
  Markers out;
  std::size_t at = 0;
  while (at < line.size()) {
    const char c = line[at];
    const bool spaced = at + 1 >= line.size() || line[at + 1] == ' ' || line[at + 1] == '\t';
    if (c == ' ' || c == '\t') {
      ++at;
      continue;
    }
    const bool bullet = (c == '-' || c == '*' || c == '+') && spaced;
    std::size_t digits = at;
    while (digits < line.size() && digits - at < 9 && line[digits] >= '0' && line[digits] <= '9') ++digits;
    const bool number = digits > at && digits + 1 < line.size() && (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ';
    if (c != '>' && !bullet && !number) break;
    ++out.count;
    out.indent = at;
    out.starts_item = out.starts_item || bullet || number;
    at = number ? digits + 1 : at + 1;
  }
  return out;
}

}  // namespace

bool is_safe_markdown(std::string_view text) {
  if (text.size() > kMarkdownBytesMax) return false;
  ParagraphCounts paragraph;
  for (std::string_view line : split(text, '\n')) {
    const Markers markers = read_markers(line);
    if (markers.count > kMarkdownNestingMax || markers.indent > kMarkdownIndentMax) return false;
    if (static_cast<std::size_t>(std::ranges::count(line, '|')) > kMarkdownColumnsMax) return false;
    // Each item of a tight list is a separate paragraph.
    if (trim(line).empty() || markers.starts_item || heading_level(line) != 0) paragraph = {};
    paragraph.add(line);
    if (paragraph.too_many()) return false;
  }
  return true;
}

}  // namespace footnote::chunk
