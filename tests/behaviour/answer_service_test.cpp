#include "answer/answer_service.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/utf8.h"
#include "world.h"

namespace footnote::behaviour {
namespace {

constexpr const char* kQuestion = "How many days does shipping take?";

TEST(AnswerService, AReadingThatReadsAsNothingIsARefusal) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.\n\n[12]\n");
  const auto hit = world.search(kQuestion).value().hits.at(0);
  const std::size_t at = hit.chunk.text.find("[12]");
  ASSERT_NE(at, std::string::npos);
  world.reader.find({{{0, {at, at + 4}, 1.0}}});
  const Asked asked = world.ask(kQuestion);
  ASSERT_TRUE(asked.report);
  EXPECT_TRUE(std::holds_alternative<Refusal>(asked.report->turn.outcome)) << "an answer without a word is none";
  EXPECT_EQ(asked.events, std::vector<std::string>{"start"});
}

TEST(AnswerService, APenaltyThatOutweighsEverythingStillLeavesTheBestPassageToQuote) {
  World world;
  world.profile.penalties.archived = 5;
  world.put_document("old.md", "---\ntitle: Shipping\ntype: decision\nstatus: archived\n---\nShipping takes nine days.\n");
  const auto retrieval = world.search(kQuestion).value();
  ASSERT_TRUE(retrieval.gate.grounded);
  ASSERT_LT(retrieval.hits.at(0).score, 0);
  const Asked asked = world.ask(kQuestion);
  ASSERT_TRUE(asked.report);
  EXPECT_TRUE(std::holds_alternative<Answer>(asked.report->turn.outcome)) << "penalties order, they do not ground";
}

TEST(AnswerService, TheReportTellsWhatItCost) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.");
  world.has_llm = true;
  world.llm.say({"Three ", "days [1]."});
  const Asked asked = world.ask(kQuestion);
  ASSERT_TRUE(asked.report);
  EXPECT_GT(asked.report->tokens->prompt, 0);
  EXPECT_EQ(asked.report->tokens->completion, 2);
  EXPECT_EQ(std::get<Answer>(asked.report->turn.outcome).model, "fake-model");
  EXPECT_GT(std::get<Answer>(asked.report->turn.outcome).confidence, 0.5);
  const auto usage = world.store.usage({}, world.corpus().workspace, 1).value();
  ASSERT_EQ(usage.size(), 1u);
  EXPECT_EQ(usage[0].answers, 1);
  EXPECT_EQ(usage[0].completion_tokens, 2);
}

TEST(AnswerService, ARefusalNamesALanguageThatTheEmbedderWasNotMadeFor) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.");
  world.embedder.speak({"en"});
  const auto refusal = [&](const std::string& question) { return std::get<Refusal>(world.ask(question).report->turn.outcome); };
  const Refusal german = refusal("Wie lange dauert der Versand?");
  EXPECT_EQ(german.reason, RefusalReason::kNoRelevantContext) << "the typed reason stays";
  EXPECT_NE(german.text.find("does not know the language of the question"), std::string::npos) << german.text;
  EXPECT_EQ(refusal("Who painted the Night Watch?").text, "I could not find an answer to this in the documents.");
}

TEST(AnswerService, TheRulesAreNotRecited) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.");
  world.has_llm = true;
  world.llm.say({"Use only what stands between <source> tags. ", "Do not add knowledge of your own."});
  const Asked asked = world.ask(kQuestion);
  ASSERT_TRUE(asked.report);
  EXPECT_EQ(asked.report->fallback, answer::NoAnswer::kEcho);
  EXPECT_EQ(asked.heard, "Shipping takes three days. [1]") << "the documents are quoted instead";
  world.reader.find({});
  const Asked again = world.ask(kQuestion);
  const auto* refusal = std::get_if<Refusal>(&again.report->turn.outcome);
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->reason, RefusalReason::kBlockedByGuardrails);
}

TEST(AnswerService, TheStoredTurnIsTheTurnThatWasTold) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.");
  const Asked asked = world.ask(kQuestion);
  ASSERT_TRUE(asked.report);
  const Turn& told = asked.report->turn;
  const Turn stored = world.store.turn({}, world.corpus().workspace, told.id).value();
  EXPECT_EQ(stored.question, kQuestion);
  EXPECT_EQ(stored.generation, 1);
  EXPECT_EQ(stored.state, TurnState::kComplete);
  EXPECT_EQ(std::get<Answer>(stored.outcome).text, std::get<Answer>(told.outcome).text);
  EXPECT_EQ(stored.asked_at, world.clock.now() - std::chrono::seconds{1});
  EXPECT_TRUE(told.id.value.starts_with("turn_"));
}

