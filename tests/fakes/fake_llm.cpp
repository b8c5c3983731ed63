#include "fakes/fake_llm.h"

#include <algorithm>

#include "fakes/hang.h"
#include "fakes/words.h"

namespace footnote::fakes {

/// Counts a call as running for a scope.
class FakeLlm::Running {
 public:
  explicit Running(FakeLlm& llm) : llm_(llm) { add(1); }
  ~Running() { add(-1); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  void add(int by) {
    MutexLock lock(llm_.mutex_);
    llm_.running_ += static_cast<std::size_t>(by);
  }
  FakeLlm& llm_;
};

FakeLlm::Script FakeLlm::begin(const ChatRequest& request) {
  MutexLock lock(mutex_);
  ++calls_;
  last_request_ = request;
  return script_;
}

Result<ChatEnd> FakeLlm::stream(const CallContext& call, const ChatRequest& request,
                                const std::function<Result<void>(std::string_view)>& on_text) {
  const Script script = begin(request);
  const Running running(*this);
  for (std::size_t i = 0; i <= script.pieces.size(); ++i) {
    FOOTNOTE_CHECK(call.check());
    if (script.fail_after && i >= *script.fail_after) return fail(script.code, "a fault put in by the test");
    if (script.hang_after && i >= *script.hang_after) return std::unexpected(hang_until_stopped(call));
    if (i < script.pieces.size()) FOOTNOTE_CHECK(on_text(script.pieces[i]));
  }
  std::int64_t prompt_tokens = 0;
  for (const ChatMessage& message : request.messages) prompt_tokens += static_cast<std::int64_t>(words_of(message.content).size());
  return ChatEnd{script.finish, model_, TokenCounts{prompt_tokens, static_cast<std::int64_t>(script.pieces.size())}};
}

void FakeLlm::say(std::vector<std::string> pieces, FinishReason finish) {
  MutexLock lock(mutex_);
  script_ = {};
  script_.pieces = std::move(pieces);
  script_.finish = finish;
}

void FakeLlm::fail_after(std::size_t pieces, ErrorCode code) {
  MutexLock lock(mutex_);
  script_.fail_after = pieces;
  script_.code = code;
}

void FakeLlm::hang_after(std::size_t pieces) {
  MutexLock lock(mutex_);
  script_.hang_after = pieces;
}

std::size_t FakeLlm::calls() const {
  MutexLock lock(mutex_);
  return calls_;
}

std::size_t FakeLlm::running() const {
  MutexLock lock(mutex_);
  return running_;
}

ChatRequest FakeLlm::last_request() const {
  MutexLock lock(mutex_);
  return last_request_;
}

}  // namespace footnote::fakes
