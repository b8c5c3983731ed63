#include "answer/turn_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "world.h"

namespace footnote::behaviour {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kQuestion = "How many days does shipping take?";

class TurnTraceTest : public testing::Test {
 protected:
  /// The trace of the turn that was stored last.
  JsonObject trace() {
    const std::vector<Turn> turns = world_.store.all_turns();
    EXPECT_FALSE(turns.empty());
    if (turns.empty()) return {};
    text_ = world_.store.trace({}, turns.back().workspace, turns.back().id).value_or("");
    const auto value = parse_json(text_);
    EXPECT_TRUE(value) << text_;
    return value ? value->as_object() : JsonObject{};
  }
  static std::vector<std::string> names(const JsonObject& trace, std::string_view list, std::string_view field) {
    std::vector<std::string> out;
    for (const Json& entry : trace.at(list).as_array()) out.emplace_back(entry.as_object().at(field).as_string());
    return out;
  }
  /// "path: stage/reason" for every candidate; "path: [n]" for cited ones.
  static std::vector<std::string> fates(const JsonObject& trace) {
    std::vector<std::string> out;
    for (const Json& entry : trace.at("candidates").as_array()) {
      const JsonObject& candidate = entry.as_object();
      const JsonObject* cut = candidate.at("cut").if_object();
      const std::string fate = cut == nullptr ? fmt::format("[{}]", candidate.at("number").as_int64())
                                              : fmt::format("{}/{}", std::string_view(cut->at("stage").as_string()),
                                                            std::string_view(cut->at("reason").as_string()));
      out.push_back(fmt::format("{}: {}", std::string_view(candidate.at("source_path").as_string()), fate));
    }
    return out;
  }
  static std::int64_t cut_count(const JsonObject& trace, std::string_view stage, std::string_view reason) {
    for (const Json& entry : trace.at("cuts").as_array()) {
      const JsonObject& cut = entry.as_object();
      if (cut.at("stage") == Json(stage) && cut.at("reason") == Json(reason)) return cut.at("count").as_int64();
    }
    return 0;
  }

