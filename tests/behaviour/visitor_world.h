#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "answer/visitor_turn.h"
#include "fakes/memory_agent_store.h"
#include "fakes/memory_cache.h"
#include "fakes/memory_webhook_store.h"
#include "world.h"

namespace footnote::behaviour {

/// Records what a visitor's client receives, as lines, and checks what must hold for every turn.
class VisitorRecorder final : public answer::TurnListener {
 public:
  explicit VisitorRecorder(const fakes::MemoryStore& store) : store_(store) {}

  Result<void> on_start(const TurnId& turn) override;
  Result<void> on_progress(answer::Progress progress) override;
  Result<void> on_sources(std::span<const SourceBlock> sources) override;
  Result<void> on_text(std::string_view text) override;
  Result<void> on_withdraw(const answer::Withdrawal& withdrawal) override;

  /// With this text the visitor requests a stop; 0: before any text.
  std::optional<std::size_t> stops_after = {};
  std::stop_source stop;
  const std::vector<std::string>& events() const { return events_; }
  const std::string& text() const { return text_; }
  const std::string& withdrawn() const { return withdrawn_; }

 private:
  const fakes::MemoryStore& store_;
  std::vector<std::string> events_;
  std::string text_;
  std::string withdrawn_;
  std::size_t texts_ = 0;
  std::size_t writes_at_start_ = 0;
};

/// How a visitor's message ended.
struct Visited {
  Result<answer::TurnReport> report;
  std::vector<std::string> events;
  std::string heard;
  std::string withdrawn;  ///< Heard before that, and taken back.
  std::size_t llm_calls = 0;
  std::size_t embedder_calls = 0;
  std::size_t judge_calls = 0;

  const Turn& turn() const { return report->turn; }
  const Visit& visit() const { return *report->turn.visit; }
};

/// What `visit` prints: how it ended, what the client received, the confidence and why it is low, the gap, which models were called.
std::string render(const Visited& visited);

class VisitorWorld;
/// What is stored about all visits: usage, gaps, webhook messages, events.
std::string render_site(const VisitorWorld& site);

/// The world with an agent on the site https://shop.example and a visitor.
class VisitorWorld {
 public:
  VisitorWorld();

  Visited ask(const std::string& message);
  void add_curated(CuratedAnswer answer);
  const AgentId& agent() const { return agent_; }
  std::string last_prompt() const { return world.last_prompt(); }

  World world;
  fakes::MemoryCache cache{world.clock};
  fakes::MemoryAgentStore agents{world.store, world.clock};
  fakes::MemoryWebhookStore webhooks{world.clock};
  AgentSettings settings;  ///< The agent's settings; changes apply from the next message on.
  std::vector<CorpusId> corpora;
  ConversationId conversation{"conv_1"};
  std::string page_url;
  std::optional<answer::PageContext> page;
  bool page_was_dropped = false;
  std::string locale = "en";
  std::string accept_language;
  bool playground = false;
  bool has_judge = true;
  bool has_model_reader = false;  ///< True: the world's reader takes the role of the trained reader.
  Profile profile = kVisitorProfile;
  std::optional<std::size_t> stops_after;
  fakes::FakeLlm rewriter{"small"};
  bool has_rewriter = false;

 private:
  void expect_events(const Visited& visited, const std::vector<std::string>& before) const;

  AgentId agent_;
};

}  // namespace footnote::behaviour
