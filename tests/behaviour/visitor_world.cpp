#include "visitor_world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario_file.h"

namespace footnote::behaviour {

namespace {

/// Timeout of the model that rewrites follow-ups: short, because a scenario may let it hang.
constexpr std::chrono::milliseconds kRewriterPatience{50};

}  // namespace

Result<void> VisitorRecorder::on_start(const TurnId& turn) {
  EXPECT_TRUE(events_.empty()) << "a turn starts once, before anything else";
  EXPECT_TRUE(turn);
  writes_at_start_ = store_.writes();
  events_.emplace_back("start");
  return {};
}

Result<void> VisitorRecorder::on_progress(answer::Progress progress) {
  events_.push_back("stage " + std::string(to_string(progress)));
  if (stops_after == 0u && progress == answer::Progress::kThinking) stop.request_stop();
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

Result<void> VisitorRecorder::on_withdraw(const answer::Withdrawal& withdrawal) {
  EXPECT_FALSE(withdrawal.notice.empty());
  events_.push_back("withdrawn " + std::string(answer::to_string(withdrawal.reason)));
  withdrawn_ += std::exchange(text_, {});
  return {};
}

VisitorWorld::VisitorWorld() {
  world.store.tell_to(webhooks);
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
  const answer::CitationCheck citation_check(world.embedder, &world.reranker);
  answer::CheckLane check_lane;
  const answer::VisitorService service({.retriever = site,
                                        .reader = world.reader,
                                        .model_reader = has_model_reader ? &world.reader : nullptr,
                                        .llm = world.has_llm ? &world.llm : nullptr,
                                        .judge = has_judge ? &world.reranker : nullptr,
                                        .conversations = world.store,
                                        .agents = agents,
                                        .cache = &cache,
                                        .clock = world.clock,
                                        .checking = {&citation_check, world.check, &check_lane},
                                        .events = &world.store,
                                        .follow_ups = {has_rewriter ? &rewriter : nullptr, kRewriterPatience},
                                        .embedder = &world.embedder});
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
  for (const CorpusId corpus : corpora) question.corpora.push_back({corpus, profile});
  const std::size_t llm_calls = world.llm.calls();
  const std::size_t embedder_calls = world.embedder.faults().calls();
  const std::size_t judge_calls = world.reranker.faults().calls();
  const std::vector<std::string> passed_before = world.store.passed();
  auto report = service.answer({.stop = recorder.stop.get_token()}, question, recorder);
  world.clock.advance(std::chrono::seconds{1});
  EXPECT_EQ(world.llm.running() + rewriter.running(), 0u) << "no call to a model outlives its turn";
  Visited visited{std::move(report),
                  recorder.events(),
                  recorder.text(),
                  recorder.withdrawn(),
                  world.llm.calls() - llm_calls,
                  world.embedder.faults().calls() - embedder_calls,
                  world.reranker.faults().calls() - judge_calls};
  expect_events(visited, passed_before);
  return visited;
}

/// Every piece that the client received passed through the event sink; then the end of the turn, if it is stored and counted.
void VisitorWorld::expect_events(const Visited& visited, const std::vector<std::string>& before) const {
  std::vector<std::string> passed = world.store.passed();
  passed.erase(passed.begin(), passed.begin() + static_cast<std::ptrdiff_t>(before.size()));
  const bool is_completed = !passed.empty() && passed.back() == "completed";
  if (is_completed) passed.pop_back();
  std::string tokens;
  for (const std::string& event : passed) {
    EXPECT_TRUE(event.starts_with("token ")) << event;
    tokens += event.substr(std::string_view("token ").size());
  }
  EXPECT_EQ(tokens, visited.withdrawn + visited.heard);
  if (!visited.report) return;
  const auto stored = world.store.turn({}, world.workspace(), visited.turn().id);
  EXPECT_EQ(is_completed, stored && !stored->visit->playground);
}

namespace {

std::string_view outcome_name(const Turn& turn) {
  if (turn.visit->curated) return "curated";
  if (turn.state == TurnState::kPartial) return "partial";
  const auto* refusal = std::get_if<Refusal>(&turn.outcome);
  return refusal == nullptr ? "answer" : to_string(refusal->reason);
}

}  // namespace

std::string render_site(const VisitorWorld& site) {
  const fakes::MemoryStore& store = site.world.store;
  const WorkspaceId workspace = site.world.workspace();
  std::string out = fmt::format("turns {}\n", store.all_turns().size());
  const auto usage = store.agent_usage({}, workspace, site.agent(), 1).value();
  for (const AgentUsageDay& day : usage) {
    out += fmt::format("usage turns {}, curated {}, refused {}, tokens {} + {}\n", day.turns, day.curated, day.refused, day.prompt_tokens,
                       day.completion_tokens);
  }
  const auto gaps = store.agent_gaps({}, workspace, site.agent(), std::nullopt, 100).value();
  for (const AgentGap& gap : gaps) {
    out += fmt::format("gap {} {} {} x{}\n", to_string(gap.status), in_quotes(gap.question), to_string(gap.reason), gap.occurrences);
  }
  const auto due = site.webhooks.due({}, site.world.clock.now(), 100).value();
  for (const WebhookDelivery& delivery : due) out += "webhook " + delivery.news.type + "\n";
  const std::vector<Event> events = store.all_events();
  for (const Event& event : events) out += "event " + event.type + "\n";
  return out;
}

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
  if (visited.report->fallback) out += fmt::format("fallback {}\n", answer::to_string(*visited.report->fallback));
  out += fmt::format("confidence {:.2f}{}\n", visit.confidence, visit.low_confidence ? " low" : "");
  for (const std::string& flag : visit.flags) out += "flag " + flag + "\n";
  if (visit.gap) out += fmt::format("gap {}\n", to_string(*visit.gap));
  if (!visited.report->trace.follow_up.empty()) out += fmt::format("follow_up by {}\n", visited.report->trace.follow_up);
  for (const answer::TraceError& error : visited.report->trace.errors) {
    out += fmt::format("trace {} {}\n", to_string(error.stage), to_string(error.error.code));
  }
  out += fmt::format("calls: embedder {}, judge {}, llm {}\n", visited.embedder_calls, visited.judge_calls, visited.llm_calls);
  return out;
}

}  // namespace footnote::behaviour