  World world_;
  std::string text_;
};

TEST_F(TurnTraceTest, AQuotedAnswerCanBeReadBackStageByStage) {
  world_.put_document("faq.md", "# Shipping\n\nShipping takes three days.");
  world_.put_document("party.md", "# Party\n\nThe summer party is in June.");
  ASSERT_TRUE(world_.ask(kQuestion).report);
  const JsonObject trace = this->trace();
  EXPECT_EQ(trace.at("version"), answer::kTurnTraceVersion);
  EXPECT_EQ(trace.at("turn_id"), Json(world_.store.all_turns().back().id.value));
  EXPECT_EQ(trace.at("state"), "complete");
  EXPECT_EQ(trace.at("outcome").as_object().at("kind"), "answer");
  EXPECT_EQ(trace.at("outcome").as_object().at("citations"), 1);
  EXPECT_EQ(trace.at("gate").as_object().at("grounded"), true);
  EXPECT_TRUE(trace.at("model").is_null());
  EXPECT_TRUE(trace.at("first_text_ms").is_number());
  EXPECT_THAT(names(trace, "stages", "stage"),
              ElementsAre("embed", "vector", "keyword", "fuse", "late", "fetch", "judge", "select", "gate", "read", "cite", "store"));
  double last = 0;
  for (const Json& entry : trace.at("stages").as_array()) {
    const JsonObject& stage = entry.as_object();
    const double start = stage.at("start_ms").to_number<double>();
    if (stage.at("stage") == "keyword") continue;  // Keyword search may run in parallel to the embedding, or after it.
    EXPECT_GE(start + 0.0005, last) << "each starts when the one before has ended: " << text_;
    last = stage.at("took_ms").is_null() ? start : start + stage.at("took_ms").to_number<double>();
  }
  EXPECT_LE(last, trace.at("total_ms").to_number<double>() + 0.0015);
  EXPECT_EQ(fates(trace).at(0), "faq.md: [1]");
}

TEST_F(TurnTraceTest, EveryScoreIsExplained) {
  world_.put_document("faq.md", "# Shipping\n\nShipping takes three days.");
  world_.put_document("old.md", "---\ntitle: Old\nstatus: superseded\n---\n# Shipping\n\nShipping takes nine days.");
  ASSERT_TRUE(world_.ask(kQuestion).report);
  const JsonObject trace = this->trace();
  ASSERT_EQ(trace.at("candidates").as_array().size(), 2u);
  for (const Json& entry : trace.at("candidates").as_array()) {
    const JsonObject& candidate = entry.as_object();
    double sum = 0;
    for (const Json& term : candidate.at("terms").as_array()) {
      const JsonObject& fields = term.as_object();
      sum += fields.at("contribution").to_number<double>();
      EXPECT_NEAR(fields.at("contribution").to_number<double>(),
                  fields.at("weight").to_number<double>() * fields.at("normalised").to_number<double>(), 1e-5);
    }
    EXPECT_NEAR(candidate.at("score").to_number<double>(), sum, 1e-5);
  }
  EXPECT_THAT(names(trace.at("candidates").as_array().at(1).as_object(), "terms", "stage"),
              ElementsAre("vector", "keyword", "heading", "penalty"));
}

TEST_F(TurnTraceTest, ARefusalSaysHowFarItWasFromTheLine) {
  world_.put_document("faq.md", "Shipping takes three days.");
  ASSERT_TRUE(world_.ask("Who painted the Night Watch?").report);
  const JsonObject trace = this->trace();
  EXPECT_EQ(trace.at("outcome").as_object().at("refusal_reason"), "no_relevant_context");
  const JsonObject& gate = trace.at("gate").as_object();
  EXPECT_LT(gate.at("evidence").to_number<double>(), gate.at("threshold").to_number<double>());
  EXPECT_TRUE(trace.at("first_text_ms").is_null());
  EXPECT_THAT(fates(trace), ElementsAre("faq.md: gate/below_threshold"));
}

TEST_F(TurnTraceTest, WhatWasCutIsNamedAndCounted) {
  world_.chunking = {.target_bytes = 40, .max_bytes = 80, .overlap_bytes_max = 0};
  std::string passages;
  for (int i = 0; i < 5; ++i) passages += fmt::format("# Part {}\n\nShipping takes three days, part {}.\n\n", i, i);
  world_.put_document("long.md", passages);
  for (int i = 0; i < 60; ++i) world_.put_document(fmt::format("{:02}.md", i), fmt::format("Days of summer and of winter, note {}.", i));
  ASSERT_TRUE(world_.ask(kQuestion).report);
  const JsonObject trace = this->trace();
  const std::int64_t looked_at = 4 * static_cast<std::int64_t>(world_.profile.top_k);
  EXPECT_EQ(trace.at("candidates_found"), 65);
  EXPECT_EQ(cut_count(trace, "fuse", "limit"), 65 - looked_at);
  EXPECT_EQ(cut_count(trace, "select", "document_limit"), 2) << "three passages of one document are enough";
  EXPECT_EQ(cut_count(trace, "select", "limit"), looked_at - 8 - 2);
  std::int64_t all = 0, cited = 0;
  for (const Json& cut : trace.at("cuts").as_array()) all += cut.as_object().at("count").as_int64();
  for (const std::string& fate : fates(trace)) cited += fate.ends_with("]") ? 1 : 0;
  EXPECT_EQ(all + cited, 65) << "no candidate is lost on the way";
  EXPECT_EQ(trace.at("candidates").as_array().size(), world_.profile.top_k + 2 + 2 * retrieve::kCutNamedMax);
  EXPECT_THAT(text_, HasSubstr(R"("cut":{"stage":"fuse","reason":"limit"})"));
}

TEST_F(TurnTraceTest, WhatTheReaderLeftOutHasAReason) {
  world_.profile.penalties.superseded = 5;
  world_.put_document("a.md", "Shipping takes three days.");
  world_.put_document("b.md", "Shipping takes three days.");  // the same content
  world_.put_document("old.md", "---\ntitle: Old\nstatus: superseded\n---\nShipping takes nine days.");
  ASSERT_TRUE(world_.ask(kQuestion).report);
  EXPECT_THAT(fates(trace()), ElementsAre("a.md: [1]", "b.md: read/duplicate", "old.md: read/far_from_best"));
  for (int i = 0; i < 6; ++i) world_.put_document(fmt::format("c{}.md", i), "Shipping takes three days.");
  ASSERT_TRUE(world_.ask(kQuestion).report);
  EXPECT_GE(cut_count(trace(), "read", "limit"), 2) << "five passages are read";
}

TEST_F(TurnTraceTest, AModelsCallIsMeasured) {
  world_.put_document("a.md", "Shipping takes three days.");
  world_.put_document("b.md", "Shipping is done in three days.");
  world_.has_llm = true;
  world_.llm.say({"Three days ", "[2]."}, FinishReason::kLength);
  ASSERT_TRUE(world_.ask(kQuestion).report);
  const JsonObject trace = this->trace();
  const JsonObject& model = trace.at("model").as_object();
  EXPECT_EQ(model.at("name"), "fake-model");
  EXPECT_EQ(model.at("finish"), "length");
  std::size_t bytes = 0;
  for (const ChatMessage& message : world_.llm.last_request().messages) bytes += message.content.size();
  EXPECT_EQ(model.at("prompt_bytes").to_number<std::size_t>(), bytes);
  EXPECT_EQ(model.at("prompt_messages"), 2);
  EXPECT_EQ(model.at("completion_tokens"), 2);
  EXPECT_GT(model.at("prompt_tokens").as_int64(), 0);
  EXPECT_THAT(names(trace, "stages", "stage"), ElementsAre("embed", "vector", "keyword", "fuse", "late", "fetch", "judge", "select", "gate",
                                                           "retrieve", "prompt", "llm", "cite", "store"));
  const std::vector<std::string> ways = fates(trace);
  EXPECT_EQ(std::ranges::count_if(ways, [](const std::string& way) { return way.ends_with(": [2]"); }), 1);
  EXPECT_EQ(std::ranges::count_if(ways, [](const std::string& way) { return way.ends_with(": answer/not_cited"); }), 1);
}

TEST_F(TurnTraceTest, ATurnThatBrokeOffSaysWhere) {
  world_.put_document("a.md", "Shipping takes three days.");
  world_.has_llm = true;
  world_.llm.say({"Three days [1], ", "and then"});
  world_.llm.fail_after(1, ErrorCode::kUnavailable);
  ASSERT_FALSE(world_.ask(kQuestion).report);
  const JsonObject trace = this->trace();
  EXPECT_EQ(trace.at("state"), "partial");
  ASSERT_EQ(trace.at("errors").as_array().size(), 1u);
  EXPECT_EQ(trace.at("errors").as_array().at(0).as_object().at("stage"), "llm");
  EXPECT_EQ(trace.at("errors").as_array().at(0).as_object().at("code"), "unavailable");
}

TEST_F(TurnTraceTest, HoldsNamesAndNumbersButNoTextOfAnybody) {
  world_.put_document("shipping.md", "# Shipping\n\nShipping takes three days, said the zanzibar.");
  world_.has_llm = true;
  world_.llm.say({"Three days, zanzibar says [1]."});
  ASSERT_TRUE(world_.ask("How many days does shipping take, zanzibar?").report);
  (void)trace();
  EXPECT_THAT(text_, Not(HasSubstr("zanzibar")));
  EXPECT_THAT(text_, HasSubstr("shipping.md"));
}

/// A separate service, with request ids and metrics.
class CountedTurns : public TurnTraceTest {
 protected:
  Result<answer::TurnReport> ask(const std::string& question, CallContext call = {}) {
    const retrieve::Retriever retriever({.embedder = world_.embedder,
                                         .vectors = world_.vectors,
                                         .keywords = world_.keywords,
                                         .chunks = world_.store,
                                         .metrics = &metrics_});
    const answer::AnswerService service({.retriever = retriever,
                                         .reader = world_.reader,
                                         .llm = world_.has_llm ? &world_.llm : nullptr,
                                         .conversations = world_.store,
                                         .clock = world_.clock,
                                         .metrics = &metrics_});
    answer::SilentListener quiet;
    return service.answer(call, {.workspace = world_.corpus().workspace, .corpus = world_.corpus().id, .text = question}, quiet);
  }
  std::string line(std::string_view series) {
    const std::string text = metrics_.render();
    const std::size_t at = text.find("\n" + std::string(series) + " ");
    if (at == std::string::npos) return "none";
    const std::size_t from = at + series.size() + 2;
    return text.substr(from, text.find('\n', from) - from);
  }

