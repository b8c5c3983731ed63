#include "engine/nn/pair_reader.h"

#include <gtest/gtest.h>

#include "engine/nn/fixture_for_test.h"
#include "support/temp_folder.h"

namespace footnote::nn {
namespace {

using testing::kSanitized;
using testing::model_path;
using testing::must_read;

std::filesystem::path judge_path() { return model_path().parent_path() / "judge"; }

std::filesystem::path reader_path() { return model_path().parent_path() / "reader"; }

std::unique_ptr<PairReader> open_judge(const EncoderOptions& options = {}) {
  auto reader = PairReader::open(judge_path(), options);
  EXPECT_TRUE(reader.has_value()) << (reader ? "" : reader.error().message);
  return reader ? *std::move(reader) : nullptr;
}

/// The training code's reading of a pair with the same weights.
struct Sample {
  std::string question;
  std::string passage;
  double relevance = 0;
  double margin = 0;
  std::size_t tokens = 0;
};

std::vector<Sample> reference() {
  std::vector<Sample> out;
  const Json root = *parse_json(must_read(judge_path() / "reference.json"));
  for (const Json& pair : root.at("pairs").as_array()) {
    const auto text = [&](const char* key) { return std::string(pair.at(key).as_string()); };
    const auto number = [&](const char* key) { return pair.at(key).to_number<double>(); };
    out.push_back({text("question"), text("passage"), number("relevance"),
                   (pair.as_object().contains("span") ? number("span") : 0) - number("none"), pair.at("ids").as_array().size()});
  }
  return out;
}

std::string_view span_text(const PairReading& reading, std::string_view text) {
  return text.substr(reading.span.begin, reading.span.end - reading.span.begin);
}

TEST(PairReader, ReadsAsItsTrainingDid) {
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    if (kSanitized && level != cpu::CpuLevel::kPortable) continue;
    const auto reader = open_judge({.level = level, .threads = 2});
    ASSERT_NE(reader, nullptr);
    const bool exact = kernels_of(level)->format == Format::kFloat;
    std::size_t compared = 0;
    for (const Sample& sample : reference()) {
      // The reference truncated longer ones.
      if (sample.tokens >= 160 || (kSanitized && compared == 3)) continue;
      const std::string_view passages[] = {sample.passage};
      const auto readings = reader->read({}, sample.question, passages);
      ASSERT_TRUE(readings.has_value()) << readings.error().message;
      EXPECT_NEAR(readings->at(0).relevance, sample.relevance, exact ? .01 : .6) << to_string(level) << ": " << sample.question;
      EXPECT_NEAR(readings->at(0).margin, sample.margin, exact ? .03 : 2) << to_string(level) << ": " << sample.question;
      ++compared;
    }
    EXPECT_GE(compared, 3U);
  }
}

/// The reader's reference has headers, support, and the margin itself.
struct ReaderSample {
  std::string question;
  std::string header;
  std::string passage;
  double relevance = 0;
  std::vector<double> support;
  std::optional<double> margin;
};

std::vector<ReaderSample> reader_reference() {
  std::vector<ReaderSample> out;
  const Json root = *parse_json(must_read(reader_path() / "reference.json"));
  for (const Json& pair : root.at("pairs").as_array()) {
    const auto text = [&](const char* key) { return std::string(pair.at(key).as_string()); };
    ReaderSample& sample = out.emplace_back(text("question"), text("header"), text("passage"), pair.at("relevance").to_number<double>());
    for (const Json& logit : pair.at("support").as_array()) sample.support.push_back(logit.to_number<double>());
    if (pair.as_object().contains("margin")) sample.margin = pair.at("margin").to_number<double>();
  }
  return out;
}

TEST(PairReader, TheReaderReadsAsItsTrainingDid) {
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    if (kSanitized && level != cpu::CpuLevel::kPortable) continue;
    auto opened = PairReader::open(reader_path(), {.level = level, .threads = 2});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const bool exact = kernels_of(level)->format == Format::kFloat;
    std::size_t compared = 0;
    for (const ReaderSample& sample : reader_reference()) {
      if (kSanitized && compared == 3) break;
      const PairText texts[] = {{.text = sample.passage, .header = sample.header}};
      const auto readings = (*opened)->read({}, sample.question, texts);
      ASSERT_TRUE(readings.has_value()) << readings.error().message;
      const PairReading& got = readings->at(0);
      const std::string where = fmt::format("{}: {}", to_string(level), sample.question);
      EXPECT_NEAR(got.relevance, sample.relevance, exact ? .01 : .8) << where;
      if (sample.margin) {
        EXPECT_NEAR(got.margin, *sample.margin, exact ? .03 : 2.5) << where;
      }
      ASSERT_TRUE(got.support.has_value());
      EXPECT_NEAR(got.support->supports, sample.support.at(0), exact ? .01 : .8) << where;
      EXPECT_NEAR(got.support->neutral, sample.support.at(1), exact ? .01 : .8) << where;
      EXPECT_NEAR(got.support->refutes, sample.support.at(2), exact ? .01 : .8) << where;
      ++compared;
    }
    EXPECT_GE(compared, 3U);
  }
}

