#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer/store_lane.h"
#include "answer/turn_record.h"
#include "base/clock.h"
#include "base/metrics.h"

namespace footnote::answer {

/// Of one relayed answer; what comes after it reaches the client and is not stored.
inline constexpr std::size_t kRelayedTextBytesMax = 128 << 10;

/// What is known of a turn before a model server answers it.
struct RelayedQuestion {
  WorkspaceId workspace;
  CorpusId corpus;
  std::string text;
  Profile profile;
  retrieve::Retrieval retrieval;
  std::vector<std::size_t> given;  ///< Hits of the retrieval that stand in the prompt, by their numbers there.
};

/// How a model server's answer ended.
struct RelayedEnd {
  std::string model;
  std::optional<FinishReason> finish;
  std::optional<TokenCounts> tokens;  ///< None: it did not tell.
};

class RelayedTurns;

/// A turn whose answer a model server writes: it is passed on elsewhere, and collected here. Its functions are called one at a time, on
/// any thread; none waits. A turn that is destroyed before its end counts as cancelled.
class RelayedTurn {
 public:
  ~RelayedTurn();
  RelayedTurn(const RelayedTurn&) = delete;
  RelayedTurn& operator=(const RelayedTurn&) = delete;

  /// Empty: the turn is not stored. Valid as long as this lives, also after the end.
  std::string_view id() const;
  /// What the model server is asked; also when it is asked again.
  void on_prompt(std::size_t messages, std::size_t bytes);
  void on_text(std::string_view text);

  // The end; later calls do nothing.
  void finish(RelayedEnd end);
  /// What had come is stored as a partial answer. Without any text nothing is stored.
  void fail(const Error& error);
  /// No model was asked.
  void refuse(RefusalReason reason, std::string_view text);

 private:
  friend class RelayedTurns;
  RelayedTurn(RelayedTurns& turns, const CallContext& call, RelayedQuestion question, std::chrono::steady_clock::time_point began);

  std::chrono::microseconds since_start() const;
  void end(Outcome outcome);

  RelayedTurns& turns_;
  const CallContext call_;
  const TurnId id_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::microseconds asked_{0};  // when the model server was
  TurnReport report_;
  std::vector<SourceBlock> sources_;
  std::string text_;
  bool is_cut_ = false;
  bool has_ended_ = false;
};

/// The turns that model servers answer: stored, traced and counted like all others, after their last token, on a thread of their own.
/// Thread-safe; borrows its ports, and outlives its turns.
class RelayedTurns {
 public:
  struct Ports {
    ConversationStore& conversations;
    const Clock& clock;
    Metrics* metrics = nullptr;   ///< Null: nothing is counted.
    EventSink* events = nullptr;  ///< Hears every piece of an answer, and the turn's end.
    bool stored = true;           ///< False: turns are counted, not stored.
  };
  explicit RelayedTurns(const Ports& ports);

  /// `began`: when the question came.
  std::unique_ptr<RelayedTurn> begin(const CallContext& call, RelayedQuestion question, std::chrono::steady_clock::time_point began);
  bool wait_until_idle(std::chrono::steady_clock::time_point deadline) { return lane_.wait_until_idle(deadline); }

 private:
  friend class RelayedTurn;
  void store(const CallContext& call, TurnReport report);

  const Ports ports_;
  const std::unique_ptr<TurnMetrics> metrics_;
  const TurnRecordPorts record_;
  StoreLane lane_;
};

}  // namespace footnote::answer
