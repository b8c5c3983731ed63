#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/utf8.h"
#include "contracts/stopped_call.h"
#include "ports/reader.h"

/// What every Reader must do. Include in one test file of a provider and write
///   INSTANTIATE_TEST_SUITE_P(Local, ReaderContract, ::testing::Values(ReaderCase{"local", make}), reader_case_name);
namespace footnote::contract {

struct ReaderCase {
  std::string name;
  std::function<std::shared_ptr<Reader>()> make;
};

inline std::string reader_case_name(const ::testing::TestParamInfo<ReaderCase>& info) { return info.param.name; }

class ReaderContract : public ::testing::TestWithParam<ReaderCase> {
 protected:
  using Passages = std::vector<std::string_view>;

  /// The sentences of a plain text, used as blocks.
  static std::vector<TextRange> sentences_of(std::string_view text) {
    std::vector<TextRange> out;
    for (std::size_t begin = text.find_first_not_of(" \n"); begin < text.size(); begin = text.find_first_not_of(" \n", out.back().end)) {
      const std::size_t stop = text.find_first_of(".!", begin);
      out.push_back({begin, stop == std::string_view::npos ? text.size() : stop + 1});
    }
    return out;
  }

  Result<Reading> read_all(const CallContext& call, std::string_view question, const Passages& texts) {
    std::vector<std::vector<TextRange>> blocks;
    for (const std::string_view text : texts) blocks.push_back(sentences_of(text));
    std::vector<ReaderPassage> passages;
    for (std::size_t i = 0; i < texts.size(); ++i) passages.push_back({.text = texts[i], .blocks = blocks[i]});
    return reader_->read(call, question, passages);
  }

  Reading read(std::string_view question, const Passages& passages) {
    const auto reading = read_all(call_, question, passages);
    EXPECT_TRUE(reading.has_value()) << reading.error().message;
    if (!reading) return {};
    for (const ReadSpan& span : reading->spans) check_span(span, passages);
    if (reading->probability) {
      EXPECT_GE(*reading->probability, 0);
      EXPECT_LE(*reading->probability, 1);
    }
    EXPECT_TRUE(std::ranges::is_sorted(reading->spans, std::greater<>{}, &ReadSpan::score)) << "best first";
    check_apart(*reading);
    return *reading;
  }

  static void check_span(const ReadSpan& span, const Passages& passages) {
    ASSERT_LT(span.passage, passages.size());
    const std::string_view text = passages[span.passage];
    ASSERT_LT(span.range.begin, span.range.end);
    ASSERT_LE(span.range.end, text.size());
    EXPECT_TRUE(is_utf8_boundary(text, span.range.begin));
    EXPECT_TRUE(is_utf8_boundary(text, span.range.end));
    EXPECT_GE(span.score, 0);
    EXPECT_LE(span.score, 1);
  }
  static void check_apart(const Reading& reading) {
    for (const ReadSpan& a : reading.spans) {
      for (const ReadSpan& b : reading.spans) {
        if (&a == &b || a.passage != b.passage) continue;
        EXPECT_TRUE(a.range.end <= b.range.begin || b.range.end <= a.range.begin) << "spans overlap";
      }
    }
  }
  static std::string_view text_of(const ReadSpan& span, const Passages& passages) {
    return passages[span.passage].substr(span.range.begin, span.range.size());
  }

  const CallContext call_;
  std::shared_ptr<Reader> reader_ = GetParam().make();
};

TEST_P(ReaderContract, FindsTheSentenceThatAnswers) {
  const Passages passages = {"Our office is in Utrecht. The canteen opens at eight.",
                             "Orders leave daily. Shipping to Spain takes three days. Call us any time."};
  const Reading reading = read("How many days does shipping to Spain take?", passages);
  ASSERT_FALSE(reading.spans.empty());
  EXPECT_EQ(reading.spans[0].passage, 1U);
  EXPECT_EQ(text_of(reading.spans[0], passages), "Shipping to Spain takes three days.");
}

TEST_P(ReaderContract, FindsNothingWhereNothingAnswers) {
  EXPECT_TRUE(read("Who painted the Night Watch?", {"Shipping takes three days.", "Bread and butter."}).spans.empty());
}

TEST_P(ReaderContract, BearsEmptyAndOddInput) {
  EXPECT_TRUE(read("anything", {}).spans.empty());
  EXPECT_TRUE(read("anything", {"", " \n "}).spans.empty());
  read("", {"Shipping takes three days."});
  read("caf\xC3\xA9", {"Das Caf\xC3\xA9 \xF0\x9F\x98\x80 ist offen. Caf\xC3\xA9!"});
}

TEST_P(ReaderContract, TheSameQuestionGivesTheSameReading) {
  const Passages passages = {"Returns are free. Returns take a week.", "Returns need a receipt."};
  const Reading first = read("What do returns need?", passages), second = read("What do returns need?", passages);
  ASSERT_EQ(first.spans.size(), second.spans.size());
  for (std::size_t i = 0; i < first.spans.size(); ++i) {
    EXPECT_EQ(first.spans[i].range, second.spans[i].range);
    EXPECT_EQ(first.spans[i].score, second.spans[i].score);
  }
}

TEST_P(ReaderContract, LongAndManyPassagesAreReadWithinBounds) {
  std::string long_one;
  for (int i = 0; i < 200; ++i) long_one += "The crew checks mooring mast number " + std::to_string(i) + ". ";
  long_one += "Shipping to Spain takes three days.";
  Passages passages(20, "Our office is in Utrecht. The canteen opens at eight.");
  passages.push_back(long_one);
  const Reading reading = read("How many days does shipping to Spain take?", passages);
  ASSERT_FALSE(reading.spans.empty());
  EXPECT_EQ(text_of(reading.spans[0], passages), "Shipping to Spain takes three days.");
}

TEST_P(ReaderContract, ACallThatIsOverEnds) {
  const Passages passages = {"Shipping takes three days."};
  EXPECT_EQ(read_all(stopped_call(), "shipping", passages).error().code, ErrorCode::kCancelled);
  const auto late = CallContext::with_timeout(std::chrono::milliseconds{-1});
  EXPECT_EQ(read_all(late, "shipping", passages).error().code, ErrorCode::kDeadlineExceeded);
}

TEST_P(ReaderContract, SeveralThreadsReadWhatOneReads) {
  const Passages passages = {"Returns are free. Returns take a week.", "Returns need a receipt."};
  const Reading expected = read("What do returns need?", passages);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto reading = read_all(call_, "What do returns need?", passages);
      ASSERT_TRUE(reading.has_value());
      ASSERT_EQ(reading->spans.size(), expected.spans.size());
      for (std::size_t n = 0; n < expected.spans.size(); ++n) EXPECT_EQ(reading->spans[n].range, expected.spans[n].range);
    });
  }
}

}  // namespace footnote::contract
