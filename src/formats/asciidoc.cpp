#include <algorithm>
#include <string>

#include "base/text.h"
#include "formats/own_text.h"
#include "formats/read.h"

namespace footnote::formats {

namespace {

using chunk::BlockKind;

/// 1 for "= Title" to 6 for "====== Section"; Markdown's "#" is understood too. 0 for other lines.
int heading_level(std::string_view line) {
  const char mark = line.empty() ? '\0' : line[0];
  if (mark != '=' && mark != '#') return 0;
  const std::size_t marks = std::min(line.find_first_not_of(mark), line.size());
  return marks <= 6 && marks < line.size() && line[marks] == ' ' ? static_cast<int>(marks) : 0;
}

/// The kind of block that a line of marks begins: "----", "....", "|===", "====", "____".
bool delimits(std::string_view line, BlockKind& kind) {
  line = trim(line);
  if (line == "|===" || line == ",===" || line == ":===") return kind = BlockKind::kTable, true;
  const bool is_run = line.size() >= 4 && std::ranges::all_of(line, [&](char c) { return c == line[0]; });
  if (line.starts_with("```") || (is_run && (line[0] == '-' || line[0] == '.' || line[0] == '+'))) return kind = BlockKind::kCode, true;
  if (is_run && line[0] == '_') return kind = BlockKind::kQuote, true;
  return false;
}

bool is_list_item(std::string_view line) {
  line = trim(line);
  const char mark = line.empty() ? '\0' : line[0];
  if (mark == '-') return line.starts_with("- ");
  if (mark != '*' && mark != '.') return false;
  const std::size_t marks = std::min(line.find_first_not_of(mark), line.size());
  return marks <= 5 && marks < line.size() && line[marks] == ' ';
}

/// "[source,ruby]", ".Caption", ":attribute: value", "// comment": markup that belongs to the next block, or to none.
bool is_markup(std::string_view line) {
  line = trim(line);
  if (line.starts_with("//") || line.starts_with("ifdef::") || line.starts_with("endif::")) return true;
  if (line.starts_with('[') && line.ends_with(']')) return true;
  return line.starts_with(':') && line.find(':', 1) != std::string_view::npos && line.find(' ') > line.find(':', 1);
}

}  // namespace

chunk::ParsedDocument read_asciidoc(std::string_view key, std::string text) {
  OwnText out(std::move(text));
  for (int i = 0; i < out.count(); ++i) {
    const std::string_view line = out.line(i);
    BlockKind kind = BlockKind::kParagraph;
    if (out.is_blank(i) || is_markup(line)) continue;
    if (const int level = heading_level(line)) {
      out.heading(i, i, level, line.substr(static_cast<std::size_t>(level)));
      continue;
    }
    int last = i;
    if (delimits(line, kind)) {
      const std::string_view mark = trim(line).substr(0, 3) == "```" ? "```" : trim(line);
      while (last + 1 < out.count() && trim(out.line(last + 1)) != mark) ++last;
      last = std::min(last + 1, out.count() - 1);
    } else {
      if (is_list_item(line)) kind = BlockKind::kListItem;
      BlockKind ignored{};
      const auto goes_on = [&](int next) {
        return next < out.count() && !out.is_blank(next) && !is_list_item(out.line(next)) && !delimits(out.line(next), ignored) &&
               heading_level(out.line(next)) == 0;
      };
      while (goes_on(last + 1)) ++last;
    }
    out.block(kind, i, last);
    i = last;
  }
  return std::move(out).finish(key, {});
}

}  // namespace footnote::formats
