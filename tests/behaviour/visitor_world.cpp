#include "visitor_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario_file.h"

namespace footnote::behaviour {

Result<void> VisitorRecorder::on_start(const TurnId& turn) {
  EXPECT_TRUE(events_.empty()) << "a turn starts once, before anything else";
  EXPECT_TRUE(turn);
  writes_at_start_ = store_.writes();
  events_.emplace_back("start");
  return {};
}

Result<void> VisitorRecorder::on_stage(std::string_view stage) {
  events_.push_back("stage " + std::string(stage));
  return {};
}

Result<void> VisitorRecorder::on_sources(std::span<const SourceBlock> sources) {
  events_.push_back("sources " + std::to_string(sources.size()));
  return {};
}

Result<void> VisitorRecorder::on_text(std::string_view text) {
  EXPECT_EQ(store_.writes(), writes_at_start_) << "nothing is written between the first and the last text";
  events_.push_back("text " + in_quotes(text));
  text_ += text;
  if (stops_after && ++texts_ == *stops_after) stop.request_stop();
  return {};
}

VisitorWorld::VisitorWorld() {
  settings.corpora = {world.corpus().id};
  corpora = settings.corpora;
  agent_ = agents.add_agent({}, world.workspace(), "Shop", settings).value().id;
}

void VisitorWorld::add_curated(CuratedAnswer answer) {
  answer.agent = agent_;
  const std::vector<CuratedAnswer> answers{std::move(answer)};
  const auto saved = agents.save_curated({}, world.workspace(), agent_, answers);
  EXPECT_TRUE(saved) << saved.error().message;
}

Visited VisitorWorld::ask(const std::string& message) {
  const retrieve::Retriever retriever(
      {world.embedder, world.vectors, world.keywords, world.store, nullptr, has_judge ? static_cast<Reranker*>(&world.reranker) : nullptr});
  const retrieve::SiteRetriever site({retriever, world.vectors, world.keywords, world.store, &cache, "fake", "judge"});
  const answer::VisitorService service({.retriever = site,
                                        .reader = world.reader,
                                        .llm = world.has_llm ? &world.llm : nullptr,
                                        .judge = has_judge ? &world.reranker : nullptr,
                                        .conversations = world.store,
                                        .agents = agents,
                                        .cache = &cache,
                                        .clock = world.clock});
  VisitorRecorder recorder(world.store);
  recorder.stops_after = stops_after;
  answer::VisitorQuestion question{.agent = {.id = agent_,
                                             .workspace = world.workspace(),
                                             .name = "Shop",
                                             .version = 1,
                                             .settings = settings,
                                             .published_at = world.clock.now()},
                                   .corpora = {},
                                   .visitor = {"vis_1"},
                                   .conversation = conversation,
                                   .text = message,
                                   .page_url = page_url,
                                   .page = page,
                                   .page_was_dropped = page_was_dropped,
                                   .locale = locale,
                                   .accept_language = accept_language,
                                   .playground = playground,
                                   .stopped = recorder.stop.get_token()};
  for (const CorpusId corpus : corpora) question.corpora.push_back({corpus, kVisitorProfile});
  const std::size_t llm_calls = world.llm.calls();
  const std::size_t embedder_calls = world.embedder.faults().calls();
  const std::size_t judge_calls = world.reranker.faults().calls();
  auto report = service.answer({.stop = recorder.stop.get_token()}, question, recorder);
  world.clock.advance(std::chrono::seconds{1});
  return {std::move(report),
          recorder.events(),
          recorder.text(),
          world.llm.calls() - llm_calls,
          world.embedder.faults().calls() - embedder_calls,
          world.reranker.faults().calls() - judge_calls};
}

namespace {

std::string_view outcome_name(const Turn& turn) {
  if (turn.visit->curated) return "curated";
  if (turn.state == TurnState::kPartial) return "partial";
  const auto* refusal = std::get_if<Refusal>(&turn.outcome);
  return refusal == nullptr ? "answer" : to_string(refusal->reason);
}

}  // namespace

std::string render(const Visited& visited) {
  if (!visited.report) return fmt::format("error {}\n", to_string(visited.report.error().code));
  const Visit& visit = visited.visit();
  std::string out = fmt::format("{} {}\n", outcome_name(visited.turn()), in_quotes(visited.heard));
  if (const auto* answer = std::get_if<Answer>(&visited.turn().outcome)) {
    for (const Citation& citation : answer->citations) {
      const auto source = std::ranges::find(answer->sources, citation.number, &SourceBlock::number);
      out += fmt::format("cites [{}] {}\n", citation.number, source->hit.document_key);
    }
  }
  out += fmt::format("confidence {:.2f}{}\n", visit.confidence, visit.low_confidence ? " low" : "");
  for (const std::string& flag : visit.flags) out += "flag " + flag + "\n";
  if (visit.gap) out += fmt::format("gap {}\n", to_string(*visit.gap));
  out += fmt::format("calls: embedder {}, judge {}, llm {}\n", visited.embedder_calls, visited.judge_calls, visited.llm_calls);
  return out;
}

}  // namespace footnote::behaviour
