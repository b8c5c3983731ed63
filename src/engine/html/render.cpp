#include "engine/html/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace footnote::html {

namespace {

constexpr auto kBlocks = name_set("address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
                                  "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2",
                                  "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol",
                                  "p", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul");

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

int heading_level(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' ? name[1] - '0' : 0;
}

/// Appends text with white space collapsed as in a browser: runs become one space, none at the start of a line. No-break spaces count as
/// spaces, so that searches match, and soft hyphens are removed. Calls `on_line_end` at each line end of `text`, and `on_text` before each
/// byte that stays.
template <class OnText, class OnLineEnd>
void append_folded(std::string& out, std::string_view text, OnText on_text, OnLineEnd on_line_end) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool no_break = text.compare(i, 2, "\xC2\xA0") == 0;
    if (text.compare(i, 2, "\xC2\xAD") == 0) {
      ++i;
    } else if (no_break || is_blank(text[i])) {
      if (text[i] == '\n') on_line_end();
      i += no_break;
      if (!out.empty() && out.back() != ' ' && out.back() != '\n') out.push_back(' ');
    } else {
      on_text();
      out.push_back(text[i]);
    }
  }
}

void append_folded(std::string& out, std::string_view text) {
  append_folded(out, text, [] {}, [] {});
}

/// Links from a heading to itself: "¶", "#", "§" and the like.
bool is_anchor_mark(const xmlNode* element) {
  const std::string text = fold_spaces(raw_text(element));
  return text.empty() || text == "#" || text == "\xC2\xB6" || text == "\xC2\xA7" || text == "\xF0\x9F\x94\x97";
}

