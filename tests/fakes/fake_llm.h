#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "ports/llm.h"

namespace footnote::fakes {

/// A scripted language model. Thread-safe.
class FakeLlm final : public Llm {
 public:
  explicit FakeLlm(std::string model = "fake-model") : model_(std::move(model)) {}

  std::string model() const override { return model_; }
  Result<ChatEnd> stream(const CallContext& call, const ChatRequest& request,
                         const std::function<Result<void>(std::string_view)>& on_text) override;

  /// Every later call streams these pieces.
  void say(std::vector<std::string> pieces, FinishReason finish = FinishReason::kStop);
  /// Every later call fails after `pieces` pieces.
  void fail_after(std::size_t pieces, ErrorCode code);
  /// Every later call hangs after `pieces` pieces, until it is cancelled or its deadline passes.
  void hang_after(std::size_t pieces);

  std::size_t calls() const;
  /// Calls in progress: 0 after every stream has been released.
  std::size_t running() const;
  /// The last call's request. REQUIRES: calls() > 0.
  ChatRequest last_request() const;

 private:
  struct Script {
    std::vector<std::string> pieces;
    FinishReason finish = FinishReason::kStop;
    std::optional<std::size_t> fail_after;
    ErrorCode code = ErrorCode::kUnavailable;
    std::optional<std::size_t> hang_after;
  };
  class Running;
  Script begin(const ChatRequest& request);

  const std::string model_;
  mutable Mutex mutex_;
  Script script_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::size_t running_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  ChatRequest last_request_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::fakes
