#include "formats/builder.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace footnote::formats {

using chunk::Block;
using chunk::BlockKind;

namespace {

/// Puts the text on one line and removes control characters: word processors use them as marks, and they would break or hide lines.
std::string one_line(std::string_view text) {
  std::string out = fold_spaces(text);
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return out;
}

}  // namespace

std::string row_line(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) out += " | ";
    out += cells[i];
  }
  return std::string(trim(out));
}

void DocumentBuilder::remark(std::string text) {
  if (std::ranges::find(out_.warnings, text) == out_.warnings.end()) out_.warnings.push_back(std::move(text));
}

void DocumentBuilder::mark() {
  if (place_ == 0) return;
  auto& marks = out_.places.marks;
  // Lines are counted from the last mark, so each block needs its own mark.
  const bool same = out_.places.unit != PlaceUnit::kLine && !marks.empty() && marks.back().number == place_;
  if (!same) marks.push_back({static_cast<std::uint32_t>(out_.text.size()), place_});
}

bool DocumentBuilder::begin(BlockKind kind, std::size_t bytes, std::string_view gap) {
  if (is_full_) return false;
  const bool fits = out_.text.size() + bytes + gap.size() <= text_bytes_max_ && out_.blocks.size() < chunk::blocks_max(out_.text.size());
  if (!fits) {
    is_full_ = true;
    remark(fmt::format("only the first {} of its text were read", human_bytes(out_.text.size())));
    return false;
  }
  if (kind != BlockKind::kTable) group_bytes_ = 0;
  if (!out_.text.empty()) {
    out_.text += gap;
    line_ += static_cast<int>(gap.size());
  }
  mark();
  return true;
}

void DocumentBuilder::end(BlockKind kind, std::size_t begin) {
  out_.blocks.push_back(Block{kind, 0, {begin, out_.text.size()}, line_, {}});
  line_ += static_cast<int>(std::count(out_.text.begin() + static_cast<std::ptrdiff_t>(begin), out_.text.end(), '\n'));
}

void DocumentBuilder::heading(int level, std::string_view text) {
  const std::string line = one_line(text);
  if (line.empty() || !begin(BlockKind::kHeading, line.size(), "\n\n")) return;
  const std::size_t at = out_.text.size();
  out_.text += line;
  end(BlockKind::kHeading, at);
  out_.blocks.back().level = std::clamp(level, 1, 6);
  out_.blocks.back().heading = chunk::heading_text(line);
}

void DocumentBuilder::paragraph(std::string_view text) {
  const std::string line = one_line(text);
  if (line.empty() || !begin(BlockKind::kParagraph, line.size(), "\n\n")) return;
  const std::size_t at = out_.text.size();
  out_.text += line;
  end(BlockKind::kParagraph, at);
}

void DocumentBuilder::list_item(int depth, std::string_view marker, std::string_view text) {
  const std::string line = one_line(text);
  const bool goes_on = !out_.blocks.empty() && out_.blocks.back().kind == BlockKind::kListItem;
  const std::string indent(static_cast<std::size_t>(std::clamp(depth, 1, 8) - 1) * 2, ' ');
  if (line.empty() || !begin(BlockKind::kListItem, line.size() + 32, goes_on ? "\n" : "\n\n")) return;
  const std::size_t at = out_.text.size();
  out_.text += fmt::format("{}{} {}", indent, marker, line);
  end(BlockKind::kListItem, at);
}

void DocumentBuilder::code(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\n');
  const std::size_t last = text.find_last_not_of(" \t\n");
  if (first == std::string_view::npos || last == std::string_view::npos || last < first) return;
  const std::string_view body = text.substr(first, last + 1 - first);
  if (!begin(BlockKind::kCode, body.size(), "\n\n")) return;
  const std::size_t at = out_.text.size();
  out_.text += body;
  end(BlockKind::kCode, at);
}

void DocumentBuilder::lines(const std::vector<Line>& lines) {
  std::vector<Line> kept;
  std::size_t bytes = 0;
  for (const Line& line : lines) {
    kept.push_back({one_line(line.text), line.place});
    if (kept.back().text.empty()) kept.pop_back();
    if (!kept.empty()) bytes += kept.back().text.size() + 1;
  }
  if (kept.empty()) return;
  place_ = kept[0].place;
  if (!begin(BlockKind::kParagraph, bytes, "\n\n")) return;
  const std::size_t at = out_.text.size();
  for (std::size_t i = 0; i < kept.size(); ++i) {
    place_ = kept[i].place;
    if (i != 0) out_.text += '\n';
    if (i != 0) mark();
    out_.text += kept[i].text;
  }
  end(BlockKind::kParagraph, at);
}

void DocumentBuilder::table(std::vector<std::string> header) {
  for (std::string& cell : header) cell = one_line(cell);
  if (header.size() > kTableColumnsMax) header.resize(kTableColumnsMax);
  header_ = std::move(header);
  header_line_ = row_line(header_);
  group_bytes_ = 0;
}

/// Writes one cell per line, with its header.
void DocumentBuilder::record(const std::vector<std::string>& cells) {
  std::vector<Line> out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    const bool named = i < header_.size() && !header_[i].empty();
    out.push_back({named ? fmt::format("{}: {}", header_[i], cells[i]) : cells[i], place_});
  }
  lines(out);
}

void DocumentBuilder::row(const std::vector<std::string>& given) {
  std::vector<std::string> cells;
  for (const std::string& cell : given) {
    if (cells.size() == kTableColumnsMax) {
      remark(fmt::format("columns after the first {} were left out", kTableColumnsMax));
      break;
    }
    cells.push_back(one_line(cell));
  }
  while (!cells.empty() && cells.back().empty()) cells.pop_back();
  if (cells.empty()) return;
  const std::string line = row_line(cells);
  if (line.size() + header_line_.size() > kTableRowBytesMax) return record(cells);
  const bool fresh = group_bytes_ == 0 || group_bytes_ + line.size() > kTableGroupBytes;
  const std::string whole = fresh && !header_line_.empty() ? header_line_ + "\n" + line : line;
  if (!begin(BlockKind::kTable, whole.size(), fresh ? "\n\n" : "\n")) return;
  const std::size_t at = out_.text.size();
  out_.text += whole;
  if (fresh) {
    group_bytes_ = whole.size() + 1;
    // Lines are counted from the last mark: the header's line end must not shift the row's number.
    if (whole.size() > line.size() && place_ != 0 && out_.places.unit == PlaceUnit::kLine) {
      out_.places.marks.push_back({static_cast<std::uint32_t>(out_.text.size() - line.size()), place_});
    }
    return end(BlockKind::kTable, at);
  }
  group_bytes_ += whole.size() + 1;
  out_.blocks.back().range.end = out_.text.size();
}

chunk::ParsedDocument DocumentBuilder::finish() && { return std::move(out_); }

}  // namespace footnote::formats
