#pragma once

#include <memory>

#include "answer/relayed_turn.h"
#include "base/json.h"

namespace footnote::api {

/// Reads a model server's completion, whole or in chunks, to store it as a turn. Does nothing without a turn.
class RelayedTurnTap {
 public:
  /// `turn` may be null.
  explicit RelayedTurnTap(std::unique_ptr<answer::RelayedTurn> turn) : turn_(std::move(turn)) {}

  /// Called for each request to the upstream, also for a retry under another model name.
  void on_request(const JsonObject& body, std::size_t bytes);
  /// Takes a chunk or a whole completion: its first choice, model and usage.
  void take(const JsonObject& completion);
  /// Adds {"footnote": {"turn_id"}} to a chunk or a completion, if the turn is stored.
  void sign(JsonObject& completion) const;

  void finish();
  void fail(const Error& error);

 private:
  void take_choice(const JsonObject& choice);

  std::unique_ptr<answer::RelayedTurn> turn_;
  answer::RelayedEnd end_;
};

}  // namespace footnote::api
