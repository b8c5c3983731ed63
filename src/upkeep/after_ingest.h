#pragma once

#include <deque>
#include <thread>

#include "answer/gap_replay.h"
#include "base/mutex.h"
#include "domain/catalog.h"
#include "ports/webhook_store.h"

namespace footnote::upkeep {

/// What follows an ingest and that nobody waits for, on a thread of its own: webhooks hear of it, and agents' open gaps are tried again.
class AfterIngest {
 public:
  struct Ports {
    const AgentStore& agents;
    ConversationStore& conversations;
    WebhookStore& webhooks;
    const Clock& clock;
    answer::WouldAnswer would_answer;
  };
  /// Corpora that wait, each once; past it the oldest is not looked at.
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
  std::jthread thread_;  ///< Last: it uses the rest.
};

}  // namespace footnote::upkeep
