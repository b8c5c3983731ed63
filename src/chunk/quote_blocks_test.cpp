#include "chunk/quote_blocks.h"

#include <gtest/gtest.h>

namespace footnote::chunk {
namespace {

std::string_view name_of(QuoteKind kind) {
  switch (kind) {
    case QuoteKind::kProse: return "prose";
    case QuoteKind::kList: return "list";
    case QuoteKind::kTable: return "table";
    case QuoteKind::kCode: return "code";
  }
  return "";
}

/// Blocks as "kind:text"; a row's header and the heading above follow in brackets.
std::vector<std::string> blocks(std::string_view text, LineBreaks breaks = LineBreaks::kWrapped, std::vector<std::string> headings = {}) {
  std::vector<std::string> out;
  std::size_t last = 0;
  for (const QuoteBlock& block : quote_blocks(text, breaks, headings)) {
    EXPECT_GE(block.range.begin, last);
    EXPECT_LT(block.range.begin, block.range.end);
    last = block.range.end;
    std::string& line = out.emplace_back(name_of(block.kind));
    line += ":";
    line += text.substr(block.range.begin, block.range.size());
    for (const auto& extra : {block.header, block.heading}) {
      if (extra) line += "[" + std::string(text.substr(extra->begin, extra->size())) + "]";
    }
  }
  return out;
}

using Blocks = std::vector<std::string>;

TEST(QuoteBlocks, AParagraphIsABlockAndAHeadingIsNot) {
  EXPECT_EQ(blocks("# Leave\n\nOne line\nand its wrap.\n\nAnother.\n\n---\n\n## Porto\nThird."),
            (Blocks{"prose:One line\nand its wrap.[# Leave]", "prose:Another.[# Leave]", "prose:Third.[## Porto]"}));
}

TEST(QuoteBlocks, AListKeepsTheLineThatIntroducesIt) {
  EXPECT_EQ(blocks("Before.\n\nYou need:\n\n- a badge\n- a key\n\nAfter."),
            (Blocks{"prose:Before.", "list:You need:\n\n- a badge\n- a key", "prose:After."}));
}

TEST(QuoteBlocks, AWrappedNumberIsNoList) {
  EXPECT_EQ(blocks("The second is called after\n40. Then the third."), (Blocks{"prose:The second is called after\n40. Then the third."}));
  EXPECT_EQ(blocks("Do this:\n1. Ask.\n2. Wait."), (Blocks{"list:Do this:\n1. Ask.\n2. Wait."}));
}

TEST(QuoteBlocks, ALongListIsQuotedItemByItem) {
  const std::string item = "- " + std::string(400, 'x');
  EXPECT_EQ(blocks(item + "\n" + item), (Blocks{"list:" + item, "list:" + item}));
}

TEST(QuoteBlocks, CodeKeepsTheSentenceBeforeIt) {
  EXPECT_EQ(blocks("Run this.\n\n```sh\nmake test\n\nmake run\n```\n\nDone."),
            (Blocks{"code:Run this.\n\n```sh\nmake test\n\nmake run\n```", "prose:Done."}));
}

TEST(QuoteBlocks, ATermKeepsItsDefinition) {
  EXPECT_EQ(blocks("-n\n\nPrint no newline.\n\n-e\n\nRead escapes.", LineBreaks::kExact),
            (Blocks{"prose:-n\n\nPrint no newline.", "prose:-e\n\nRead escapes."}));
}

TEST(QuoteBlocks, LinesOfAWebPageAreCodeWhereTheyAreSeveral) {
  EXPECT_EQ(blocks("Set it.\n\nOn = 1\nOff = 0", LineBreaks::kExact), (Blocks{"code:Set it.\n\nOn = 1\nOff = 0"}));
  EXPECT_EQ(blocks("Set it.\n\nOn = 1\nOff = 0"), (Blocks{"prose:Set it.", "prose:On = 1\nOff = 0"}));
}

TEST(QuoteBlocks, ASmallTableIsOneBlockAndALargeOneItsRows) {
  EXPECT_EQ(blocks("| a | b |\n|---|---|\n| 1 | 2 |"), (Blocks{"table:| a | b |\n|---|---|\n| 1 | 2 |"}));
  const std::string wide(kQuoteBytesMax, 'x');
  EXPECT_EQ(blocks("| a | b |\n|---|---|\n| 1 | 2 |\n| " + wide + " | 4 |"),
            (Blocks{"table:| 1 | 2 |[| a | b |]", "table:| " + wide + " | 4 |[| a | b |]"}));
}

TEST(QuoteBlocks, HeadingsOfAWebPageArePlainLines) {
  EXPECT_EQ(blocks("KeepAlive Directive\n\nIt keeps connections.", LineBreaks::kExact, {"KeepAlive Directive"}),
            (Blocks{"prose:It keeps connections.[KeepAlive Directive]"}));
}

TEST(QuoteBlocks, ALongParagraphIsCutBetweenSentences) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "This sentence has fifty characters, more or less. ";
  const auto cut = quote_blocks(text, LineBreaks::kWrapped);
  ASSERT_GE(cut.size(), 2U);
  for (const QuoteBlock& block : cut) {
    EXPECT_LE(block.range.size(), kQuoteBytesMax);
    EXPECT_EQ(text[block.range.end - 1], '.');
  }
}

TEST(QuoteBlocks, NothingGivesNothing) {
  EXPECT_TRUE(blocks("").empty());
  EXPECT_TRUE(blocks(" \n\n# Only a heading\n").empty());
  EXPECT_EQ(blocks("```\nnever closed"), (Blocks{"code:```\nnever closed"}));
}

}  // namespace
}  // namespace footnote::chunk