TEST(PairReader, AHeaderIsReadButCannotAnswer) {
  auto opened = PairReader::open(reader_path(), {.threads = 2});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  const std::string_view text = "New parents take 16 weeks off, paid in full.";
  const PairText texts[] = {{.text = text}, {.text = text, .header = "Handbook > Parental leave"}, {.text = "", .header = "16 weeks"}};
  const auto readings = (*opened)->read({}, "How long is parental leave?", texts);
  ASSERT_TRUE(readings.has_value()) << readings.error().message;
  EXPECT_GT(readings->at(1).relevance, readings->at(0).relevance);
  EXPECT_EQ(span_text(readings->at(1), text), "16 weeks");
  EXPECT_EQ(readings->at(2).span, ByteRange{});
}

TEST(PairReader, TheJudgeIgnoresHeaders) {
  const auto reader = open_judge({.threads = 2});
  ASSERT_NE(reader, nullptr);
  const PairText texts[] = {{.text = "New parents take 16 weeks off."}, {.text = "New parents take 16 weeks off.", .header = "Leave"}};
  const auto readings = reader->read({}, "How long is leave?", texts);
  ASSERT_TRUE(readings.has_value());
  EXPECT_EQ(readings->at(0).relevance, readings->at(1).relevance);
  EXPECT_EQ(readings->at(0).margin, readings->at(1).margin);
  EXPECT_FALSE(readings->at(0).support.has_value());
}

TEST(PairReader, NamesTheWordsThatAnswer) {
  const auto reader = open_judge({.threads = 2});
  ASSERT_NE(reader, nullptr);
  const std::string_view passages[] = {
      "New parents take 16 weeks off, paid in full. Leave can be split into two parts within the first year.",
      "The kiln is fired at 1,240 degrees and must cool for a day before anyone opens it.", ""};
  const auto readings = reader->read({}, "How long is parental leave?", passages);
  ASSERT_TRUE(readings.has_value()) << readings.error().message;
  ASSERT_EQ(readings->size(), 3U);
  EXPECT_EQ(span_text(readings->at(0), passages[0]), "16 weeks");
  EXPECT_GT(readings->at(0).relevance, readings->at(1).relevance + 2);
  EXPECT_GT(readings->at(0).margin, readings->at(1).margin + 2);
  EXPECT_EQ(readings->at(2).span, ByteRange{});
}

TEST(PairReader, FindsAnAnswerFarDownWhenAllWindowsAreRead) {
  const auto reader = open_judge({.threads = 2});
  ASSERT_NE(reader, nullptr);
  std::string text;
  for (int i = 0; i < 30; ++i) text += "The workshop keeps its glazes on the third shelf. ";
  const std::size_t answer = text.size();
  text += "New parents take 16 weeks off, paid in full.";
  const std::string_view passages[] = {text};
  const auto first = reader->read({}, "How many weeks off do new parents take?", passages);
  const auto all = reader->read({}, "How many weeks off do new parents take?", passages, {.windows_max = PairReader::kWindowsMax});
  ASSERT_TRUE(first.has_value() && all.has_value());
  EXPECT_GT(all->at(0).relevance, first->at(0).relevance + 2);
  EXPECT_GE(all->at(0).span.begin, answer);
  EXPECT_NE(span_text(all->at(0), text).find("16"), std::string_view::npos);
}

TEST(PairReader, APairReadsTheSameInAnyCompany) {
  const auto reader = open_judge({.threads = 2});
  ASSERT_NE(reader, nullptr);
  const std::string_view passages[] = {"Cats sleep.", "New parents take 16 weeks off.",
                                       "A longer passage about glaze, kilns and clay that cools."};
  const auto together = reader->read({}, "How long is leave?", passages);
  ASSERT_TRUE(together.has_value());
  for (std::size_t i = 0; i < 3; ++i) {
    const auto alone = reader->read({}, "How long is leave?", std::span(passages).subspan(i, 1));
    ASSERT_TRUE(alone.has_value());
    EXPECT_EQ(alone->at(0).relevance, together->at(i).relevance);
    EXPECT_EQ(alone->at(0).margin, together->at(i).margin);
    EXPECT_EQ(alone->at(0).span, together->at(i).span);
  }
}

TEST(PairReader, AnEmbedderIsNoReader) {
  const auto reader = PairReader::open(model_path(), {});
  ASSERT_FALSE(reader.has_value());
  EXPECT_EQ(reader.error().code, ErrorCode::kUnsupported);
}

TEST(PairReader, NeedsTheModelWhoseTokenVectorsItShares) {
  test::TempFolder folder;
  std::filesystem::copy(judge_path(), folder.path() / "judge");
  const auto alone = PairReader::open(folder.path() / "judge", {});
  ASSERT_FALSE(alone.has_value());
  EXPECT_EQ(alone.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(alone.error().message.find("all-MiniLM-L6-v2"), std::string::npos) << alone.error().message;
}

TEST(PairReader, ReadsNothingForACallThatIsOver) {
  const auto reader = open_judge({.threads = 1});
  ASSERT_NE(reader, nullptr);
  CallContext late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const std::string_view passages[] = {"Cats sleep."};
  const auto readings = reader->read(late, "Who sleeps?", passages);
  ASSERT_FALSE(readings.has_value());
  EXPECT_EQ(readings.error().code, ErrorCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace footnote::nn
