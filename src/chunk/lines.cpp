#include "chunk/lines.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::chunk {

namespace {

/// "- x", "* x", "+ x", "• x", "12. x", "3) x".
bool is_list_item(std::string_view line) {
  if (line.starts_with("\xE2\x80\xA2")) return true;
  std::size_t at = 0;
  if (line[0] == '-' || line[0] == '*' || line[0] == '+') {
    at = 1;
  } else {
    while (at < line.size() && at < 9 && is_ascii_digit(line[at])) ++at;
    if (at == 0 || at >= line.size() || (line[at] != '.' && line[at] != ')')) return false;
    ++at;
  }
  return at == line.size() || line[at] == ' ' || line[at] == '\t';
}

/// Three or more of one of -=*_~ and nothing else.
bool is_rule(std::string_view line) {
  std::size_t marks = 0;
  for (char c : line) {
    if (c == ' ') continue;
    if (c != line[0]) return false;
    ++marks;
  }
  return marks >= 3 && std::string_view("-=*_~").find(line[0]) != std::string_view::npos;
}

}  // namespace

LineIndex::LineIndex(std::string_view text, int first_line) : text_(text), first_line_(first_line), starts_{0} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts_.push_back(static_cast<std::uint32_t>(at + 1));
}

int LineIndex::line_of(std::size_t offset) const {
  const auto after = std::ranges::upper_bound(starts_, offset);
  return first_line_ + static_cast<int>(after - starts_.begin()) - 1;
}

TextRange LineIndex::line(int index) const {
  if (index < 0 || index >= count()) return {text_.size(), text_.size()};
  const auto at = static_cast<std::size_t>(index);
  return {starts_[at], at + 1 < starts_.size() ? starts_[at + 1] - 1 : text_.size()};
}

TextRange trimmed(std::string_view text, TextRange range) {
  while (range.begin < range.end && is_ascii_space(text[range.begin])) ++range.begin;
  while (range.end > range.begin && is_ascii_space(text[range.end - 1])) --range.end;
  return range;
}

int heading_level(std::string_view line) {
  line = trim(line);
  const std::size_t marks = std::min(line.find_first_not_of('#'), line.size());
  const bool separated = marks == line.size() || line[marks] == ' ' || line[marks] == '\t';
  return marks >= 1 && marks <= 6 && separated ? static_cast<int>(marks) : 0;
}

LineKind classify_line(std::string_view line) {
  line = trim(line);
  if (line.empty()) return LineKind::kBlank;
  if (line.starts_with("```") || line.starts_with("~~~")) return LineKind::kFence;
  if (heading_level(line) != 0) return LineKind::kHeading;
  if (is_rule(line)) return LineKind::kRule;
  if (line[0] == '|' || line.find(" | ") != std::string_view::npos) return LineKind::kTableRow;
  if (line[0] == '>') return LineKind::kQuote;
  return is_list_item(line) ? LineKind::kListItem : LineKind::kText;
}

}  // namespace footnote::chunk
