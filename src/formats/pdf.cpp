#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"
#include "formats/builder.h"
#include "formats/child.h"
#include "formats/read.h"

namespace footnote::formats {

namespace {

/// Pages after this one are left out, and reported.
constexpr int kPagesMax = 2000;
/// Processor seconds: a base, and more for a larger file.
constexpr int kSecondsBase = 5;
constexpr int kSecondsPerMiB = 2;
/// A page header or footer is a line that occurs on at least this many pages, and on half of all pages.
constexpr std::size_t kFurniturePagesMin = 3;
constexpr std::size_t kHeadingBytesMax = 80;
constexpr std::size_t kHeadingWordsMax = 10;

ChildLimits limits_of(std::string_view bytes) {
  const auto mebibytes = static_cast<int>(bytes.size() >> 20);
  const std::chrono::seconds processor{kSecondsBase + kSecondsPerMiB * mebibytes};
  return {.processor = processor, .wall = 4 * processor + std::chrono::seconds{10}, .output_bytes = chunk::kDocumentBytesMax};
}

/// Converts pdftotext's errors to messages for people.
Result<void> check(const ChildOutcome& outcome, const ChildLimits& limits) {
  using End = ChildOutcome::End;
  const auto says = [&](std::string_view words) { return outcome.errors.find(words) != std::string::npos; };
  if (outcome.end == End::kTooMuch) return fail(ErrorCode::kTooLarge, "more than {} of text; split it", human_bytes(limits.output_bytes));
  if (outcome.end != End::kExited || says("Out of memory")) {
    return fail(ErrorCode::kTooLarge,
                "reading it takes more than {} s of processor time or {} of memory; split it, or print it to a new PDF",
                limits.processor.count(), human_bytes(limits.memory_bytes));
  }
  if (says("Incorrect password")) return fail(ErrorCode::kUnsupported, "protected by a password; save a copy without one");
  if (outcome.exit_code == 3) return fail(ErrorCode::kUnsupported, "its author does not allow text to be copied from it");
  if (outcome.exit_code != 0) return fail(ErrorCode::kUnsupported, "a damaged PDF; open it in its program and save it again");
  return {};
}

struct Page {
  std::vector<std::string_view> lines;
  bool has_text = false;
};

std::vector<Page> pages_of(std::string_view text) {
  std::vector<Page> out;
  // Every page ends with a form feed, the last one too.
  for (const std::string_view content : split(text, '\f')) {
    Page& page = out.emplace_back();
    page.lines = split(content, '\n');
    page.has_text = !trim(content).empty();
  }
  if (!out.empty() && !out.back().has_text) out.pop_back();
  return out;
}

/// "Handbook, page 12" as "Handbook, page #".
std::string without_numbers(std::string_view line) {
  std::string out;
  for (const char c : fold_spaces(line)) {
    if (!is_ascii_digit(c)) out += c;
    if (is_ascii_digit(c) && !out.ends_with('#')) out += '#';
  }
  return out;
}

/// The first and the last line of a page that have words, as indices; -1 if none.
std::pair<int, int> outer_lines(const Page& page) {
  std::pair<int, int> out{-1, -1};
  for (int i = 0; i < static_cast<int>(page.lines.size()); ++i) {
    if (trim(page.lines[static_cast<std::size_t>(i)]).empty()) continue;
    if (out.first < 0) out.first = i;
    out.second = i;
  }
  return out;
}

/// Blanks page headers and footers: they belong to no sentence.
void drop_furniture(std::vector<Page>& pages) {
  std::map<std::string, std::size_t> heads;
  std::map<std::string, std::size_t> feet;
  const auto text = [](const Page& page, int line) { return without_numbers(page.lines[static_cast<std::size_t>(line)]); };
  for (const Page& page : pages) {
    const auto [first, last] = outer_lines(page);
    if (first < 0) continue;
    ++heads[text(page, first)];
    ++feet[text(page, last)];
  }
  const auto is_furniture = [&](std::size_t count) { return count >= kFurniturePagesMin && 2 * count >= pages.size(); };
  for (Page& page : pages) {
    const auto [first, last] = outer_lines(page);
    if (first < 0) continue;
    const bool head = is_furniture(heads[text(page, first)]);
    const bool foot = is_furniture(feet[text(page, last)]);
    if (head) page.lines[static_cast<std::size_t>(first)] = {};
    if (foot) page.lines[static_cast<std::size_t>(last)] = {};
  }
}

bool is_capital(std::string_view text) { return !text.empty() && (is_ascii_upper(text[0]) || static_cast<unsigned char>(text[0]) >= 0x80); }

bool is_short(std::string_view line) {
  const auto words = static_cast<std::size_t>(std::ranges::count(line, ' ')) + 1;
  return !line.empty() && line.size() <= kHeadingBytesMax && words <= kHeadingWordsMax;
}

/// 2 for "2 Hours" and "2. Hours", 3 for "2.1 Overtime"; 0 for other lines.
int numbered_level(std::string_view line) {
  const std::size_t size = std::min(line.find_first_not_of("0123456789."), line.size());
  const std::string_view number = line.substr(0, size);
  if (!is_short(line) || number.empty() || !is_ascii_digit(number[0]) || size == line.size() || line[size] != ' ') return 0;
  if (!is_capital(trim(line.substr(size))) || std::string_view(".,;:").contains(line.back())) return 0;
  const auto dots = std::ranges::count(number.substr(0, number.size() - (number.ends_with('.') ? 1 : 0)), '.');
  return 2 + static_cast<int>(dots);
}

/// A short line between blank ones that is no sentence.
bool is_title_line(std::string_view line) {
  return is_short(line) && is_capital(line) && !std::string_view(".,;:!?").contains(line.back());
}

/// The length of a list item's mark at the start of a line: "\u2022 ", "- ", "3. "; 0 for other lines.
std::size_t list_mark(std::string_view line) {
  for (const std::string_view mark : {"\u2022", "\u25CF", "\u25E6", "\u2013", "\u2023", "\u25AA", "-", "*"}) {
    const bool is_dash = mark == "-" || mark == "*" || mark == "\u2013";
    if (line == mark && !is_dash) return mark.size();
    if (line.starts_with(mark) && line.substr(mark.size()).starts_with(' ')) return mark.size() + 1;
  }
  return 0;
}

/// Joins the lines of a paragraph. A word that was divided at a line's end becomes whole.
void append_line(std::string& paragraph, std::string_view line) {
  line = trim(line);
  const bool divided = paragraph.size() > 1 && paragraph.back() == '-' && is_ascii_lower(paragraph[paragraph.size() - 2]) &&
                       !line.empty() && is_ascii_lower(line[0]);
  if (divided) {
    paragraph.pop_back();
  } else if (!paragraph.empty()) {
    paragraph += ' ';
  }
  paragraph += line;
}

struct Paragraph {
  std::string text;
  int lines = 0;
  int heading = 0;  ///< Heading level; 0 for text.
  bool is_item = false;
};

/// Splits a page into paragraphs. A line that equals the document's title is a heading, wherever it is.
class PageReader {
 public:
  explicit PageReader(std::string_view title) : title_(title) {}

