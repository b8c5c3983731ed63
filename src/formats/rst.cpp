#include <algorithm>
#include <string>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/own_text.h"
#include "formats/read.h"

namespace footnote::formats {

namespace {

using chunk::BlockKind;

constexpr std::string_view kPunctuation = "=-`:'\"~^_*+#<>.!$%&";

/// The character of a line of one repeated mark, 0 for other lines.
char adornment(std::string_view line) {
  line = trim(line);
  if (line.size() < 2 || kPunctuation.find(line[0]) == std::string_view::npos) return 0;
  return std::ranges::all_of(line, [&](char c) { return c == line[0]; }) ? line[0] : '\0';
}

bool is_grid_rule(std::string_view line) {
  line = trim(line);
  return line.size() > 3 && line.starts_with('+') && line.find_first_not_of("+-= ") == std::string_view::npos;
}

/// "=====  =====": the rule of a simple table has at least two columns.
bool is_simple_rule(std::string_view line) {
  line = trim(line);
  return line.starts_with("==") && line.find_first_not_of("= ") == std::string_view::npos && line.find(' ') != std::string_view::npos;
}

bool is_list_item(std::string_view line) {
  line = trim(line);
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") || line.starts_with("#. ")) return true;
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  return digits > 0 && digits < 4 && line.size() > digits + 1 && (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ';
}

class RstReader {
 public:
  explicit RstReader(OwnText& out) : out_(out) {}

  void run() {
    while (at_ < out_.count()) step();
  }

 private:
  void step() {
    const std::string_view line = out_.line(at_);
    if (out_.is_blank(at_)) {
      ++at_;
    } else if (title()) {
      return;
    } else if (is_grid_rule(line)) {
      take(BlockKind::kTable, [&](int next) { return trim(out_.line(next)).starts_with('+') || trim(out_.line(next)).starts_with('|'); });
    } else if (is_simple_rule(line)) {
      simple_table();
    } else if (trim(line).starts_with(".. code") || trim(line).starts_with(".. sourcecode") || is_literal_) {
      indented(BlockKind::kCode);
    } else if (is_list_item(line)) {
      take(BlockKind::kListItem, [&](int next) { return !out_.is_blank(next) && !is_list_item(out_.line(next)); });
    } else {
      paragraph();
    }
  }

  template <class GoesOn>
  void take(BlockKind kind, GoesOn goes_on) {
    int last = at_;
    while (last + 1 < out_.count() && goes_on(last + 1)) ++last;
    out_.block(kind, at_, last);
    at_ = last + 1;
    is_literal_ = false;
  }

  /// "Title" above a line of marks at least as long as it, possibly with such a line above as well. The level is given by the order in
  /// which marks are first used.
  bool title() {
    const bool over = adornment(out_.line(at_)) != 0;
    const int text = at_ + (over ? 1 : 0);
    const char mark = adornment(out_.line(text + 1));
    const std::string_view words = trim(out_.line(text));
    if (mark == 0 || words.empty() || adornment(words) != 0 || (!over && out_.line(text).starts_with(' '))) {
      if (!over) return false;
      ++at_;  // a transition between sections
      return true;
    }
    if (over && adornment(out_.line(at_)) != mark) return ++at_, true;
    if (trim(out_.line(text + 1)).size() + 1 < count_code_points(words)) return over ? (++at_, true) : false;
    const std::string style = over ? std::string(2, mark) : std::string(1, mark);
    const auto known = std::ranges::find(styles_, style);
    const int level = static_cast<int>(known - styles_.begin()) + 1;
    if (known == styles_.end()) styles_.push_back(style);
    out_.heading(at_, text + 1, level, words);
    at_ = text + 2;
    is_literal_ = false;
    return true;
  }

  void simple_table() {
    // A simple table ends with its third rule, or with its second if a blank line follows.
    int rules = 1;
    int last = at_;
    while (last + 1 < out_.count() && rules < 3) {
      ++last;
      if (is_simple_rule(out_.line(last))) ++rules;
      if (rules == 2 && out_.is_blank(last + 1)) break;
    }
    out_.block(BlockKind::kTable, at_, last);
    at_ = last + 1;
  }

  /// The line and everything indented deeper, blank lines between included.
  void indented(BlockKind kind) {
    const std::size_t indent = is_literal_ ? literal_indent_ : indent_of(out_.line(at_));
    int last = at_;
    for (int next = at_ + 1; next < out_.count(); ++next) {
      if (out_.is_blank(next)) continue;
      if (indent_of(out_.line(next)) <= indent) break;
      last = next;
    }
    out_.block(kind, at_, last);
    at_ = last + 1;
    is_literal_ = false;
  }

  /// A paragraph that ends in "::" is followed by code, if that is indented.
  void paragraph() {
    const std::size_t indent = indent_of(out_.line(at_));
    int last = at_;
    while (last + 1 < out_.count() && !out_.is_blank(last + 1)) ++last;
    out_.block(BlockKind::kParagraph, at_, last);
    const bool announces = trim(out_.line(last)).ends_with("::");
    at_ = last + 1;
    int next = at_;
    while (next < out_.count() && out_.is_blank(next)) ++next;
    is_literal_ = announces && next < out_.count() && indent_of(out_.line(next)) > indent;
    literal_indent_ = indent;
  }

  OwnText& out_;
  int at_ = 0;
  std::vector<std::string> styles_;
  bool is_literal_ = false;  ///< The next lines are code.
  std::size_t literal_indent_ = 0;
};

}  // namespace

chunk::ParsedDocument read_restructured_text(std::string_view key, std::string text) {
  OwnText out(std::move(text));
  RstReader(out).run();
  return std::move(out).finish(key, {});
}

}  // namespace footnote::formats
