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

/// Bound on the stored text of one relayed answer; text past it reaches the client but is not stored.
inline constexpr std::size_t kRelayedTextBytesMax = 128 << 10;

/// What is known about a turn before the model server answers.
struct RelayedQuestion {
  WorkspaceId workspace;
  CorpusId corpus;
  std::string text;
  Profile profile;
  retrieve::Retrieval retrieval;
  std::vector<std::size_t> given;  ///< Indexes of the retrieved hits in the prompt, in the order of their source numbers.
};

/// How a model server's answer ended.
struct RelayedEnd {
  std::string model;
  std::optional<FinishReason> finish;
  std::optional<TokenCounts> tokens;  ///< None: it did not report them.
};

class RelayedTurns;

/// A turn whose answer comes from a model server: the text is forwarded elsewhere and collected here. Calls must not overlap but may come
/// from any thread; none blocks. Destroying a turn before its end counts as cancelling it.
class RelayedTurn {
 public:
  ~RelayedTurn();
  RelayedTurn(const RelayedTurn&) = delete;
  RelayedTurn& operator=(const RelayedTurn&) = delete;

  /// Empty: the turn is not stored. Valid for the lifetime of this object, also after the end.
  std::string_view id() const;
  /// The prompt is sent to the model server; call again on a retry.
  void on_prompt(std::size_t messages, std::size_t bytes);
  void on_text(std::string_view text);

  // These end the turn; later calls do nothing.
  void finish(RelayedEnd end);
  /// Stores the text so far as a partial answer; stores nothing if there is no text.
  void fail(const Error& error);
  /// For a refusal without a model call.
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
  std::chrono::microseconds asked_{0};  // when the model server was called
  TurnReport report_;
  std::vector<SourceBlock> sources_;
  std::string text_;
  bool is_cut_ = false;
  bool has_ended_ = false;
};

/// Turns answered by model servers: stored, traced and counted like all others, after their last token, on a separate thread. Thread-safe;
/// borrows its ports and must outlive its turns.
class RelayedTurns {
 public:
  struct Ports {
    ConversationStore& conversations;
    const Clock& clock;
    Metrics* metrics = nullptr;   ///< Null: no metrics.
    EventSink* events = nullptr;  ///< Receives every piece of an answer and the end of the turn.
    bool stored = true;           ///< False: turns are counted but not stored.
  };
  explicit RelayedTurns(const Ports& ports);

  /// `began`: when the question arrived.
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