  std::vector<Paragraph> read(const Page& page) {
    for (std::size_t i = 0; i < page.lines.size(); ++i) {
      const std::string_view line = trim(page.lines[i]);
      const std::string_view next = i + 1 < page.lines.size() ? trim(page.lines[i + 1]) : std::string_view();
      if (line.empty()) {
        // A bullet on its own line belongs to the text that follows.
        if (!open_.is_item || open_.lines > 0) flush();
      } else if (const std::size_t mark = list_mark(line); mark > 0) {
        flush();
        open_.is_item = true;
        add(line.substr(mark));
      } else if (const int level = open_.lines == 0 && !open_.is_item ? level_of(line, next) : 0; level > 0) {
        out_.push_back({std::string(line), 1, level, false});
      } else {
        add(line);
      }
    }
    flush();
    return std::move(out_);
  }

 private:
  /// "1. Hours" may also be the first item of a list: then the next number follows.
  int level_of(std::string_view line, std::string_view next) const {
    if (line == title_) return 1;
    const int level = numbered_level(line);
    const bool is_list = level == 2 && !next.empty() && is_ascii_digit(next[0]) && numbered_level(next) <= 2;
    return is_list ? 0 : level;
  }

  void add(std::string_view line) {
    if (trim(line).empty()) return;
    append_line(open_.text, line);
    ++open_.lines;
  }

