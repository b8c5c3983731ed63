#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"
#include "chunk/blocks.h"
#include "chunk/lines.h"

namespace footnote::chunk {

namespace {

/// Longer lines are not titles.
constexpr std::size_t kTitleBytesMax = 120;

/// "## Title ##" without its marks.
std::string title_of(std::string_view line) {
  line = trim(line);
  line.remove_prefix(std::min(line.find_first_not_of('#'), line.size()));
  while (line.ends_with('#')) line.remove_suffix(1);
  return heading_text(line);
}

BlockKind block_kind(LineKind kind) {
  switch (kind) {
    case LineKind::kHeading: return BlockKind::kHeading;
    case LineKind::kFence: return BlockKind::kCode;
    case LineKind::kTableRow: return BlockKind::kTable;
    case LineKind::kListItem: return BlockKind::kListItem;
    case LineKind::kQuote: return BlockKind::kQuote;
    case LineKind::kBlank:
    case LineKind::kText:
    case LineKind::kRule: return BlockKind::kParagraph;
  }
  return BlockKind::kParagraph;
}

/// Builds blocks line by line.
class LineBlocks {
 public:
  LineBlocks(std::string_view text, int first_line) : text_(text), lines_(text, 0), first_line_(first_line) {}

  std::vector<Block> markdown() {
    for (int i = 0; i < lines_.count(); ++i) {
      if (is_full()) return whole_rest(i);
      const std::string_view line = view(i);
      const LineKind kind = classify_line(line);
      if (kind == LineKind::kFence) {
        i = fence(i);
      } else if (kind == LineKind::kHeading) {
        start(BlockKind::kHeading, i);
        out_.back().level = heading_level(line);
        out_.back().heading = title_of(line);
        open_ = false;
      } else {
        line_of(kind, i);
      }
    }
    return std::move(out_);
  }

  std::vector<Block> plain() {
    std::string underlines;  // in order of first use: the position is the level
    for (int i = 0; i < lines_.count(); ++i) {
      if (is_full()) return whole_rest(i);
      const std::optional<char> underline = title_underline(i);
      if (!underline) {
        const LineKind kind = classify_line(view(i));
        line_of(kind == LineKind::kListItem || kind == LineKind::kBlank ? kind : LineKind::kText, i);
        continue;
      }
      if (underlines.find(*underline) == std::string::npos) underlines.push_back(*underline);
      start(BlockKind::kHeading, i);
      out_.back().level = std::min(6, static_cast<int>(underlines.find(*underline)) + 1);
      out_.back().heading = title_of(view(i));
      out_.back().range.end = lines_.line(++i).end;
      open_ = false;
    }
    return std::move(out_);
  }

 private:
  std::string_view view(int index) const {
    const TextRange range = lines_.line(index);
    return text_.substr(range.begin, range.size());
  }

  bool is_full() const { return out_.size() + 1 >= blocks_max(text_.size()); }

  /// Ends with one paragraph from this line to the last.
  std::vector<Block> whole_rest(int index) {
    start(BlockKind::kParagraph, index);
    out_.back().range.end = text_.size();
    return std::move(out_);
  }

  void start(BlockKind kind, int index) {
    out_.push_back(Block{kind, 0, lines_.line(index), first_line_ + index, {}});
    open_ = true;
  }

  void line_of(LineKind kind, int index) {
    if (kind == LineKind::kBlank) {
      open_ = false;
      return;
    }
    const BlockKind block = block_kind(kind);
    const bool same = open_ && kind != LineKind::kListItem &&
                      (out_.back().kind == block || (block == BlockKind::kParagraph && out_.back().kind != BlockKind::kTable));
    if (!same) start(block, index);
    out_.back().range.end = lines_.line(index).end;
  }

  /// Consumes lines up to the closing fence, or to the end; returns the last one.
  int fence(int index) {
    start(BlockKind::kCode, index);
    const std::string_view mark = trim(view(index)).substr(0, 3);
    int last = index + 1;
    while (last < lines_.count() && !trim(view(last)).starts_with(mark)) ++last;
    last = std::min(last, lines_.count() - 1);
    out_.back().range.end = lines_.line(last).end;
    open_ = false;
    return last;
  }

  /// The underline character of line i if it is a title: "Title" over "=====".
  std::optional<char> title_underline(int index) const {
    const std::string_view title = trim(view(index));
    const std::string_view under = trim(view(index + 1));
    if (title.empty() || title.size() > kTitleBytesMax || classify_line(title) == LineKind::kRule) return std::nullopt;
    if (under.size() < 3 || classify_line(under) != LineKind::kRule) return std::nullopt;
    if (under.find(' ') != std::string_view::npos || under.size() * 4 < count_code_points(title) * 3) return std::nullopt;
    const bool starts_block = index == 0 || trim(view(index - 1)).empty() || classify_line(view(index - 1)) == LineKind::kRule;
    return starts_block ? std::optional<char>(under[0]) : std::nullopt;
  }

  const std::string_view text_;
  const LineIndex lines_;
  const int first_line_;
  bool open_ = false;
  std::vector<Block> out_;
};

}  // namespace

std::vector<Block> markdown_blocks_by_lines(std::string_view text, int first_line) { return LineBlocks(text, first_line).markdown(); }

std::vector<Block> plain_text_blocks(std::string_view text, int first_line) { return LineBlocks(text, first_line).plain(); }

}  // namespace footnote::chunk
