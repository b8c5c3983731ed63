#include "answer/answer_verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "answer/citation_filter.h"
#include "answer/sentence_cutter.h"

namespace footnote::answer {
namespace {

constexpr std::string_view kQuestion = "How many days of unused leave can I carry over?";

struct Said {
  std::string text;
  std::vector<SaidSentence> sentences;
};

/// Cuts a text as a model's stream does. `supports` has one letter for each sentence: y(es), n(o), "?" unchecked; a sentence is cited if it
/// has a marker.
Said said(std::string_view text, std::string_view supports = "") {
  CitationFilter filter(4);
  std::string shown = filter.feed(text);
  shown += filter.finish();
  Said out{.text = std::move(shown), .sentences = {}};
  SentenceCutter cutter;
  for (const SentenceUnit& unit : cutter.finish(out.text)) {
    const char support = out.sentences.size() < supports.size() ? supports[out.sentences.size()] : '?';
    const bool is_cited = std::ranges::any_of(
        filter.markers(), [&](const Marker& marker) { return marker.offset >= unit.range.begin && marker.offset < unit.range.end; });
    out.sentences.push_back({unit.range, unit.in_code, is_cited,
                             support == 'y'   ? Support::kSupported
                             : support == 'n' ? Support::kUnsupported
                                              : Support::kUnchecked});
  }
  return out;
}

AnswerVerdict judge(const Said& text, bool is_checked = true) {
  return judge_answer({.question = kQuestion, .text = text.text, .sentences = text.sentences, .is_checked = is_checked});
}

std::string reason(std::string_view text, std::string_view supports = "", bool is_checked = true) {
  const AnswerVerdict verdict = judge(said(text, supports), is_checked);
  return verdict.no_answer ? std::string(to_string(*verdict.no_answer)) : "answer";
}

TEST(AnswerVerdict, ASupportedSentenceIsAnAnswer) {
  EXPECT_EQ(reason("Up to five days of unused leave can be carried over [1].", "y"), "answer");
  EXPECT_EQ(reason("Five days [1].", "y"), "answer");
  EXPECT_EQ(reason("5 [1].", "y"), "answer");
  EXPECT_EQ(reason("No [1].", "y"), "answer");
  EXPECT_EQ(reason("Yes, you can carry over unused leave days [1].", "y"), "answer") << "words of the question, but cited";
}

TEST(AnswerVerdict, WhatSaysNothingIsEmpty) {
  for (const std::string_view text : {"", " \n", "The answer is:", "The answer is: [1]", "Based on the provided sources:", "# Answer",
                                      "The answer to your question is", "Here is the information."}) {
    EXPECT_EQ(reason(text, "y"), "empty") << text;
  }
}

TEST(AnswerVerdict, AnEchoOfTheQuestionIsNone) {
  EXPECT_EQ(reason("How many days of unused leave can I carry over?"), "echo");
  EXPECT_EQ(reason("How many days of unused leave can I carry over [1]", "y"), "echo") << "cited or not";
  EXPECT_EQ(reason("Question: how many days of unused leave can I carry over? The answer is:"), "echo");
  EXPECT_EQ(reason("You can carry over unused leave days."), "echo") << "nothing that was not asked";
}

TEST(AnswerVerdict, WhatCitesNothingIsNone) {
  EXPECT_EQ(reason("The answer is: 2026-11-16."), "uncited");
  EXPECT_EQ(reason("Three days."), "uncited");
  EXPECT_EQ(reason("You may carry over ten days until the end of March."), "uncited");
  EXPECT_EQ(reason("You may carry over ten days until March [9]."), "uncited") << "of four sources";
  EXPECT_EQ(reason("```\nleave --carry 5\n```"), "uncited");
}

TEST(AnswerVerdict, LessThanHalfSupportedIsNone) {
  EXPECT_EQ(reason("Ten days can be carried over until June [1].", "n"), "unsupported");
  EXPECT_EQ(reason("Five days can be carried over [1]. Ask your manager in March [1]. The rest is paid out in June [2].", "ynn"),
            "unsupported");
  EXPECT_EQ(reason("Five days can be carried over [1]. Ask your manager in March [1].", "yn"), "answer");
  EXPECT_EQ(reason("Five days can be carried over [1]. The rest expires in March. Managers approve it by email.", "y"), "uncited");
}

TEST(AnswerVerdict, WithoutACheckCitingIsEnough) {
  EXPECT_EQ(reason("Five days can be carried over [1]. The rest expires in March. Managers approve it by email.", "", false), "answer");
  EXPECT_EQ(reason("Five days can be carried over [1].", "n", false), "answer") << "for example a translation, which can't be compared";
  EXPECT_EQ(reason("Five days can be carried over.", "", false), "uncited");
}

TEST(AnswerVerdict, LoopsAndRulesGoFirst) {
  const Said text = said("Five days can be carried over [1].", "y");
  SaidText given{.question = kQuestion, .text = text.text, .sentences = text.sentences, .is_checked = true};
  given.loops = true;
  EXPECT_EQ(judge_answer(given).no_answer, NoAnswer::kLoop);
  given.loops = false;
  given.recites = true;
  EXPECT_EQ(judge_answer(given).no_answer, std::nullopt) << "what came before the rules is an answer";
  const Said nothing = said("");
  EXPECT_EQ(judge_answer({.question = kQuestion, .text = nothing.text, .sentences = nothing.sentences, .recites = true}).no_answer,
            NoAnswer::kEcho);
  EXPECT_EQ(judge_answer({.question = kQuestion, .text = nothing.text, .sentences = nothing.sentences, .is_withheld = true}).no_answer,
            NoAnswer::kUnsupported);
}

TEST(AnswerVerdict, SmallTalkMakesNoClaim) {
  EXPECT_FALSE(judge(said("Hello! How can I help you today?")).makes_claim);
  EXPECT_TRUE(judge(said("It costs 5 euros.")).makes_claim);
  EXPECT_TRUE(judge(said("Leave expires in spring, always.")).makes_claim);
}

TEST(AnswerVerdict, ConfidenceIsThatOfWhatWasSaid) {
  const auto confidence = [](std::string_view text, std::string_view supports, bool is_checked = true) {
    return said_confidence(judge(said(text, supports), is_checked), 0.9);
  };
  EXPECT_DOUBLE_EQ(confidence("Five days can be carried over [1].", "y"), 0.9);
  EXPECT_DOUBLE_EQ(confidence("Five days can be carried over [1].", "?"), 0.45) << "the check failed: half";
  EXPECT_DOUBLE_EQ(confidence("Five days can be carried over [1].", "?", false), 0.9) << "no check at all";
  EXPECT_DOUBLE_EQ(confidence("Five days can be carried over [1]. Ask your manager in March [1].", "yn"), 0.45);
  const std::string nine =
      "Five days can be carried over [1]. A manager approves this [1]. The rest is paid out [1]. It expires in March [1]. "
      "Ask the people team [1].";
  EXPECT_DOUBLE_EQ(confidence(nine, "yyyyn"), kDoubtfulConfidenceMax) << "one doubtful sentence bounds it";
  EXPECT_DOUBLE_EQ(confidence(nine, "yyyyy"), 0.9);
}

}  // namespace
}  // namespace footnote::answer
