#include "answer/shown_block.h"

#include <vector>

#include <fmt/format.h>

#include "answer/quote.h"
#include "base/text.h"
#include "chunk/lines.h"

namespace footnote::answer {

namespace {

using chunk::LineKind;
using chunk::QuoteKind;

/// A list item's marker: "- " for all bullets, "3. " for numbers.
std::string item_marker(std::string_view line) {
  line = trim(line);
  return is_ascii_digit(line.front()) ? fmt::format("{}. ", line.substr(0, line.find_first_of(".)"))) : "- ";
}

/// Prose before the first item, then one line per item. A single bullet is shown as prose.
std::string shown_list(std::string_view block) {
  std::vector<std::string> lines;
  std::string open;  // lines of the paragraph or item so far
  std::string marker;
  const auto close = [&] {
    const std::string shown = plain_quote(open);
    if (!shown.empty()) lines.push_back(marker + shown);
    if (!shown.empty() && marker.empty()) lines.emplace_back();  // a blank line before the list
    open.clear();
  };
  for (const std::string_view line : split(block, '\n')) {
    if (chunk::classify_line(line) == LineKind::kListItem) {
      close();
      marker = item_marker(line);
    }
    open.append(line).push_back('\n');
  }
  close();
  if (lines.size() == 1 && marker == "- ") return lines.front().substr(marker.size());
  return std::string(trim(join(lines, "\n")));
}

/// A short line that is no sentence.
bool is_brief(std::string_view paragraph) {
  return paragraph.size() <= chunk::kTermBytesMax && std::string_view(".!?;:,").find(paragraph.back()) == std::string_view::npos;
}

/// One that names what follows it. "€ 389.00" names nothing.
bool is_label(std::string_view paragraph) {
  const bool is_name = !is_ascii_digit(paragraph.front()) && std::string_view("€$£(\"'-").find(paragraph.front()) == std::string_view::npos;
  return is_name && is_brief(paragraph);
}

/// A term with its definition, or a heading with its text, as "**Term:** text". Facts in lines of their own are told one after the other;
/// other paragraphs stay apart.
std::string shown_prose(std::string_view block) {
  std::vector<std::string> paragraphs;
  std::string open;
  const auto close = [&] {
    if (std::string shown = plain_quote(open); !shown.empty()) paragraphs.push_back(std::move(shown));
    open.clear();
  };
  for (const std::string_view line : split(block, '\n')) {
    if (trim(line).empty()) close();
    open.append(line).push_back('\n');
  }
  close();
  if (paragraphs.size() == 2 && is_label(paragraphs[0])) return fmt::format("**{}:** {}", paragraphs[0], paragraphs[1]);
  std::string out;
  for (std::size_t i = 0; i < paragraphs.size(); ++i) {
    const bool is_fact = i > 0 && paragraphs.size() > 2 && is_brief(paragraphs[i - 1]) && is_brief(paragraphs[i]);
    out += (i == 0 ? "" : is_fact ? " · " : "\n\n") + paragraphs[i];
  }
  return out;
}

/// The sentence that introduces the code, then the code in a fence.
std::string shown_code(std::string_view block) {
  const std::size_t fence = std::min(block.find("```"), block.find("~~~"));
  std::string_view before;
  std::string_view code = block;
  std::string language;
  if (fence != std::string_view::npos) {
    before = block.substr(0, fence);
    code = block.substr(fence);
    const std::string_view mark = code.substr(0, 3);
    const std::size_t line_end = std::min(code.find('\n'), code.size());
    language = trim(code.substr(3, line_end - 3));
    code.remove_prefix(std::min(line_end + 1, code.size()));
    if (trim(code).ends_with(mark)) code = code.substr(0, code.rfind(mark));
  } else if (const std::size_t blank = block.rfind("\n\n"); blank != std::string_view::npos) {
    before = block.substr(0, blank);
    code = block.substr(blank + 2);
  }
  while (code.ends_with('\n')) code.remove_suffix(1);
  const std::string introduction = shown_list(before);
  return fmt::format("{}{}```{}\n{}\n```", introduction, introduction.empty() ? "" : "\n\n", language, code);
}

/// The cells of "| a | b |" (Markdown) or "a | b" (a web page, in which a cell may contain "x|y").
std::vector<std::string> cells_of(std::string_view row) {
  row = trim(row);
  const bool is_markdown = row.starts_with('|');
  const std::string_view separator = is_markdown ? "|" : " | ";
  if (is_markdown) row.remove_prefix(1);
  if (is_markdown && row.ends_with('|')) row.remove_suffix(1);
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= row.size();) {
    std::size_t end = row.find(separator, begin);
    while (is_markdown && end != std::string_view::npos && end > 0 && row[end - 1] == '\\') end = row.find(separator, end + 1);
    end = std::min(end, row.size());
    out.push_back(plain_quote(row.substr(begin, end - begin)));
    begin = end + separator.size();
  }
  return out;
}

std::string table_line(std::string_view row) {
  std::string out = "|";
  for (const std::string& cell : cells_of(row)) {
    out += ' ';
    for (std::size_t i = 0; i < cell.size(); ++i) {
      if (cell[i] == '|' && (i == 0 || cell[i - 1] != '\\')) out += '\\';
      out += cell[i];
    }
    out += " |";
  }
  return out;
}

/// The first row is the header: Markdown has no table without one.
std::string shown_table(std::string_view header, std::string_view rows) {
  std::vector<std::string> lines;
  if (!header.empty()) lines.push_back(table_line(header));
  for (const std::string_view row : split(rows, '\n')) {
    const bool is_rule = row.find_first_not_of(" \t|:-") == std::string_view::npos;
    if (!is_rule) lines.push_back(table_line(row));
  }
  if (lines.empty()) return {};
  std::string rule = "|";
  for (std::size_t i = 0; i < cells_of(header.empty() ? rows.substr(0, rows.find('\n')) : header).size(); ++i) rule += "---|";
  lines.insert(lines.begin() + 1, rule);
  return join(lines, "\n");
}

}  // namespace

std::string shown_block(std::string_view text, const chunk::QuoteBlock& block) {
  const std::string_view part = text.substr(block.range.begin, block.range.size());
  const std::string_view header = block.header ? text.substr(block.header->begin, block.header->size()) : std::string_view{};
  switch (block.kind) {
    case QuoteKind::kProse: return shown_prose(part);
    case QuoteKind::kList: return shown_list(part);
    case QuoteKind::kCode: return shown_code(part);
    case QuoteKind::kTable: return shown_table(header, part);
  }
  return plain_quote(part);
}

}  // namespace footnote::answer
