#include "formats/own_text.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::formats {

using chunk::BlockKind;

std::size_t indent_of(std::string_view line) {
  std::size_t out = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') break;
    out += c == '\t' ? 4 : 1;
  }
  return out;
}

bool OwnText::is_blank(int index) const { return trim(line(index)).empty(); }

bool OwnText::add(BlockKind kind, int first, int last) {
  const TextRange range{lines_.line(first).begin, lines_.line(std::min(last, count() - 1)).end};
  const bool is_full = out_.blocks.size() >= chunk::blocks_max(out_.text.size());
  if (is_full || range.size() == 0) return false;
  out_.blocks.push_back(chunk::Block{kind, 0, range, first + 1, {}});
  return true;
}

void OwnText::heading(int first, int last, int level, std::string_view text) {
  if (!add(BlockKind::kHeading, first, last)) return;
  out_.blocks.back().level = std::clamp(level, 1, 6);
  out_.blocks.back().heading = chunk::heading_text(text);
}

void OwnText::block(BlockKind kind, int first, int last) { add(kind, first, last); }

chunk::ParsedDocument OwnText::finish(std::string_view key, std::string title) && {
  chunk::settle_title(key, std::move(title), out_);
  return std::move(out_);
}

}  // namespace footnote::formats
