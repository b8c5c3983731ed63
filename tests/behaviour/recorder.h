#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/answer_service.h"
#include "fakes/memory_store.h"

namespace footnote::behaviour {

/// How the client of one turn behaves.
struct ClientPlan {
  std::optional<std::size_t> leaves_after;  ///< It disconnects after this text.
  std::optional<std::size_t> stops_after;   ///< It requests a stop with this text.
};

/// A client that records the events of a turn, and checks what must hold for every turn.
class Recorder final : public answer::TurnListener {
 public:
  Recorder(const ClientPlan& plan, const fakes::MemoryStore& store) : plan_(plan), store_(store) {}

  Result<void> on_start(const TurnId& turn) override;
  Result<void> on_sources(std::span<const SourceBlock> sources) override;
  Result<void> on_text(std::string_view text) override;
  Result<void> on_withdraw(const answer::Withdrawal& withdrawal) override;

  CallContext call() const { return {.stop = stop_.get_token()}; }
  const std::vector<std::string>& events() const { return events_; }
  /// All texts joined; withdrawn ones are forgotten.
  const std::string& text() const { return text_; }

 private:
  const ClientPlan plan_;
  const fakes::MemoryStore& store_;
  std::stop_source stop_;
  std::vector<std::string> events_;
  std::string text_;
  std::size_t texts_ = 0;
  std::size_t writes_at_start_ = 0;
  bool has_sources_ = false;
};

}  // namespace footnote::behaviour
