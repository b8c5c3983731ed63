#include "chunk/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <tuple>

#include "base/text.h"
#include "chunk/blocks.h"
#include "chunk/references.h"

namespace footnote::chunk {
namespace {

std::string outline(std::string_view text, const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& block : blocks) {
    constexpr std::string_view kNames[] = {"h", "p", "li", "table", "code", "quote"};
    out += kNames[static_cast<int>(block.kind)];
    if (block.level != 0) out += std::to_string(block.level) + "(" + block.heading + ")";
    out += "@" + std::to_string(block.first_line) + " " + fold_spaces(text.substr(block.range.begin, block.range.size())) + "\n";
  }
  return out;
}

TEST(Parse, MarkdownBlocksHaveExactRanges) {
  const std::string text =
      "# A *b* `c`\n\nPara one\nwraps.\n\n- item\n\n  second\n- two\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| c | d |\n\n> "
      "quote\n\nTitle\n---\n\n    indented\n";
  const std::string expected =
      "h1(A b c)@1 # A *b* `c`\np@3 Para one wraps.\nli@6 - item\nli@8 second\nli@9 - two\ncode@11 ``` code ```\n"
      "table@15 | a | b | |---|---| | c | d |\nquote@19 > quote\nh2(Title)@21 Title ---\ncode@24 indented\n";
  EXPECT_EQ(outline(text, *markdown_blocks(text, 1)), expected);
}

TEST(Parse, HeadingsInsideContainersAreNotSections) {
  EXPECT_EQ(outline("> # q\n\n- # i\n", *markdown_blocks("> # q\n\n- # i\n", 1)), "quote@1 > # q\nli@3 - # i\n");
}

TEST(Parse, LineSplitterFindsTheSameShapes) {
  const std::string text = "# A\n\nPara one\nwraps.\n\n- item\n- two\n\n```\n# no heading\n```\n\n| a | b |\n| c | d |\n\n> quote\n";
  EXPECT_EQ(outline(text, markdown_blocks_by_lines(text, 1)),
            "h1(A)@1 # A\np@3 Para one wraps.\nli@6 - item\nli@7 - two\ncode@9 ``` # no heading ```\ntable@13 | a | b | | c | d "
            "|\nquote@16 > quote\n");
}

TEST(Parse, PlainTextTitles) {
  const std::string text = "Top\n===\n\nWords.\n\nSub\n---\nMore.\n\nnot a title\nat all\n---\n";
  EXPECT_EQ(outline(text, plain_text_blocks(text, 1)),
            "h1(Top)@1 Top ===\np@4 Words.\nh2(Sub)@6 Sub ---\np@8 More.\np@10 not a title at all ---\n");
}

TEST(Parse, TextIsTheFileNormalised) {
  const auto document = parse_document("a.md", Format::kMarkdown, "\xEF\xBB\xBF# A\r\n\rB\xFF\r\n");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->text, "# A\n\nB\xEF\xBF\xBD\n");
  EXPECT_EQ(document->warnings.size(), 1u);
  EXPECT_EQ(normalise_text("a\r\r\nb\r"), "a\n\nb\n");
}

TEST(Parse, TitleComesFromTheBestPlace) {
  const auto title = [](Format format, std::string_view content) {
    return parse_document("dir/set-up_notes.md", format, content)->attributes.title;
  };
  EXPECT_EQ(title(Format::kMarkdown, "---\ntitle: Front\n---\n# Head"), "Front");
  EXPECT_EQ(title(Format::kMarkdown, "words\n\n# Head `x`"), "Head x");
  EXPECT_EQ(title(Format::kMarkdown, "## Second"), "Second");
  EXPECT_EQ(title(Format::kPlainText, "words"), "set up notes");
  EXPECT_EQ(title(Format::kHtml, "<title>Page</title><h1>Head</h1>"), "Page");
}

