#include "answer/bind_citations.h"

#include <gtest/gtest.h>

namespace footnote::answer {
namespace {

constexpr std::size_t kChunkBegin = 1000;

SourceBlock block(int number, std::string text) {
  SourceBlock out;
  out.number = number;
  out.hit.chunk.id = {number};
  out.hit.chunk.text = std::move(text);
  out.hit.chunk.range = {kChunkBegin, kChunkBegin + out.hit.chunk.text.size()};
  return out;
}

const std::vector<SourceBlock>& sources() {
  static const std::vector<SourceBlock> kSources = {
      block(1, "Orders leave daily. Shipping takes three days in Europe. Call us any time."),
      block(2, "Returns are free for 30 days. Keep the receipt."),
  };
  return kSources;
}

std::vector<Citation> bind(std::string_view text) {
  CitationFilter filter(static_cast<int>(sources().size()));
  filter.feed(text);
  filter.finish();
  EXPECT_EQ(filter.text(), text);
  return bind_citations(text, filter.markers(), sources());
}

/// Expects one citation: the answer sentence that it backs, and the source text that supports it.
void check_bind(std::string_view text, std::string_view sentence, std::string_view support) {
  const std::vector<Citation> citations = bind(text);
  ASSERT_EQ(citations.size(), 1u) << text;
  const Citation& citation = citations[0];
  EXPECT_EQ(text.substr(citation.answer_range.begin, citation.answer_range.size()), sentence);
  EXPECT_EQ(citation.support, Support::kUnchecked);
  const std::string& chunk = sources()[static_cast<std::size_t>(citation.number - 1)].hit.chunk.text;
  if (support.empty()) {
    EXPECT_FALSE(citation.support_range);
  } else {
    ASSERT_TRUE(citation.support_range) << text;
    EXPECT_EQ(chunk.substr(citation.support_range->begin - kChunkBegin, citation.support_range->size()), support);
  }
}

TEST(BindCitations, BindsToTheSentenceItStandsInAndTheSentenceThatSharesMostWords) {
  check_bind("Hello there. Shipping within Europe takes three days [1].", "Shipping within Europe takes three days [1].",
             "Shipping takes three days in Europe.");
  check_bind("Returns are free [2]. Ask us.", "Returns are free [2].", "Returns are free for 30 days.");
}

TEST(BindCitations, AMarkerAfterTheFullStopBelongsToTheSentenceBefore) {
  const std::string_view text = "Shipping takes three days. [1] Returns are free. [2]";
  const auto citations = bind(text);
  ASSERT_EQ(citations.size(), 2u);
  EXPECT_TRUE(text.substr(citations[0].answer_range.begin, citations[0].answer_range.size()).starts_with("Shipping takes three days."));
  EXPECT_TRUE(text.substr(citations[1].answer_range.begin).find("Returns are free.") != std::string_view::npos);
}

TEST(BindCitations, AClaimThatSharesNothingHasNoSupportingCharacters) {
  check_bind("Penguins live far south [1].", "Penguins live far south [1].", "");
}

TEST(BindCitations, SeveralMarkersOfOneSentenceAreSeveralCitations) {
  const auto citations = bind("Shipping takes three days and returns are free [1][2].");
  ASSERT_EQ(citations.size(), 2u);
  EXPECT_EQ(citations[0].chunk, ChunkId{1});
  EXPECT_EQ(citations[1].chunk, ChunkId{2});
  EXPECT_EQ(citations[0].answer_range, citations[1].answer_range);
}

TEST(BindCitations, AnAnswerOfMarkersAlone) { EXPECT_EQ(bind("[1]").size(), 1u); }

TEST(BindCitations, NoMarkersNoCitations) { EXPECT_TRUE(bind("Shipping takes three days.").empty()); }

TEST(BindCitations, MarkersOfSentencesWithoutWordsBelongToTheLastOneWithWords) {
  const std::string_view text = "Shipping takes three days.\n\n[1]\n\n[2]\n\n[1]";
  for (const Citation& citation : bind(text)) EXPECT_EQ(citation.answer_range.begin, 0u);
  EXPECT_EQ(bind(text).size(), 3u);
}

TEST(BindCitations, ManyMarkersOfALongAnswerAreBoundInLinearTime) {
  // With a quadratic implementation this takes a minute.
  std::string text = "Shipping takes three days ";
  std::vector<Marker> markers;
  for (int i = 0; i < 200'000; ++i) {
    markers.push_back({1 + i % 2, text.size()});
    text += i % 2 == 0 ? "[1] word " : "[2]\n\n";
  }
  EXPECT_EQ(bind_citations(text, markers, sources()).size(), markers.size());
  std::string same(1'000'000, 'x');
  markers.assign(10'000, {1, same.size()});
  EXPECT_EQ(bind_citations(same, markers, sources()).size(), markers.size());
}

}  // namespace
}  // namespace footnote::answer
