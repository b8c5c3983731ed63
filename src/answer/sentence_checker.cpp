#include "answer/sentence_checker.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"

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

SentenceChecker::~SentenceChecker() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mutex_);
    thread_.request_stop();
  }
  changed_.notify_all();
}

bool SentenceChecker::push(CheckTask task) {
  {
    MutexLock lock(mutex_);
    if (waiting_.size() >= kWaitingMax) return false;
    waiting_.push_back(std::move(task));
  }
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  changed_.notify_all();
  return true;
}

std::vector<CheckOutcome> SentenceChecker::take() {
  MutexLock lock(mutex_);
  return std::exchange(done_, {});
}

std::vector<CheckOutcome> SentenceChecker::drain(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while ((busy_ || !waiting_.empty()) && !call_.stop.stop_requested()) {
    if (!changed_.wait_until(lock, deadline)) break;
  }
  waiting_.clear();
  return std::exchange(done_, {});
}

void SentenceChecker::run(const std::stop_token& stop) {
  CallContext call = call_;
  call.stop = stop;
  for (;;) {
    CheckTask task;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stop.stop_requested()) changed_.wait(lock);
      if (stop.stop_requested()) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
    }
    auto verdict = check_sentence(call, check_, sources_, task);
    {
      MutexLock lock(mutex_);
      busy_ = false;
      done_.push_back({task.sentence, std::move(task.numbers), std::move(verdict)});
    }
    changed_.notify_all();
  }
}

}  // namespace footnote::answer