TEST(Parse, FrontMatterBecomesAttributesAndEdges) {
  const auto document = parse_document("kb/a.md", Format::kMarkdown,
                                       "---\nid: D-1\nslug: a-decision\nowners: ann\nsummary: Why a.\nevidence: official\n"
                                       "type: decision\nstatus: superseded\nretrieval_priority: 10\ntags: [x]\nrelated: [b, ../c.md]\n"
                                       "superseded_by: d\n---\nSee [[e|E]] and [[e]].\n\n```\n[[f]]\n```\n");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->attributes.canonical_type, "decision");
  EXPECT_EQ(document->attributes.status, DocumentStatus::kSuperseded);
  EXPECT_EQ(document->attributes.priority, 10);
  EXPECT_EQ(document->attributes.slug, "a-decision");
  EXPECT_EQ(document->attributes.canonical_id, "D-1");
  EXPECT_EQ(document->attributes.summary, "Why a.");
  EXPECT_EQ(document->attributes.owners, std::vector<std::string>{"ann"});
  EXPECT_EQ(document->attributes.evidence, EvidenceTier::kOfficial);
  std::string edges;
  for (const Edge& edge : document->edges) edges += edge.from_key + " " + edge.type + " " + edge.to_key + "; ";
  EXPECT_EQ(edges, "kb/a.md related_to b; kb/a.md related_to c.md; d supersedes kb/a.md; kb/a.md related_to e; ");
}

TEST(Parse, APagesDescriptionIsItsSummary) {
  const auto document = parse_document(
      "a.html", Format::kHtml, "<html><head><meta name=description content='About  returns.'></head><body><p>Text.</p></body></html>");
  ASSERT_TRUE(document.has_value());
  EXPECT_NE(document->attributes.summary.find("returns."), std::string::npos);
}

TEST(Parse, References) {
  EXPECT_EQ(resolve_reference("a/b/c.md", "../d.md#x"), "a/d.md");
  EXPECT_EQ(resolve_reference("a/b/c.md", "/d.md"), "d.md");
  EXPECT_EQ(resolve_reference("a.md", "../../../etc/passwd"), "etc/passwd");
  EXPECT_EQ(resolve_reference("a/b.md", "slug"), "slug");
}

