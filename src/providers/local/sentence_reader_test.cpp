#include "providers/local/sentence_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "engine/bm25/analyzer.h"

namespace footnote {
namespace {

/// Hashes words into a few dimensions: similar texts share words. Counts its calls.
class WordEmbedder final : public Embedder {
 public:
  static constexpr std::size_t kDimension = 256;

  EmbeddingSpace space() const override { return {"words", kDimension}; }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts, const EmbedOptions&) override {
    FOOTNOTE_CHECK(call.check());
    ++calls;
    texts_seen += texts.size();
    if (failing) return fail(ErrorCode::kUnavailable, "no embedder");
    std::vector<Embedding> out;
    for (const std::string_view text : texts) {
      std::vector<float> values(kDimension, 0.0F);
      for (const auto& term : bm25::Analyzer().content_terms(text)) values[std::hash<std::string>{}(term) % kDimension] += 1;
      double square = 0;
      for (const float value : values) square += static_cast<double>(value) * value;
      for (float& value : values) value = square > 0 ? static_cast<float>(value / std::sqrt(square)) : 0;
      out.push_back({{{{0, text.size()}, values}}, 1, false});
    }
    return out;
  }

  int calls = 0;
  std::size_t texts_seen = 0;
  bool failing = false;
};

std::vector<TextRange> split_at_stops(std::string_view text) {
  std::vector<TextRange> out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.' && text[i] != '?') continue;
    out.push_back({begin, i + 1});
    begin = i + 1;
    while (begin < text.size() && text[begin] == ' ') ++begin;
  }
  if (begin < text.size()) out.push_back({begin, text.size()});
  return out;
}

class SentenceReaderTest : public ::testing::Test {
 protected:
  /// Spans as "passage:text", best first.
  std::vector<std::string> read(std::string_view question, const std::vector<std::string_view>& passages,
                                SentenceReaderOptions options = {}) {
    SentenceReader reader(embedder_, split_at_stops, options);
    std::vector<ReaderPassage> texts;
    for (const std::string_view passage : passages) texts.push_back({.text = passage});
    const auto reading = reader.read({}, question, texts);
    EXPECT_TRUE(reading.has_value());
    std::vector<std::string> out;
    double last = 1;
    for (const ReadSpan& span : reading.value().spans) {
      EXPECT_LE(span.score, last);
      last = span.score;
      out.push_back(std::to_string(span.passage) + ":" + std::string(passages[span.passage].substr(span.range.begin, span.range.size())));
    }
    return out;
  }
  WordEmbedder embedder_;
};

using Spans = std::vector<std::string>;

TEST_F(SentenceReaderTest, QuotesTheSentenceThatAnswers) {
  EXPECT_EQ(read("What pressure does the pump need?",
                 {"Cheese is made of milk. Bread is baked.", "Oil the hinge daily. The pump needs a pressure of 4 bar. Paint it red."}),
            Spans{"1:The pump needs a pressure of 4 bar."});
}

TEST_F(SentenceReaderTest, JoinsNeighboursAndKeepsOrderInside) {
  const auto spans = read("pump pressure", {"Nothing here. The pump pressure is 4 bar. The valve limits pump pressure. Nothing more."});
  EXPECT_EQ(spans, Spans{"0:The pump pressure is 4 bar. The valve limits pump pressure."});
}

TEST_F(SentenceReaderTest, QuotesNoHeadingBetweenNeighbours) {
  const auto spans = read("pump pressure", {"The pump pressure is 4 bar. # Valves. The valve limits pump pressure."});
  EXPECT_THAT(spans, ::testing::UnorderedElementsAre("0:The pump pressure is 4 bar.", "0:The valve limits pump pressure."));
}

TEST_F(SentenceReaderTest, KeepsToItsBounds) {
  const std::string_view same = "The pump pressure is 4 bar.";
  EXPECT_EQ(read("pump pressure", {same, same, same, same, same}).size(), 3U);
  EXPECT_EQ(read("pump pressure", {same, same}, {.spans_max = 1}).size(), 1U);
  EXPECT_TRUE(read("pump pressure", {same}, {.spans_max = 0}).empty());
  std::string many;
  for (int i = 0; i < 500; ++i) many += "The pump number " + std::to_string(i) + " stands still. ";
  embedder_.texts_seen = 0;
  read("pump pressure", {many});
  EXPECT_EQ(embedder_.texts_seen, SentenceReader::kSentencesMax + 1);
}

