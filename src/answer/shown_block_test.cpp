#include "answer/shown_block.h"

#include <gtest/gtest.h>

namespace footnote::answer {
namespace {

using chunk::LineBreaks;

/// The only block of a text as an answer shows it.
std::string shown(std::string_view text, LineBreaks breaks = LineBreaks::kWrapped) {
  const auto blocks = chunk::quote_blocks(text, breaks);
  EXPECT_EQ(blocks.size(), 1U) << text;
  return blocks.empty() ? std::string() : shown_block(text, blocks.front());
}

TEST(ShownBlock, ProseIsOneParagraphWithoutMarks) {
  EXPECT_EQ(shown("Ask **HR** or\nsee [the policy](x.md) [3]."), "Ask HR or see the policy.");
}

TEST(ShownBlock, ATermNamesItsDefinition) {
  EXPECT_EQ(shown("Drying and storing\n\nDry it fully. Never wash it.", LineBreaks::kExact),
            "**Drying and storing:** Dry it fully. Never wash it.");
  EXPECT_EQ(shown("It is simple:\n\nDry it.", LineBreaks::kExact), "It is simple:\n\nDry it.");
}

TEST(ShownBlock, FactsInLinesOfTheirOwnAreNotRunTogether) {
  EXPECT_EQ(shown("Weight\n\n2.1 kg\n\nSeasons\n\nspring to autumn", LineBreaks::kExact), "Weight · 2.1 kg · Seasons · spring to autumn");
  EXPECT_EQ(shown("€ 389.00\n\nRoom for two people.", LineBreaks::kExact), "€ 389.00\n\nRoom for two people.");
}

TEST(ShownBlock, AListStaysAList) {
  EXPECT_EQ(shown("You need:\n\n* a *badge*\n* a key\n  for the lab"), "You need:\n\n- a badge\n- a key for the lab");
  EXPECT_EQ(shown("1. First.\n2) Second."), "1. First.\n2. Second.");
}

TEST(ShownBlock, CodeStaysCode) {
  EXPECT_EQ(shown("Run `this`:\n\n```sh\nmake  *test*\n```"), "Run this:\n\n```sh\nmake  *test*\n```");
  EXPECT_EQ(shown("Set it.\n\nOn  = 1\nOff = 0", LineBreaks::kExact), "Set it.\n\n```\nOn  = 1\nOff = 0\n```");
}

TEST(ShownBlock, ATableHasAHeader) {
  EXPECT_EQ(shown("| Site | Days |\n| :-- | --: |\n| **Porto** | 3 |"), "| Site | Days |\n|---|---|\n| Porto | 3 |");
  EXPECT_EQ(shown("Syntax: | KeepAlive On|Off\nDefault: | On", LineBreaks::kExact),
            "| Syntax: | KeepAlive On\\|Off |\n|---|---|\n| Default: | On |");
}

TEST(ShownBlock, ARowOfALargeTableBringsItsHeader) {
  const std::string text = "| Site | Days |\n|---|---|\n| Porto | 3 |\n| " + std::string(chunk::kQuoteBytesMax, 'x') + " | 4 |";
  const auto blocks = chunk::quote_blocks(text, LineBreaks::kWrapped);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(shown_block(text, blocks[0]), "| Site | Days |\n|---|---|\n| Porto | 3 |");
}

}  // namespace
}  // namespace footnote::answer