/// The line of the element's first word if that is its own text; otherwise the line of its tag.
int first_text_line(const xmlNode* element) {
  const std::string_view text = element->children == nullptr ? std::string_view() : text_of(element->children);
  const std::string_view blank = text.substr(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return line_of(element) + static_cast<int>(std::ranges::count(blank, '\n'));
}

class Renderer {
 public:
  Renderer(const RegionFinder& regions, Page& page) : regions_(regions), page_(page) {}

  void node(const xmlNode* at) {
    if (at->type != XML_ELEMENT_NODE) return append(text_of(at));
    source_line_ = line_of(at);
    if (regions_.is_dropped(at)) return;
    element(at, name_of(at));
  }

  void children(const xmlNode* parent) {
    for (const xmlNode* child = parent->children; child != nullptr; child = child->next) node(child);
  }

  /// Ends the current block.
  void flush() {
    const std::string_view text = trim(line_);
    if (!text.empty()) write(kind_, level_, text);
    line_.clear();
    line_marks_.clear();
  }

 private:
  /// Continues the current block, and records where each line of the file begins in it.
  void append(std::string_view text) {
    const auto on_text = [this] {
      if (!line_marks_.empty() && line_marks_.back().offset == line_.size()) line_marks_.back().line = source_line_;
      if (line_marks_.empty() || line_marks_.back().line != source_line_) line_marks_.push_back({line_.size(), source_line_});
    };
    append_folded(line_, text, on_text, [this] { ++source_line_; });
  }

  void element(const xmlNode* at, std::string_view name) {
    if (name == "br") return line_break();
    if (name == "pre" || name == "listing" || name == "xmp") return code(at);
    if (name == "table") return table(at);
    if (name == "ul" || name == "ol" || name == "menu" || name == "dir") return list(at, name == "ol");
    if (name == "li") return item(at);
    if (name == "blockquote") return scoped(at, BlockKind::kQuote, 0);
    if (const int level = heading_level(name)) return heading(at, level);
    if (name == "a" && in_heading_ && is_anchor_mark(at)) return;
    if (!kBlocks.contains(name)) return children(at);
    flush();
    children(at);
    flush();
  }

  /// One <br> is a line end inside the block, two end the block.
  void line_break() {
    while (!line_.empty() && line_.back() == ' ') line_.pop_back();
    if (in_heading_) {
      line_.push_back(' ');
    } else if (!line_.empty() && line_.back() == '\n') {
      flush();
    } else if (!line_.empty()) {
      line_.push_back('\n');
      line_marks_.push_back({line_.size(), source_line_});
    }
  }

  void scoped(const xmlNode* at, BlockKind kind, int level) {
    flush();
    const BlockKind outer_kind = std::exchange(kind_, kind);
    const int outer_level = std::exchange(level_, level);
    children(at);
    flush();
    kind_ = outer_kind;
    level_ = outer_level;
  }

  void heading(const xmlNode* at, int level) {
    flush();
    const bool outer = std::exchange(in_heading_, true);
    scoped(at, BlockKind::kHeading, level);
    in_heading_ = outer;
  }

  void list(const xmlNode* at, bool ordered) {
    flush();
    const ListState outer = std::exchange(list_, ListState{list_.depth + 1, ordered, 0});
    scoped(at, BlockKind::kListItem, list_.depth);
    list_ = outer;
    marker_.clear();
  }

  void item(const xmlNode* at) {
    flush();
    const int depth = std::max(1, list_.depth);
    ++list_.number;
    marker_ =
        std::string(static_cast<std::size_t>(std::min(depth, 8) - 1) * 2, ' ') + (list_.ordered ? fmt::format("{}. ", list_.number) : "- ");
    scoped(at, BlockKind::kListItem, depth);
  }

  void code(const xmlNode* at) {
    flush();
    std::string text = raw_text(at);
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    const std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string::npos) return;
    // Keep the indent of the first line: the other lines may be indented relative to it.
    const std::size_t line_end = text.rfind('\n', begin);
    const std::size_t from = line_end == std::string::npos ? 0 : line_end + 1;
    line_marks_ = {{0, line_of(at) + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(from), '\n'))}};
    write(BlockKind::kCode, 0, std::string_view(text).substr(from, text.find_last_not_of(" \t\n") + 1 - from));
  }

  void table(const xmlNode* at) {
    flush();
    rows_.clear();
    columns_max_ = 0;
    bool layout = attribute(at, "role") == "presentation";
    collect_rows(at, layout);
    if (layout || columns_max_ < 2) {
      children(at);
      return flush();
    }
    const std::vector<Row> rows = std::move(rows_);
    for (const Row& row : rows) {
      line_marks_ = {{0, row.line}};
      write(BlockKind::kTableRow, 0, row.text);
    }
  }

  /// A table that contains headings or tables is used for layout; its rows are not data.
  void collect_rows(const xmlNode* at, bool& layout) {
    for (const xmlNode* child = at->children; child != nullptr && !layout; child = child->next) {
      if (child->type != XML_ELEMENT_NODE || regions_.is_dropped(child)) continue;
      const std::string_view name = name_of(child);
      if (name == "tr") {
        row(child, layout);
      } else if (name == "caption") {
        rows_.push_back({inline_text(child, regions_), line_of(child)});
      } else {
        collect_rows(child, layout);
      }
    }
  }

  void row(const xmlNode* at, bool& layout) {
    std::string line;
    int source_line = line_of(at);
    std::size_t columns = 0;
    for (const xmlNode* cell = at->children; cell != nullptr; cell = cell->next) {
      const std::string_view name = name_of(cell);
      if ((name != "td" && name != "th") || regions_.is_dropped(cell)) continue;
      layout = layout || holds_layout(cell);
      if (layout) return;
      if (columns == 0) source_line = first_text_line(cell);
      if (columns++ != 0) line += " | ";
      line += inline_text(cell, regions_);
    }
    columns_max_ = std::max(columns_max_, columns);
    if (line.find_first_not_of(" |") != std::string::npos) rows_.push_back({std::string(trim(line)), source_line});
  }

  static bool holds_layout(const xmlNode* at) {
    for (const xmlNode* child = at->children; child != nullptr; child = child->next) {
      const std::string_view name = name_of(child);
      if (name == "table" || name == "article" || name == "section" || name == "pre" || heading_level(name) != 0) return true;
      if (child->type == XML_ELEMENT_NODE && holds_layout(child)) return true;
    }
    return false;
  }

  void write(BlockKind kind, int level, std::string_view text) {
    std::string& out = page_.text;
    if (!out.empty()) {
      const BlockKind last = page_.blocks.back().kind;
      const bool same_group = last == kind && (kind == BlockKind::kListItem || kind == BlockKind::kTableRow);
      out += same_group ? "\n" : "\n\n";
    }
    const std::size_t begin = out.size();
    if (kind == BlockKind::kListItem || (!marker_.empty() && kind != BlockKind::kTableRow)) out += std::exchange(marker_, {});
    add_marks(begin, out.size(), text);
    out += text;
    page_.blocks.push_back({kind, level, begin, out.size()});
  }

  /// Adds the line marks of a block that begins at byte `begin` of the page and whose text begins at `text_begin`. The text may be a
  /// trimmed part of line_.
  void add_marks(std::size_t begin, std::size_t text_begin, std::string_view text) {
    const bool is_line = text.data() >= line_.data() && text.data() < line_.data() + line_.size();
    const std::size_t before = is_line ? static_cast<std::size_t>(text.data() - line_.data()) : 0;
    bool first = true;
    for (const LineMark& mark : line_marks_) {
      const std::size_t at = first ? begin : text_begin + std::max(mark.offset, before) - before;
      if (at >= text_begin + text.size() && !first) break;
      first = false;
      page_.lines.push_back({at, mark.line});
    }
    line_marks_.clear();
  }

  struct Row {
    std::string text;
    int line = 1;
  };

  struct ListState {
    int depth = 0;
    bool ordered = false;
    int number = 0;
  };

  const RegionFinder& regions_;
  Page& page_;
  std::string line_;    ///< The current block.
  std::string marker_;  ///< "- " of a list item that has no text yet.
  BlockKind kind_ = BlockKind::kParagraph;
  int level_ = 0;
  bool in_heading_ = false;
  ListState list_;
  std::vector<Row> rows_;             ///< Rows of the current table.
  std::vector<LineMark> line_marks_;  ///< Offsets in line_.
  int source_line_ = 1;
  std::size_t columns_max_ = 0;
};

void collect_inline(const xmlNode* at, const RegionFinder& regions, std::string& out) {
  if (at->type != XML_ELEMENT_NODE) return append_folded(out, text_of(at));
  if (regions.is_dropped(at)) return;
  const std::string_view name = name_of(at);
  const bool apart = name == "br" || kBlocks.contains(name);
  if (apart) append_folded(out, " ");
  for (const xmlNode* child = at->children; child != nullptr; child = child->next) collect_inline(child, regions, out);
  if (apart) append_folded(out, " ");
}

}  // namespace

std::string inline_text(const xmlNode* element, const RegionFinder& regions) {
  std::string out;
  for (const xmlNode* child = element->children; child != nullptr; child = child->next) collect_inline(child, regions, out);
  return std::string(trim(out));
}

void render(const xmlNode* element, const RegionFinder& regions, Page& page) {
  Renderer renderer(regions, page);
  renderer.children(element);
  renderer.flush();
}

}  // namespace footnote::html
