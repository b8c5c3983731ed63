#pragma once

#include <memory>
#include <optional>
#include <thread>

#include "access/keys.h"
#include "app/answer_parts.h"
#include "app/points_door.h"
#include "ingest/index_lag.h"
#include "upkeep/after_ingest.h"
#include "upkeep/graph_keeper.h"
#include "upkeep/index_rebuilder.h"
#include "upkeep/scale_keeper.h"
#include "upkeep/store_copies.h"
#include "upkeep/webhook_sender.h"

namespace footnote::app {

/// Background work of a server: rebuilds, snapshots, webhooks, retesting gaps, and maintenance once a minute. Nothing runs until it is
/// started.
class UpkeepParts {
 public:
  /// Borrows the parts.
  UpkeepParts(const Settings& settings, AnswerParts& parts, PointsDoor& points, access::Keys& keys);
  /// Stops the maintenance and saves key usage.
  ~UpkeepParts();

  /// Starts webhooks, and retesting of gaps after an ingest. REQUIRES: before the first ingest.
  void start_agent_work();
  /// Once a minute, on a thread: removes expired notes and turns, purges data deleted long ago from the store and the indexes, saves key
  /// usage and indexes that changed much. Also starts the threads that build graphs for large corpora, if enabled, and that fit the scales
  /// of models that are not built in.
  void start_maintenance();
  /// Stops what start_maintenance started and waits for it.
  void stop_maintenance();

  upkeep::IndexRebuilder& rebuilder() { return rebuilder_; }
  upkeep::StoreCopies& copies() { return copies_; }
  std::vector<std::string> not_ready_reasons() const;
  /// Updates gauges that are polled rather than counted.
  void refresh_metrics(const CallContext& call);

 private:
  Result<bool> would_answer(const CallContext& call, const AgentSettings& settings, std::string_view question) const;
  void maintain(const std::stop_token& stop);
  void sweep_memories(const std::stop_token& stop);
  void erase_old_turns(const std::stop_token& stop);
  void purge_all(const std::stop_token& stop);
  void save_key_usage();
  void mark_clock();
  void start_scales();

  AnswerParts& parts_;
  IngestParts& base_;
  PointsDoor& points_;
  access::Keys& keys_;
  const int chat_days_;  // 0: conversations are kept
  const bool graphs_on_;
  const bool scales_on_;
  const http::Addresses webhook_addresses_;
  const std::uint64_t free_bytes_min_;
  ingest::IndexLag lag_;
  upkeep::IndexRebuilder rebuilder_;
  upkeep::StoreCopies copies_;
  std::unique_ptr<upkeep::WebhookSender> webhooks_;  ///< Both are null until start_agent_work.
  std::unique_ptr<upkeep::AfterIngest> after_ingest_;
  std::optional<upkeep::GraphKeeper> graphs_;
  std::optional<upkeep::ScaleKeeper> scales_;  ///< None if all models are built in.
  std::jthread maintenance_;
};

}  // namespace footnote::app
