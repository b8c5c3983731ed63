#include "answer/sentence_checker.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "base/waiting.h"

namespace footnote::answer {

std::optional<SupportVerdict> check_sentence(const CallContext& call, const CitationCheck& check, std::span<const SourceBlock> sources,
                                             const CheckTask& task) {
  std::vector<std::string> about;
  std::vector<const SourceBlock*> cited;
  for (const int number : task.numbers) {
    const auto block = std::ranges::find(sources, number, &SourceBlock::number);
    if (block != sources.end()) cited.push_back(&*block);
  }
  for (const SourceBlock* block : cited) about.push_back(block->hit.document.title + "\n" + join(block->hit.chunk.heading_path, "\n"));
  std::vector<CitedPassage> passages;
  for (std::size_t i = 0; i < cited.size(); ++i) passages.push_back({cited[i]->hit.chunk.text, about[i]});
  if (passages.empty()) return std::nullopt;
  auto verdict = check.check(call.narrowed(kSentenceCheckTimeout), task.claim, passages);
  if (verdict) return *std::move(verdict);
  log(LogLevel::kDebug, "answer", "a sentence was not checked", call, {{"code", footnote::to_string(verdict.error().code)}});
  return std::nullopt;
}

namespace {

CallContext ending_with(CallContext call, const std::stop_source& stop) {
  call.stop = stop.get_token();
  return call;
}

}  // namespace

SentenceChecker::SentenceChecker(const CallContext& call, CheckLane& lane, const CitationCheck& check, std::span<const SourceBlock> sources)
    : call_(ending_with(call, stop_)), caller_(call.stop), lane_(lane), check_(check), sources_(sources) {}

SentenceChecker::~SentenceChecker() {
  stop_.request_stop();
  give_up_waiting();
  MutexLock lock(mutex_);
  while (open_ > 0) changed_.wait(lock);  // a cancelled check ends soon
}

bool SentenceChecker::push(CheckTask task) {
  {
    MutexLock lock(mutex_);
    if (open_ >= kOpenMax) return false;
    ++open_;
  }
  if (lane_.push(this, [this, task = std::move(task)]() mutable { check(task); })) return true;
  MutexLock lock(mutex_);
  --open_;
  return false;
}

void SentenceChecker::check(CheckTask& task) {
  auto verdict = check_sentence(call_, check_, sources_, task);
  MutexLock lock(mutex_);
  done_.push_back({task.sentence, std::move(task.numbers), std::move(verdict)});
  --open_;
  changed_.notify_all();  // under the lock: the waiter may destroy this object
}

void SentenceChecker::give_up_waiting() {
  const std::size_t given_up = lane_.withdraw(this);
  MutexLock lock(mutex_);
  open_ -= given_up;
}

std::vector<CheckOutcome> SentenceChecker::take() {
  MutexLock lock(mutex_);
  return std::exchange(done_, {});
}

std::vector<CheckOutcome> SentenceChecker::drain(std::chrono::steady_clock::time_point deadline) {
  {
    const Waiting waiting;
    MutexLock lock(mutex_);
    while (open_ > 0 && !caller_.stop_requested() && changed_.wait_until(lock, deadline)) {
    }
  }
  give_up_waiting();
  return take();
}

}  // namespace footnote::answer