  Metrics metrics_;
};

TEST_F(CountedTurns, ATraceNamesTheRequestThatAskedForIt) {
  world_.put_document("a.md", "Shipping takes three days.");
  CallContext call;
  call.request_id = "my.request-1";
  call.trace = TraceContext::fresh();
  ASSERT_TRUE(ask(kQuestion, call));
  const JsonObject trace = this->trace();
  EXPECT_EQ(trace.at("request_id"), "my.request-1");
  EXPECT_EQ(trace.at("trace_id"), Json(call.trace.trace_id));
  EXPECT_EQ(trace.at("span_id"), Json(call.trace.span_id));
  EXPECT_TRUE(trace.at("conversation_id").is_null());
}

TEST_F(CountedTurns, TurnsAreCountedByHowTheyEnded) {
  world_.put_document("a.md", "Shipping takes three days.");
  ASSERT_TRUE(ask(kQuestion));
  ASSERT_TRUE(ask("Who painted the Night Watch?"));
  world_.has_llm = true;
  world_.llm.say({"__NO_GROUNDED_ANSWER__"});
  ASSERT_TRUE(ask(kQuestion));
  world_.llm.say({"Three days [1]."});
  ASSERT_TRUE(ask(kQuestion));
  world_.llm.fail_after(0, ErrorCode::kUnavailable);
  ASSERT_FALSE(ask(kQuestion));
  world_.llm.say({"Three days, ", "or so"});
  world_.llm.fail_after(1, ErrorCode::kUnavailable);
  ASSERT_FALSE(ask(kQuestion));
  EXPECT_EQ(line("footnote_turns_total{outcome=\"answer\"}"), "2");
  EXPECT_EQ(line("footnote_turns_total{outcome=\"refusal\"}"), "2");
  EXPECT_EQ(line("footnote_turns_total{outcome=\"failed\"}"), "1");
  EXPECT_EQ(line("footnote_turns_total{outcome=\"partial\"}"), "1");
  EXPECT_EQ(line("footnote_refusals_total{reason=\"no_relevant_context\"}"), "1");
  EXPECT_EQ(line("footnote_refusals_total{reason=\"llm_self_refusal\"}"), "1");
  EXPECT_EQ(line("footnote_refusals_total{reason=\"blocked_by_guardrails\"}"), "0") << "there before it happens";
  EXPECT_EQ(line("footnote_ttft_seconds_count"), "3") << "a refusal has no text";
  EXPECT_EQ(line("footnote_retrieval_duration_seconds_count{stage=\"embed\"}"), "6");
  EXPECT_EQ(line("footnote_answer_duration_seconds_count{stage=\"read\"}"), "1");
  EXPECT_EQ(line("footnote_answer_duration_seconds_count{stage=\"store\"}"), "5");
  EXPECT_EQ(line("footnote_turns_not_stored_total"), "0");
}

TEST_F(CountedTurns, ATurnThatCouldNotBeStoredIsCounted) {
  world_.put_document("a.md", "Shipping takes three days.");
  world_.store.finish_turn_faults().fail_after(0, ErrorCode::kUnavailable);
  EXPECT_TRUE(ask(kQuestion)) << "the answer was given";
  EXPECT_EQ(line("footnote_turns_not_stored_total"), "1");
}

}  // namespace
}  // namespace footnote::behaviour
