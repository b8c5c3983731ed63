#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "answer/citation_check.h"
#include "base/call_context.h"
#include "base/mutex.h"
#include "domain/answer.h"

namespace footnote::answer {

/// How long the check of one sentence may take; past it the sentence stays unchecked.
inline constexpr std::chrono::milliseconds kSentenceCheckTimeout{2'000};

/// A sentence and the numbers of the sources that it cites.
struct CheckTask {
  std::size_t sentence = 0;  ///< The caller's name for it.
  std::string claim;         ///< Plain, without markers.
  std::vector<int> numbers;
};

struct CheckOutcome {
  std::size_t sentence = 0;
  std::vector<int> numbers;
  std::optional<SupportVerdict> verdict;  ///< None: the check failed or ran out of time.
};

/// Checks one sentence against the sources that it cites, here and now. An error of the check is no verdict.
std::optional<SupportVerdict> check_sentence(const CallContext& call, const CitationCheck& check, std::span<const SourceBlock> sources,
                                             const CheckTask& task);

/// Checks sentences one after the other on a thread of its own, so that a stream need not wait. Used by one thread; borrows the check
/// and the sources, and lets go of both when it ends, which stops what is under way.
class SentenceChecker {
 public:
  /// Sentences that wait; one more is not taken.
  static constexpr std::size_t kWaitingMax = 16;

  SentenceChecker(const CallContext& call, const CitationCheck& check, std::span<const SourceBlock> sources)
      : call_(call), check_(check), sources_(sources) {}
  ~SentenceChecker();
  SentenceChecker(const SentenceChecker&) = delete;
  SentenceChecker& operator=(const SentenceChecker&) = delete;

  /// False when too many wait.
  bool push(CheckTask task);
  /// What has been checked since the last call, in the order of push. Does not wait.
  std::vector<CheckOutcome> take();
  /// The same when all are checked or the deadline has passed; those that are left are given up.
  std::vector<CheckOutcome> drain(std::chrono::steady_clock::time_point deadline);

 private:
  void run(const std::stop_token& stop);

  // Constant after construction.
  const CallContext call_;
  const CitationCheck& check_;
  const std::span<const SourceBlock> sources_;

  Mutex mutex_;
  CondVar changed_;
  std::deque<CheckTask> waiting_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<CheckOutcome> done_ FOOTNOTE_TSA(guarded_by(mutex_));
  bool busy_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;

  std::jthread thread_;  ///< From the first push on.
};

}  // namespace footnote::answer
