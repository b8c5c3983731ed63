#include "answer/quote.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace footnote::answer {
namespace {

void check_quote(std::string_view sentence, std::string_view expected) { EXPECT_EQ(plain_quote(sentence), expected) << sentence; }

TEST(PlainQuote, LeavesPlainSentencesAlone) {
  check_quote("Shipping takes three days.", "Shipping takes three days.");
  check_quote("  Two\nlines\n of it. ", "Two lines of it.");
  check_quote("It is 5 * 3 and snake_case.", "It is 5 * 3 and snake_case.");
  check_quote("", "");
}

TEST(PlainQuote, CutsBlockMarks) {
  check_quote("- First item.", "First item.");
  check_quote("* [x](y) done", "x done");
  check_quote("3. Third step.", "Third step.");
  check_quote("12) Twelfth step.", "Twelfth step.");
  check_quote("> > Quoted twice.", "Quoted twice.");
  check_quote("## A heading", "A heading");
  check_quote("> - 1. deep", "deep");
  check_quote("| Utrecht | 3 days |", "Utrecht | 3 days");
  check_quote("###", "");
}

TEST(PlainQuote, KeepsNumbersThatAreNotListMarks) {
  check_quote("2024 was good.", "2024 was good.");
  check_quote("3.5 days are paid.", "3.5 days are paid.");
  check_quote("25", "25");
}

TEST(PlainQuote, CutsEmphasisCodeAndLinkTargets) {
  check_quote("Ask **HR** or `it@lark`.", "Ask HR or it@lark.");
  check_quote("See [the policy](../leave.md) first.", "See the policy first.");
  check_quote("An [open bracket stays", "An [open bracket stays");
  check_quote("Array [x] stays", "Array [x] stays");
}

TEST(PlainQuote, CutsTheDocumentsOwnReferenceMarks) {
  check_quote("Proven [12].", "Proven.");
  check_quote("Proven [1, 3-4] twice.", "Proven twice.");
}

/// The result is a subsequence of the source: nothing is added.
TEST(PlainQuote, AddsNothing) {
  for (std::string_view source : {"- **A** [b](c) `d` [3] e_f *g* | h", "1. [x] (y) __z__", "> a\n\tb  c"}) {
    std::size_t at = 0;
    for (char c : plain_quote(source)) {
      if (c == ' ') continue;
      at = source.find(c, at);
      ASSERT_NE(at, std::string_view::npos) << source << " -> " << plain_quote(source);
      ++at;
    }
  }
}

SourceBlock block(int number, std::string text, std::size_t begin) {
  SourceBlock out;
  out.number = number;
  out.hit.chunk.id = {number * 10};
  out.hit.chunk.document = {number * 100};
  out.hit.chunk.document_version = 4;
  out.hit.chunk.text = std::move(text);
  out.hit.chunk.range = {begin, begin + out.hit.chunk.text.size()};
  return out;
}

std::string text_of(const QuotedAnswer& answer) { return join(answer.pieces, ""); }

TEST(ComposeQuotes, EachQuoteHasItsMarkerAndExactCharacters) {
  const std::vector<SourceBlock> sources = {block(1, "Intro. Shipping takes **three** days.", 40), block(2, "Returns are free.", 0)};
  const Reading reading{{{0, {7, 37}, 0.9}, {1, {0, 17}, 0.5}}};
  const QuotedAnswer answer = compose_quotes(reading, sources);
  EXPECT_EQ(text_of(answer), "Shipping takes three days. [1]\n\nReturns are free. [2]");
  ASSERT_EQ(answer.citations.size(), 2u);
  const Citation& first = answer.citations[0];
  EXPECT_EQ(first.number, 1);
  EXPECT_EQ(first.chunk, ChunkId{10});
  EXPECT_EQ(first.document, DocumentId{100});
  EXPECT_EQ(first.document_version, 4);
  EXPECT_EQ(first.support_range, (TextRange{47, 77})) << "counted in the document, not in the chunk";
  EXPECT_EQ(first.support, Support::kSupported);
  const Citation& second = answer.citations[1];
  EXPECT_EQ(text_of(answer).substr(first.answer_range.begin, first.answer_range.size()), "Shipping takes three days. [1]");
  EXPECT_EQ(text_of(answer).substr(second.answer_range.begin, second.answer_range.size()), "Returns are free. [2]");
}

TEST(ReadingOrder, SpansOfAPassageStandInTheOrderOfItsText) {
  const Reading best_first{{{.passage = 2, .range = {50, 60}, .score = .9},
                            {.passage = 0, .range = {5, 9}, .score = .8},
                            {.passage = 2, .range = {10, 20}, .score = .7}}};
  const Reading ordered = in_reading_order(best_first);
  ASSERT_EQ(ordered.spans.size(), 3U);
  EXPECT_EQ(ordered.spans[0].range, (TextRange{10, 20}));
  EXPECT_EQ(ordered.spans[1].range, (TextRange{50, 60}));
  EXPECT_EQ(ordered.spans[2].passage, 0U);
}

TEST(ComposeQuotes, WordsThatAnswerComeFirstWithTheirOwnCharacters) {
  SourceBlock block;
  block.number = 1;
  block.hit.chunk.text = "New parents take **16 weeks** off, paid in full.";
  block.hit.chunk.range = {100, 100 + block.hit.chunk.text.size()};
  const Reading reading{
      {{.passage = 0, .range = {0, block.hit.chunk.text.size()}, .score = 1, .answer = TextRange{19, 27}, .answers_alone = true}}};
  const QuotedAnswer answer = compose_quotes(reading, std::vector{block});
  std::string text;
  for (const std::string& piece : answer.pieces) text += piece;
  EXPECT_EQ(text, "16 weeks [1]\n\nNew parents take **16 weeks** off, paid in full. [1]");
  ASSERT_EQ(answer.citations.size(), 2U);
  EXPECT_EQ(answer.citations[0].support_range, (TextRange{119, 127}));
  EXPECT_EQ(text.substr(answer.citations[0].answer_range.begin, answer.citations[0].answer_range.size()), "16 weeks [1]");
  EXPECT_EQ(text.substr(answer.citations[1].answer_range.begin, answer.citations[1].answer_range.size()),
            "New parents take **16 weeks** off, paid in full. [1]");
}

TEST(ComposeQuotes, WordsThatAnswerLeadEvenWhenTheirSpanDoesNot) {
  SourceBlock block;
  block.number = 1;
  block.hit.chunk.text = "Leave is 16 weeks. With twins it is 20 weeks.";
  const Reading reading{{{.passage = 0, .range = {0, 18}, .score = .8},
                         {.passage = 0, .range = {19, 45}, .score = .9, .answer = TextRange{36, 44}, .answers_alone = true}}};
  std::string text;
  for (const std::string& piece : compose_quotes(reading, std::vector{block}).pieces) text += piece;
  EXPECT_EQ(text, "20 weeks [1]\n\nLeave is 16 weeks. [1]\n\nWith twins it is **20 weeks**. [1]");
}

TEST(ComposeQuotes, WhatReadsTheSameIsToldOnce) {
  const std::vector<SourceBlock> sources = {block(1, "- Same.", 0), block(2, "Same.", 0), block(3, "Other.", 0)};
  const QuotedAnswer answer = compose_quotes({{{0, {0, 7}, 1}, {1, {0, 5}, 1}, {2, {0, 6}, 1}}}, sources);
  EXPECT_EQ(text_of(answer), "Same. [1]\n\nOther. [3]");
  EXPECT_EQ(answer.citations.size(), 2u);
}

TEST(ComposeQuotes, NothingFoundIsNothingSaid) { EXPECT_TRUE(compose_quotes({}, {}).pieces.empty()); }

}  // namespace
}  // namespace footnote::answer
