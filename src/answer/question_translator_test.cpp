#include "answer/question_translator.h"

#include <gtest/gtest.h>

#include "fakes/fake_llm.h"

namespace footnote::answer {
namespace {

TEST(QuestionTranslator, AsksTheModelOnceForEachQuestion) {
  fakes::FakeLlm llm;
  llm.say({" How long does ", "shipping take? "});
  QuestionTranslator translator(llm);
  EXPECT_EQ(translator.translate({}, "Wie lange dauert der Versand?", "en"), "How long does shipping take?");
  EXPECT_EQ(translator.translate({}, "Wie lange dauert der Versand?", "en"), "How long does shipping take?");
  EXPECT_EQ(llm.calls(), 1U);
  EXPECT_EQ(llm.last_request().messages.back().content, "Wie lange dauert der Versand?");
}

TEST(QuestionTranslator, RemembersABoundedNumber) {
  fakes::FakeLlm llm;
  llm.say({"x"});
  QuestionTranslator translator(llm);
  for (std::size_t i = 0; i <= QuestionTranslator::kRememberedMax; ++i) ASSERT_TRUE(translator.translate({}, std::to_string(i), "en"));
  const std::size_t calls = llm.calls();
  ASSERT_TRUE(translator.translate({}, std::to_string(QuestionTranslator::kRememberedMax), "en"));
  EXPECT_EQ(llm.calls(), calls);
  ASSERT_TRUE(translator.translate({}, "0", "en"));
  EXPECT_EQ(llm.calls(), calls + 1) << "the oldest was forgotten";
}

TEST(QuestionTranslator, NothingOrTooMuchIsNoTranslation) {
  fakes::FakeLlm llm;
  llm.say({"  "});
  QuestionTranslator translator(llm);
  EXPECT_EQ(translator.translate({}, "a", "en").error().code, ErrorCode::kUnavailable);
  llm.say({std::string(QuestionTranslator::kTranslationBytesMax, 'x')});
  EXPECT_TRUE(translator.translate({}, "b", "en"));
  llm.say({std::string(QuestionTranslator::kTranslationBytesMax + 1, 'x')});
  EXPECT_EQ(translator.translate({}, "c", "en").error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace footnote::answer
