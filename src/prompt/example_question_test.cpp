#include "prompt/example_question.h"

#include <gtest/gtest.h>

namespace footnote::prompt {
namespace {

std::string asked(std::string_view title, std::string_view heading, std::string_view language = "en") {
  return example_question(title, heading, language).value_or("-");
}

TEST(ExampleQuestionTest, AsksAboutTheSection) {
  EXPECT_EQ(asked("Annual leave", "Carrying days over"), "What does “Annual leave” say about carrying days over?");
  EXPECT_EQ(asked("Annual leave", "2.1 Carrying days over:"), "What does “Annual leave” say about carrying days over?");
  EXPECT_EQ(asked("Network", "VPN access"), "What does “Network” say about VPN access?");
  EXPECT_EQ(asked("Accounts", "Who may approve a request?"), "Who may approve a request?");
  EXPECT_EQ(asked("Accounts", "Locked out?"), "Locked out?");
  EXPECT_EQ(asked("Accounts", "Locked?"), "What does “Accounts” say about locked?");
}

TEST(ExampleQuestionTest, SpeaksTheLanguageOfTheDocument) {
  EXPECT_EQ(asked("Urlaub", "Übertrag ins nächste Jahr", "de"), "Was steht in „Urlaub“ über Übertrag ins nächste Jahr?");
  EXPECT_EQ(asked("Congés", "Report des jours", "fr"), "Que dit « Congés » sur report des jours ?");
  EXPECT_EQ(asked("Annual leave", "Carrying days over", "xx"), "What does “Annual leave” say about carrying days over?");
}

TEST(ExampleQuestionTest, LeavesOutHeadingsThatSayNothing) {
  for (const std::string_view heading :
       {"Introduction", "Annual leave", "annual LEAVE", "2.1", "", "   ", "a", "<script>", "foo()[1]", "path/to/file"})
    EXPECT_EQ(asked("Annual leave", heading), "-") << heading;
  EXPECT_EQ(asked("Annual leave", std::string(61, 'x')), "-");
  EXPECT_NE(asked("Annual leave", std::string(60, 'x')), "-");
  EXPECT_EQ(asked("", "Carrying days over"), "-");
  EXPECT_EQ(asked(std::string(61, 't'), "Carrying days over"), "-");
}

}  // namespace
}  // namespace footnote::prompt
