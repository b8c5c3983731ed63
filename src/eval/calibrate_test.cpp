#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "eval/calibrate_gate.h"
#include "eval/calibrate_probes.h"

namespace footnote::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// `count` probes with evidence rising from `low` to `high`.
std::vector<ProbeEvidence> probes(const std::string& domain, std::size_t count, double low, double high) {
  std::vector<ProbeEvidence> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back({domain, low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1)});
  }
  return out;
}

TEST(SetGate, AnswersAsManyForeignQuestionsAsWanted) {
  const auto setting = set_gate(probes("own", 200, 0.5, 0.9), probes("cooking", 200, 0, 0.52), 0.05);
  ASSERT_TRUE(setting) << setting.error().message;
  EXPECT_NEAR(setting->evidence_min, 0.52 * 0.95, 0.01);
  EXPECT_NEAR(setting->false_answer_rate, 0.05, 0.011);
  EXPECT_DOUBLE_EQ(setting->answered_rate, 1);
  EXPECT_EQ(setting->foreign, 100U) << "half of them are held out";
  EXPECT_EQ(setting->own, 100U);
  EXPECT_TRUE(setting->left_out.empty());
}

TEST(SetGate, ARateOfZeroRefusesAllThatSetIt) {
  const auto setting = set_gate(probes("own", 100, 0.5, 0.9), probes("cooking", 100, 0.1, 0.2), 0);
  ASSERT_TRUE(setting);
  EXPECT_GT(setting->evidence_min, 0.198);
  EXPECT_LE(setting->false_answer_rate, 0.02);
}

TEST(SetGate, EqualEvidenceIsNotCutInTwo) {
  const auto setting = set_gate(probes("own", 100, 0.5, 0.9), probes("cooking", 100, 0.3, 0.3), 0.1);
  ASSERT_TRUE(setting);
  EXPECT_GT(setting->evidence_min, 0.3);
  EXPECT_DOUBLE_EQ(setting->false_answer_rate, 0);
}

TEST(SetGate, ADomainThatTheCorpusCoversIsNotForeign) {
  std::vector<ProbeEvidence> foreign = probes("cooking", 100, 0, 0.2);
  for (const ProbeEvidence& probe : probes("law", 20, 0.6, 0.9)) foreign.push_back(probe);
  const auto setting = set_gate(probes("own", 100, 0.5, 0.9), foreign, 0.05);
  ASSERT_TRUE(setting);
  EXPECT_THAT(setting->left_out, ElementsAre("law"));
  EXPECT_LT(setting->evidence_min, 0.21);
}

TEST(MeasureGate, MeasuresAllProbesAtTheGivenThreshold) {
  std::vector<ProbeEvidence> foreign = probes("cooking", 40, 0, 0.59);
  for (const ProbeEvidence& probe : probes("law", 20, 0.6, 0.9)) foreign.push_back(probe);
  const auto setting = measure_gate(probes("own", kOwnProbesMin, 0.45, 0.9), foreign, 0.5);
  ASSERT_TRUE(setting) << setting.error().message;
  EXPECT_DOUBLE_EQ(setting->evidence_min, 0.5);
  EXPECT_DOUBLE_EQ(setting->answered_rate, 0.9);
  EXPECT_NEAR(setting->false_answer_rate, 0.15, 0.026);
  EXPECT_EQ(setting->own, kOwnProbesMin);
  EXPECT_EQ(setting->foreign, 40U);
  EXPECT_THAT(setting->left_out, ElementsAre("law"));
}

TEST(MeasureGate, TooFewProbesMeasureNothing) {
  const auto own = probes("own", kOwnProbesMin, 0.5, 0.9);
  EXPECT_TRUE(measure_gate(own, probes("cooking", kForeignProbesMin, 0, 0.2), 0.5));
  EXPECT_EQ(measure_gate(own, probes("cooking", kForeignProbesMin - 1, 0, 0.2), 0.5).error().code, ErrorCode::kFailedPrecondition);
  EXPECT_EQ(measure_gate(probes("own", kOwnProbesMin - 1, 0.5, 0.9), probes("cooking", 100, 0, 0.2), 0.5).error().code,
            ErrorCode::kFailedPrecondition);
}

TEST(SetGate, TooFewProbesSetNothing) {
  const auto few = set_gate(probes("own", 100, 0.5, 0.9), probes("cooking", 2 * kForeignProbesMin - 1, 0, 0.2), 0.05);
  EXPECT_EQ(few.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_TRUE(set_gate(probes("own", 100, 0.5, 0.9), probes("cooking", 2 * kForeignProbesMin, 0, 0.2), 0.05));
  EXPECT_EQ(set_gate({}, probes("cooking", 100, 0, 0.2), 0.05).error().code, ErrorCode::kFailedPrecondition);
}

TEST(Align, BringsBothMediansToTheBuiltInOnes) {
  const auto scale = align({.own = 0.82, .foreign = 0.72}, kCosineMedians);
  ASSERT_TRUE(scale);
  EXPECT_NEAR(scale->slope * 0.82 + scale->offset, kCosineMedians.own, 1e-12);
  EXPECT_NEAR(scale->slope * 0.72 + scale->offset, kCosineMedians.foreign, 1e-12);
}

TEST(Align, ASignalThatDoesNotTellOwnFromForeignSaysNothing) {
  EXPECT_FALSE(align({.own = 0.7, .foreign = 0.7}, kCosineMedians));
  EXPECT_FALSE(align({.own = 0.6, .foreign = 0.7}, kCosineMedians));
}

TEST(Align, TheMedianOfNothingIsZero) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
}

TEST(Probes, TheBuiltInOnesAreQuestionsOfManyDomains) {
  std::set<std::string> domains;
  std::set<std::string> questions;
  for (const Probe& probe : general_probes()) {
    domains.insert(probe.domain);
    questions.insert(probe.question);
    EXPECT_THAT(probe.question, HasSubstr("?"));
  }
  EXPECT_GE(domains.size(), 10U);
  EXPECT_EQ(questions.size(), general_probes().size()) << "no duplicates";
  EXPECT_GE(questions.size() / 2, kForeignProbesMin * 3);
}

TEST(Probes, AQuestionHasHalfTheWordsOfItsSentenceInAnotherOrder) {
  EXPECT_EQ(keyword_question("Travel above 500 euros is signed off by the head of finance, in writing."), "500 euro head signed writing?");
  EXPECT_EQ(keyword_question("Yes."), "");
}

}  // namespace
}  // namespace footnote::eval
