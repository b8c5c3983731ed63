#pragma once

#include <deque>
#include <thread>

#include "answer/gap_replay.h"
#include "base/mutex.h"
#include "domain/catalog.h"
#include "ports/webhook_store.h"

namespace footnote::upkeep {

/// Runs the work that follows an ingest on a background thread: notifies webhooks and retries agents' open gaps.
class AfterIngest {
 public:
  struct Ports {
    const AgentStore& agents;
    ConversationStore& conversations;
    WebhookStore& webhooks;
    const Clock& clock;
    answer::WouldAnswer would_answer;
  };
  /// Bound on queued corpora, each queued once; past it the oldest is dropped.
  static constexpr std::size_t kWaitingMax = 256;

  /// Everything is borrowed.
  explicit AfterIngest(Ports ports);
  ~AfterIngest();

  /// Never blocks. Thread-safe.
  void changed(const Corpus& corpus);

 private:
  void run(const std::stop_token& stop);
  void follow(const CallContext& call, const Corpus& corpus);

  const Ports ports_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Corpus> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::jthread thread_;  ///< Last member: it uses the others.
};

}  // namespace footnote::upkeep