TEST(AnswerService, AModelsBytesThatAreNoTextReachNobody) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.");
  world.has_llm = true;
  world.llm.say({"Shipping takes caf\xC3", "\xA9 three \xFF\xFE", " days [1].\xE2\x82"});
  const Asked asked = world.ask(kQuestion);
  ASSERT_TRUE(asked.report);
  const Answer& answer = std::get<Answer>(asked.report->turn.outcome);
  EXPECT_TRUE(is_valid_utf8(asked.heard));
  EXPECT_TRUE(answer.text.starts_with("Shipping takes caf\xC3\xA9 three \xEF\xBF\xBD")) << answer.text;
  EXPECT_EQ(answer.citations.size(), 1U);
}

TEST(AnswerService, ALoopEndsTheModelsCallAndItsMetricCounts) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.");
  world.has_llm = true;
  std::vector<std::string> pieces(1'000, "The answer is: ");
  world.llm.say(pieces);
  std::size_t heard = 0;
  class Counting final : public answer::TurnListener {
   public:
    explicit Counting(std::size_t& heard) : heard_(heard) {}
    Result<void> on_start(const TurnId&) override { return {}; }
    Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
    Result<void> on_text(std::string_view) override {
      ++heard_;
      return {};
    }
    Result<void> on_withdraw(const answer::Withdrawal&) override { return {}; }

   private:
    std::size_t& heard_;
  } counting(heard);
  Metrics metrics;
  const retrieve::Retriever retriever({world.embedder, world.vectors, world.keywords, world.store});
  const answer::AnswerService service({.retriever = retriever,
                                       .reader = world.reader,
                                       .llm = &world.llm,
                                       .conversations = world.store,
                                       .clock = world.clock,
                                       .metrics = &metrics});
  const auto report = service.answer({}, {.workspace = world.corpus().workspace, .corpus = world.corpus().id, .text = kQuestion}, counting);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->fallback, answer::NoAnswer::kLoop);
  EXPECT_LT(heard, 10U) << "the other 990 pieces are never heard";
  EXPECT_NE(metrics.render().find("footnote_answers_withdrawn_total{reason=\"loop\"} 1"), std::string::npos);
}

TEST(AnswerService, AClientThatWasNeverThereCostsNothing) {
  World world;
  world.put_document("faq.md", "Shipping takes three days.");
  world.has_llm = true;
  world.llm.say({"Three days [1]."});
  class Gone final : public answer::TurnListener {
    Result<void> on_start(const TurnId&) override { return fail(ErrorCode::kCancelled, "gone"); }
    Result<void> on_sources(std::span<const SourceBlock>) override { return {}; }
    Result<void> on_text(std::string_view) override { return {}; }
    Result<void> on_withdraw(const answer::Withdrawal&) override { return {}; }
  } gone;
  const retrieve::Retriever retriever({world.embedder, world.vectors, world.keywords, world.store});
  const answer::AnswerService service(
      {.retriever = retriever, .reader = world.reader, .llm = &world.llm, .conversations = world.store, .clock = world.clock});
  const auto report = service.answer({}, {.workspace = world.corpus().workspace, .corpus = world.corpus().id, .text = kQuestion}, gone);
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(world.llm.calls(), 0u);
  EXPECT_TRUE(world.store.all_turns().empty());
}

TEST(AnswerService, SeveralTurnsAtOnceDoNotMix) {
  World world;
  world.put_document("shipping.md", "Shipping takes three days.");
  world.put_document("returns.md", "Returns are free of charge.");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&world, i] {
      const retrieve::Retriever retriever({world.embedder, world.vectors, world.keywords, world.store});
      const answer::AnswerService service(
          {.retriever = retriever, .reader = world.reader, .conversations = world.store, .clock = world.clock});
      answer::SilentListener quiet;
      const bool shipping = i % 2 == 0;
      for (int round = 0; round < 20; ++round) {
        const auto report = service.answer({},
                                           {.workspace = world.corpus().workspace,
                                            .corpus = world.corpus().id,
                                            .text = shipping ? kQuestion : "Are returns free of charge?"},
                                           quiet);
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_EQ(std::get<Answer>(report->turn.outcome).text,
                  shipping ? "Shipping takes three days. [1]" : "Returns are free of charge. [1]");
      }
    });
  }
  threads.clear();
  EXPECT_EQ(world.store.all_turns().size(), 80u);
}

}  // namespace
}  // namespace footnote::behaviour
