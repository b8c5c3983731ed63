#include <gtest/gtest.h>

#include "commands.h"

namespace footnote::behaviour {
namespace {

std::string print(std::string_view script) {
  const auto scenario = parse_scenario("# a rule\n" + std::string(script) + "\n----\n");
  EXPECT_TRUE(scenario) << scenario.error().message;
  const auto output = run(*scenario);
  EXPECT_TRUE(output) << output.error().message;
  return output.value_or("");
}

void check_error(std::string_view text, std::string_view words_of_message) {
  const auto scenario = parse_scenario(text);
  const auto output = scenario ? run(*scenario) : std::unexpected(scenario.error());
  ASSERT_FALSE(output) << text;
  EXPECT_NE(output.error().message.find(words_of_message), std::string::npos) << output.error().message;
}

TEST(ScenarioFile, WordsQuotesAndBlocks) {
  const auto scenario =
      parse_scenario("# rule\n\ndocument a.md \"x \\\"y\\\" \\u{200B}\\n\"\ndocument b.md <<END\n# T\n\nBody\nEND\n----\nout\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_EQ(scenario->commands.size(), 2u);
  EXPECT_EQ(scenario->commands[0].line, 3);
  EXPECT_EQ(scenario->commands[0].words, (std::vector<std::string>{"document", "a.md", "x \"y\" \xE2\x80\x8B\n"}));
  EXPECT_EQ(scenario->commands[1].words.at(2), "# T\n\nBody\n");
  EXPECT_EQ(scenario->expected, "out\n");
}

TEST(ScenarioFile, AnotherExpectedPartKeepsTheScript) {
  const auto scenario = parse_scenario("# rule\n\nask \"x\"   # as it was\n----\nold\n");
  ASSERT_TRUE(scenario);
  EXPECT_EQ(with_expected(*scenario, "new\n"), "# rule\n\nask \"x\"   # as it was\n----\nnew\n");
}

TEST(ScenarioFile, TextInQuotesReadsBack) {
  const std::string text = "a \"b\" \\ \n \xE2\x80\x8B caf\xC3\xA9";
  const auto scenario = parse_scenario("# rule\nask " + in_quotes(text) + "\n----\n");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->commands.at(0).words.at(1), text);
}

TEST(ScenarioFile, MistakesNameTheirLine) {
  check_error("# rule\nask \"x\"\n", "no line of ----");
  check_error("ask \"x\"\n----\n", "say the rule first");
  check_error("# rule\nask \"x\n----\n", "line 2: a quote is not closed");
  check_error("# rule\n\ndocument a <<END\nx\n----\n", "line 3: no line 'END'");
  check_error("# rule\ndance\n----\n", "line 2: unknown command 'dance'");
  check_error("# rule\nask\n----\n", "line 2: a word is missing");
  check_error("# rule\ntop_k many\n----\n", "line 2: 'many' is not a number");
  check_error("# rule\nllm fails badly after 1\n----\n", "line 2: 'badly' is not an error code");
}

TEST(Runner, EachScenarioHasAWorldOfItsOwn) {
  EXPECT_NE(print("document a.md \"Shipping takes three days.\"\nask \"How long does shipping take?\"").find("answer"), std::string::npos);
  EXPECT_NE(print("ask \"How long does shipping take?\"").find("refusal"), std::string::npos);
}

TEST(Runner, ASearchForWhatIsNotThereSaysSo) { EXPECT_EQ(print("search \"anything\""), "no hits\ngrounded no\n"); }

TEST(Runner, AFalseClaimOnThePromptIsMarked) { EXPECT_EQ(print("prompt contains \"x\""), "FALSE: prompt contains \"x\"\n"); }

}  // namespace
}  // namespace footnote::behaviour
