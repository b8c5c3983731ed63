// Memory that documents and requests may use, whatever their shape: a base plus a multiple of their size. The server must survive all of
// them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "chunk/blocks.h"
#include "chunk/chunker.h"
#include "chunk/parse.h"
#include "support/heap_meter.h"

namespace footnote {
namespace {

using chunk::Format;

/// The goal for a whole ingest is 64 MB plus 20 bytes per byte of the document. Parsing and chunking must leave room for the other stages.
constexpr std::size_t kBaseBytes = 48u << 20;
constexpr std::size_t kPerByte = 18;

std::string repeat(std::string_view unit, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + unit.size());
  while (out.size() < bytes) out += unit;
  return out;
}

std::string numbered(std::string_view before, std::string_view after, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; out.size() < bytes; ++i) out += fmt::format("{}{}{}", before, i, after);
  return out;
}

std::size_t peak_of(const std::function<void()>& work) {
  const HeapMeter meter;
  work();
  return meter.peak_bytes();
}

void expect_bounded(std::string_view key, Format format, const std::string& text, std::string_view what) {
  std::size_t peak = peak_of([&] {
    const auto document = chunk::parse_document(key, format, text);
    ASSERT_TRUE(document.has_value()) << what;
    (void)chunk::chunk_document(*document);
  });
  // cmark's arena is not on the heap; it is freed before the chunks are made.
  if (format == Format::kMarkdown) peak = std::max(peak, chunk::markdown_memory_max(text.size()) + 3 * text.size());
  EXPECT_LE(peak, kBaseBytes + kPerByte * text.size())
      << what << ": " << text.size() << " bytes took " << (peak >> 20) << " MiB, " << peak / text.size() << " times its size";
}

constexpr std::size_t kBytes = 1u << 20;
/// Larger than the texts that cmark parses.
constexpr std::size_t kManyBytes = 6u << 20;

TEST(DocumentMemory, MarkdownTablesOfEveryShape) {
  for (const std::size_t columns : {1u, 2u, 16u, 100u, 250u, 1000u}) {
    const std::string head = repeat("|a", columns * 2) + "|\n" + repeat("|-", columns * 2) + "|\n";
    for (std::string_view row : {"|\n", "a\n", "|a|\n", "|a|b|c|d|e|f|\n", "||||||||||||||||\n"}) {
      expect_bounded("a.md", Format::kMarkdown, head + repeat(row, 240u << 10), fmt::format("{} columns, rows {}", columns, row));
    }
    expect_bounded("a.md", Format::kMarkdown, repeat(head + "\n", 1u << 20), fmt::format("many tables of {} columns", columns));
  }
}

TEST(DocumentMemory, MarkdownOfEveryKind) {
  const std::vector<std::string_view> units = {
      "a\n\n",           "a\n",    "- a\n",     "-\n",        "* \n\n", "1. a\n",   "> a\n", ">\n\n", "# a\n",  "#\n",
      "###### a\n# b\n", "a\n=\n", "***\n",     "```\n",      "`a`",    "*a*",      "_a_ ",  "**a",   "[a](b)", "[a][b]",
      "![](a)",          "<a>",    "<div>\n",   "<!--a-->\n", "&amp;",  "&",        "\\*",   "~~a~~", "[^a]",   "[a]:b\n\n",
      "http://a ",       "a  \n",  "    a\n\n", "\t- a\n",    "x. ",    "a. B.\n\n"};
  for (const std::string_view unit : units) {
    expect_bounded("a.md", Format::kMarkdown, repeat(unit, kBytes), unit);
    expect_bounded("a.md", Format::kMarkdown, repeat(repeat(unit, 1900) + "\n\n", kBytes), unit);
  }
  for (const std::string_view unit : {"a\n\n", "a\n", "-\n", "#\n"})
    expect_bounded("a.md", Format::kMarkdown, repeat(unit, kManyBytes), unit);
}

TEST(DocumentMemory, LinksThatRepeatALongAddress) {
  const std::string address = "[a]: /" + repeat("x", 200u << 10) + "\n\n";
  expect_bounded("a.md", Format::kMarkdown, address + repeat(repeat("[a] ", 4000) + "\n\n", 800u << 10), "reference links");
}

TEST(DocumentMemory, HeadingsOfEverySize) {
  for (const std::size_t size : {1000u, 100'000u, 1'000'000u}) {
    const std::string title = repeat("heading ", size);
    std::string deep;
    for (std::string_view marks : {"#", "##", "###", "####", "#####", "######"})
      deep += fmt::format("{} {}\n\n", marks, repeat("word ", size / 6));
    expect_bounded("a.md", Format::kMarkdown, "# " + title + "\n\n" + repeat("Some text here. ", size), "one heading");
    expect_bounded("a.md", Format::kMarkdown, deep + repeat("###### a\n", size), "many small sections below long headings");
    expect_bounded("a.html", Format::kHtml, "<h1>" + title + "</h1>" + repeat("<p>Some text here.", size), "an HTML heading");
    expect_bounded("a.html", Format::kHtml, "<title>" + title + "</title>" + repeat("<p>Some text here.", size), "an HTML title");
    expect_bounded("a.txt", Format::kPlainText, repeat("Title\n=====\n", size), "titles of plain text");
  }
}

TEST(DocumentMemory, HtmlOfEveryKind) {
  const std::vector<std::string_view> units = {"<p>",
                                               "<p>a",
                                               "</p>",
                                               "<b>a</b>",
                                               "<i a b c d e>",
                                               "<div class=a id=b style=c>x</div>",
                                               "<br>",
                                               "<h1>a",
                                               "<li>a",
                                               "<ul><li>a",
                                               "<tr><td>a",
                                               "<table><tr><td>a</table>",
                                               "&amp;",
                                               "&",
                                               "<",
                                               "<!-- a -->",
                                               "<html a=1>",
                                               "<body a=1>",
                                               "<a href=x>a</a> ",
                                               "<pre>a</pre>",
                                               "<span>a</span>\n",
                                               "<x1>",
                                               "<main>",
                                               "<svg>"};
  for (const std::string_view unit : units) {
    expect_bounded("a.html", Format::kHtml, repeat(unit, kBytes), unit);
  }
  for (const std::string_view unit : {"<p>a", "<a href=x>a</a> ", "<span>a</span>\n", "<div class=a id=b style=c>x</div>"}) {
    expect_bounded("a.html", Format::kHtml, repeat(unit, kManyBytes), unit);
  }
  expect_bounded("a.html", Format::kHtml, "<!-- --!><div " + numbered("a", " ", 3u << 20) + ">x", "attributes after a comment");
  expect_bounded("a.html", Format::kHtml, numbered("<html a", "=1>", 1u << 20), "attributes of <html>");
  expect_bounded("a.html", Format::kHtml, numbered("<x", ">", 1u << 20), "elements with names of their own");
}

TEST(DocumentMemory, PlainTextAndTables) {
  for (const std::string_view unit : {"a\n\n", "a. ", "a\n", "- a\n", "a,b\n", "A. B! "}) {
    for (const std::size_t size : {kBytes, kManyBytes}) {
      expect_bounded("a.txt", Format::kPlainText, repeat(unit, size), unit);
    }
  }
}

}  // namespace
}  // namespace footnote