  void flush() {
    if (open_.lines > 0) out_.push_back(std::move(open_));
    open_ = {};
  }

  const std::string_view title_;
  Paragraph open_;
  std::vector<Paragraph> out_;
};

/// A short line is a heading if text follows. Between other short lines it is a table cell.
void write(const std::vector<Paragraph>& paragraphs, DocumentBuilder& builder) {
  for (std::size_t i = 0; i < paragraphs.size(); ++i) {
    const Paragraph& paragraph = paragraphs[i];
    const bool text_follows = i + 1 < paragraphs.size() && (paragraphs[i + 1].lines > 1 || paragraphs[i + 1].is_item);
    if (paragraph.heading > 0) {
      builder.heading(paragraph.heading, paragraph.text);
    } else if (paragraph.is_item) {
      builder.list_item(1, "-", paragraph.text);
    } else if (paragraph.lines == 1 && text_follows && is_title_line(paragraph.text)) {
      builder.heading(2, paragraph.text);
    } else {
      builder.paragraph(paragraph.text);
    }
  }
}

/// The title that the file states.
std::string take_title(std::string_view head) {
  const std::size_t begin = head.find("<title>");
  const std::size_t end = head.find("</title>");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + 7) return {};
  std::string out;
  const std::string_view text = head.substr(begin + 7, end - begin - 7);
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool is_entity = false;
    for (const auto& [name, c] : {std::pair{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}}) {
      if (is_entity || !text.substr(i).starts_with(name)) continue;
      out += c;
      i += std::string_view(name).size() - 1;
      is_entity = true;
    }
    if (!is_entity) out += text[i];
  }
  return fold_spaces(out);
}

}  // namespace

Result<chunk::ParsedDocument> read_pdf(std::string_view key, std::string_view bytes) {
  const ChildLimits limits = limits_of(bytes);
  auto outcome = run_child(
      {"pdftotext", "-enc", "UTF-8", "-eol", "unix", "-htmlmeta", "-l", std::to_string(kPagesMax + 1), "/dev/stdin", "-"}, bytes, limits);
  if (!outcome && outcome.error().code == ErrorCode::kFailedPrecondition) {
    return fail(ErrorCode::kFailedPrecondition, "PDF files need the program pdftotext: install the package poppler-utils");
  }
  if (!outcome) return std::unexpected(outcome.error());
  FOOTNOTE_CHECK(check(*outcome, limits));
  const std::string whole = chunk::normalise_text(outcome->output);
  const std::size_t begin = whole.find("<pre>");
  const std::size_t end = whole.rfind("</pre>");
  if (begin == std::string::npos || end == std::string::npos || end < begin + 5) return fail(ErrorCode::kUnsupported, "no pages in it");
  std::vector<Page> pages = pages_of(std::string_view(whole).substr(begin + 5, end - begin - 5));
  DocumentBuilder builder(PlaceUnit::kPage, chunk::kDocumentBytesMax);
  if (pages.size() > kPagesMax) {
    builder.remark(fmt::format("only the first {} pages were read", kPagesMax));
    pages.resize(kPagesMax);
  }
  const auto empty = static_cast<std::size_t>(std::ranges::count(pages, false, &Page::has_text));
  if (empty == pages.size()) {
    return fail(ErrorCode::kUnsupported, "no text layer: its pages are images, such as scans; make them readable with a program for OCR");
  }
  if (empty > 0) builder.remark(fmt::format("{} of {} pages have no text: they are empty or images", empty, pages.size()));
  drop_furniture(pages);
  const std::string title = take_title(std::string_view(whole).substr(0, begin));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    builder.at(static_cast<int>(i) + 1);
    write(PageReader(title).read(pages[i]), builder);
  }
  chunk::ParsedDocument out = std::move(builder).finish();
  chunk::settle_title(key, title, out);
  return out;
}

}  // namespace footnote::formats
