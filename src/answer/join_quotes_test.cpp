#include "answer/join_quotes.h"

#include <gtest/gtest.h>

namespace footnote::answer {
namespace {

constexpr std::string_view kDocument =
    "The password is looked up in:\n\n1. the file;\n2. the option;\n3. the keyring.\n\nElsewhere it is not.";

/// A passage of the document.
SourceBlock passage(std::size_t begin, std::size_t end, std::int64_t document = 1) {
  SourceBlock out;
  out.hit.chunk.id = {static_cast<std::int64_t>(begin + 1)};
  out.hit.chunk.document = {document};
  out.hit.chunk.text = kDocument.substr(begin, end - begin);
  out.hit.chunk.range = {begin, end};
  return out;
}

std::string text_of(const ReadSpan& span, const std::vector<SourceBlock>& blocks) {
  return blocks[span.passage].hit.chunk.text.substr(span.range.begin, span.range.size());
}

TEST(JoinQuotes, AListThatWasCutIsWholeAgain) {
  const std::size_t cut = kDocument.find("2. the option");
  const std::size_t end = kDocument.find("\n\nElsewhere");
  std::vector<SourceBlock> blocks{passage(cut, kDocument.size()), passage(0, kDocument.find("\n3. "))};
  Reading reading{
      .spans = {{.passage = 0, .range = {0, end - cut}, .answer = TextRange{3, 13}}, {.passage = 1, .range = {0, kDocument.find("\n3. ")}}},
      .probability = .9};
  reading = join_quotes(reading, blocks);
  ASSERT_EQ(reading.spans.size(), 1U);
  EXPECT_EQ(text_of(reading.spans[0], blocks), kDocument.substr(0, end));
  const TextRange answer = reading.spans[0].answer.value();
  EXPECT_EQ(blocks[0].hit.chunk.text.substr(answer.begin, answer.size()), "the option");
  EXPECT_EQ(blocks[0].hit.chunk.range, (TextRange{0, kDocument.size()})) << "places in the document stay right";
  EXPECT_EQ(blocks[0].hit.chunk.text, kDocument);
}

TEST(JoinQuotes, QuotesApartStayApart) {
  const std::size_t last = kDocument.find("Elsewhere");
  std::vector<SourceBlock> blocks{passage(0, 29), passage(last, kDocument.size()), passage(0, 29, 2), passage(31, 42, 3)};
  const Reading reading{.spans = {{.passage = 0, .range = {0, 29}},
                                  {.passage = 1, .range = {0, 20}},
                                  {.passage = 2, .range = {0, 29}},
                                  {.passage = 3, .range = {0, 11}}}};
  const Reading joined = join_quotes(reading, blocks);
  ASSERT_EQ(joined.spans.size(), kQuotesMax) << "far apart, or in other documents";
  EXPECT_EQ(text_of(joined.spans[1], blocks), "Elsewhere it is not.");
}

TEST(JoinQuotes, AJoinedQuoteIsBounded) {
  const std::string text(2 * kJoinedBytesMax, 'x');
  std::vector<SourceBlock> blocks(2);
  for (std::size_t i = 0; i < 2; ++i) {
    blocks[i].hit.chunk.document = {1};
    blocks[i].hit.chunk.text = text.substr(0, kJoinedBytesMax);
    blocks[i].hit.chunk.range = {i * kJoinedBytesMax, (i + 1) * kJoinedBytesMax};
  }
  const Reading reading{.spans = {{.passage = 0, .range = {1, kJoinedBytesMax}}, {.passage = 1, .range = {0, 2}}}};
  EXPECT_EQ(join_quotes(reading, blocks).spans.size(), 2U);
  const Reading fits{.spans = {{.passage = 0, .range = {1, kJoinedBytesMax}}, {.passage = 1, .range = {0, 1}}}};
  EXPECT_EQ(join_quotes(fits, blocks).spans.size(), 1U);
}

TEST(JoinQuotes, PagesOfBothPassagesAreKnown) {
  std::vector<SourceBlock> blocks{passage(0, 30), passage(30, 60)};
  blocks[0].hit.chunk.places = {PlaceUnit::kPage, {{0, 4}}};
  blocks[1].hit.chunk.places = {PlaceUnit::kPage, {{0, 4}, {10, 5}}};
  const Reading reading{.spans = {{.passage = 0, .range = {0, 30}}, {.passage = 1, .range = {0, 30}}}};
  ASSERT_EQ(join_quotes(reading, blocks).spans.size(), 1U);
  EXPECT_EQ(place_in(blocks[0].hit.chunk, 29), 4);
  EXPECT_EQ(place_in(blocks[0].hit.chunk, 45), 5);
}

}  // namespace
}  // namespace footnote::answer