TEST_F(SentenceReaderTest, EmbedsAllSentencesInOneCall) {
  read("pump", {"One pump. Two pumps.", "Three pumps."});
  EXPECT_EQ(embedder_.calls, 2) << "the question, then all sentences";
}

TEST_F(SentenceReaderTest, AQuestionDoesNotAnswer) {
  const auto spans =
      read("How hot is the pump?", {"How hot is the pump? The pump is as hot as tea."}, {.spans_max = 1, .sentences_max = 1});
  EXPECT_EQ(spans, Spans{"0:The pump is as hot as tea."});
}

TEST_F(SentenceReaderTest, FindsNothingWhereThereIsNothing) {
  EXPECT_TRUE(read("pump", {}).empty());
  EXPECT_TRUE(read("pump", {"", "   "}).empty());
  EXPECT_TRUE(read("zeppelin", {"Cheese. Bread."}).empty());
}

constexpr std::string_view kLeave =
    "Parental leave is a benefit of parental importance for parental leave. New parents take 16 weeks off, paid in full by the house.";

/// The passage, with these words found by a judge.
std::vector<ReaderPassage> found(std::string_view words, double probability = 0.9) {
  const std::size_t at = kLeave.find(words);
  return {{.text = kLeave, .found = FoundAnswer{{at, at + words.size()}, 3, probability}}};
}

TEST_F(SentenceReaderTest, ASentenceThatHoldsTheJudgesWordsIsLiftedAndNamesThem) {
  const ReaderPassage unjudged[] = {{.text = kLeave}};
  SentenceReader reader(embedder_, split_at_stops, {.spans_max = 1, .relative_min = 0.99, .answer_weight = 1});
  for (const char* question : {"How long is parental leave?", "For how long is parental leave?"}) {
    const auto reading = reader.read({}, question, found("16 weeks"));
    ASSERT_EQ(reading->spans.size(), 1U);
    const ReadSpan& span = reading->spans[0];
    ASSERT_TRUE(span.answer.has_value()) << question;
    EXPECT_EQ(kLeave.substr(span.answer->begin, span.answer->size()), "16 weeks");
    EXPECT_LE(span.range.begin, span.answer->begin);
    EXPECT_GE(span.range.end, span.answer->end);
    EXPECT_NE(reader.read({}, question, unjudged)->spans[0].range, span.range) << "without the judge another sentence is closer";
  }
}

TEST_F(SentenceReaderTest, WordsAloneAnswerOnlyWhatAFewWordsCan) {
  SentenceReader reader(embedder_, split_at_stops, {.answer_weight = 1});
  const auto names_words = [&](std::string_view question, const std::vector<ReaderPassage>& passages) {
    const auto reading = reader.read({}, question, passages);
    return std::ranges::any_of(reading->spans, [](const ReadSpan& span) { return span.answer.has_value(); });
  };
  EXPECT_TRUE(names_words("How long is parental leave?", found("16 weeks")));
  EXPECT_FALSE(names_words("Why is there parental leave?", found("16 weeks")));
  EXPECT_FALSE(names_words("How long is parental leave?", found("16 weeks", 0.2))) << "the judge is not sure";
  EXPECT_FALSE(names_words("How long is parental leave?", found("New parents take 16 weeks off, paid in full")))
      << "an answer that is most of its sentence is not repeated";
}

TEST_F(SentenceReaderTest, PassesErrorsOn) {
  embedder_.failing = true;
  SentenceReader reader(embedder_, split_at_stops);
  const ReaderPassage passages[] = {{.text = "A pump."}};
  EXPECT_EQ(reader.read({}, "pump", passages).error().code, ErrorCode::kUnavailable);
  std::stop_source stop;
  stop.request_stop();
  CallContext stopped;
  stopped.stop = stop.get_token();
  EXPECT_EQ(reader.read(stopped, "pump", passages).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace footnote