TEST(Parse, Errors) {
  EXPECT_EQ(parse_document("a.md", Format::kMarkdown, std::string(kDocumentBytesMax + 1, 'x')).error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(parse_document("a.md", Format::kMarkdown, "").has_value());
  EXPECT_TRUE(parse_document("", Format::kPlainText, "x").has_value());
}

std::string repeat(std::string_view unit, std::size_t count) {
  std::string out;
  for (; count > 0; --count) out += unit;
  return out;
}

TEST(Parse, EndsWithItsCall) {
  CallContext late;
  late.deadline = {};
  for (const Format format : {Format::kMarkdown, Format::kHtml, Format::kPlainText}) {
    EXPECT_EQ(parse_document("a", format, "words", late).error().code, ErrorCode::kDeadlineExceeded);
  }
  // The cancellation is noticed while cmark runs; it does not fall back to splitting by lines.
  EXPECT_EQ(markdown_blocks(repeat("*a*\n\n", 20'000), 1, late).error().code, ErrorCode::kDeadlineExceeded);
}

TEST(Parse, AHeadingIsKnownByItsFirstBytes) {
  const std::string word(kHeadingBytesMax, 'x');
  EXPECT_EQ(heading_text(word), word);
  EXPECT_EQ(heading_text(word + "y"), word);
  EXPECT_EQ(heading_text(" a \n b"), "a b");
  EXPECT_EQ(heading_text(std::string(kHeadingBytesMax - 10, 'x') + " " + word), std::string(kHeadingBytesMax - 10, 'x'));
  EXPECT_LT(heading_text(repeat("\xE2\x82\xAC", 1000)).size(), kHeadingBytesMax + 1);

  const std::string title = repeat("long heading ", 1000) + "end";
  for (const auto& [key, format, text] : {std::tuple("a.md", Format::kMarkdown, "# " + title + "\n\ntext"),
                                          std::tuple("a.html", Format::kHtml, "<h1>" + title + "</h1><p>text"),
                                          std::tuple("a.html", Format::kHtml, "<title>" + title + "</title><p>text")}) {
    const auto document = parse_document(key, format, text);
    ASSERT_TRUE(document.has_value());
    EXPECT_LE(document->attributes.title.size(), kHeadingBytesMax) << key;
    EXPECT_TRUE(document->attributes.title.starts_with("long heading long")) << key;
    for (const Block& block : document->blocks) EXPECT_LE(block.heading.size(), kHeadingBytesMax) << key;
    EXPECT_LE(document->root_heading.size(), kHeadingBytesMax) << key;
  }
  // The rest of the heading is text.
  EXPECT_EQ(parse_document("a.md", Format::kMarkdown, "# " + title)->blocks[0].range.size(), title.size() + 2);
}

TEST(Parse, BlocksPastTheBoundAreOneParagraph) {
  constexpr std::size_t kBytes = 1'000'000;
  const auto blocks_of = [](std::size_t count) {
    const std::string text = repeat("# a\n", count);
    return markdown_blocks_by_lines(text + std::string(kBytes - text.size(), ' '), 1);
  };
  const std::size_t most = blocks_max(kBytes);
  EXPECT_EQ(blocks_of(most - 2).size(), most - 2);
  const auto cut = blocks_of(most + 50);
  ASSERT_EQ(cut.size(), most);
  EXPECT_EQ(cut.back().kind, BlockKind::kParagraph);
  EXPECT_EQ(cut.back().range.end, kBytes);
}

TEST(Parse, GuardKnowsItsBounds) {
  EXPECT_TRUE(is_safe_markdown(repeat("[", kMarkdownBracketsMax)));
  EXPECT_FALSE(is_safe_markdown(repeat("[", kMarkdownBracketsMax + 1)));
  EXPECT_TRUE(is_safe_markdown(repeat("- [a](b)\n", kMarkdownBracketsMax * 2)));
  EXPECT_TRUE(is_safe_markdown(repeat("*", kMarkdownDelimitersMax)));
  EXPECT_FALSE(is_safe_markdown(repeat("*", kMarkdownDelimitersMax + 1)));
  EXPECT_TRUE(is_safe_markdown(repeat(">", kMarkdownNestingMax)));
  EXPECT_FALSE(is_safe_markdown(repeat("> ", kMarkdownNestingMax + 1)));
  EXPECT_FALSE(is_safe_markdown(repeat("- ", kMarkdownNestingMax + 1)));
  EXPECT_FALSE(is_safe_markdown(repeat(" ", kMarkdownIndentMax + 1) + "- x"));
  EXPECT_TRUE(is_safe_markdown(repeat("|", kMarkdownColumnsMax)));
  EXPECT_FALSE(is_safe_markdown(repeat("|", kMarkdownColumnsMax + 1)));
  EXPECT_FALSE(is_safe_markdown(repeat("x", kMarkdownParagraphBytesMax + 1)));
  EXPECT_TRUE(is_safe_markdown(repeat("x\n\n", 100'000)));
  EXPECT_FALSE(is_safe_markdown(repeat("x\n\n", kMarkdownBytesMax / 3 + 1)));
}

TEST(Parse, AMarkdownTreePastItsMemoryIsReadByLines) {
  const std::string head = repeat("|a", 250) + "|\n" + repeat("|-", 250) + "|\n";
  const auto rows_of = [&](std::size_t rows) { return *markdown_blocks(head + repeat("a\n", rows), 1); };
  // cmark makes one table of it, whose short rows have 250 cells each. By lines, only rows with bars are a table.
  EXPECT_EQ(rows_of(20).size(), 1u);
  EXPECT_EQ(rows_of(50'000).size(), 2u);
}

TEST(Parse, HostileMarkdownEndsSoon) {
  // Not a measure of speed: quadratic handling would take minutes.
  constexpr double kLimit = 20.0;
  const std::vector<std::string> units = {"![[]()",    "[",  "![",       "> ",    ">",    "- ",      "* ",    "*a_ ", "**a *",
                                          "_",         "`",  "``a`",     "<",     "<a ",  "&",       "&amp;", "[a](", "[a]: b\n",
                                          "[a]:",      "|",  "|a\n",     "|-",    "\n",   "- a\n  ", "1. ",   "\t- ", "#",
                                          "***\n",     "~",  "![a](b\n", "a\n\n", "<!--", "<?",      "\\",    "[^a]", "x | y\n- | -\n",
                                          "    - a\n", "[[", "]]"};
  for (const std::string& unit : units) {
    for (const std::string& text : {repeat(unit, (1u << 20) / unit.size()), repeat(repeat(unit, 1900 / unit.size()) + "\n\n", 500)}) {
      const auto start = std::chrono::steady_clock::now();
      EXPECT_TRUE(parse_document("a.md", Format::kMarkdown, text).has_value());
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      EXPECT_LT(seconds, kLimit) << unit;
    }
  }
}

}  // namespace
}  // namespace footnote::chunk
