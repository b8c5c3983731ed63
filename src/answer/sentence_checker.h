#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "answer/check_lane.h"
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

/// Has the sentences of one answer checked on a lane that all answers share, so that its stream need not wait. Used by one thread; borrows
/// the lane, the check and the sources, and lets go of them when it ends, which stops what is under way.
class SentenceChecker {
 public:
  /// Sentences of one answer that may be open; one more is not taken.
  static constexpr std::size_t kOpenMax = 16;

  SentenceChecker(const CallContext& call, CheckLane& lane, const CitationCheck& check, std::span<const SourceBlock> sources);
  ~SentenceChecker();
  SentenceChecker(const SentenceChecker&) = delete;
  SentenceChecker& operator=(const SentenceChecker&) = delete;

  /// False when too many are open, of this answer or on the lane.
  bool push(CheckTask task);
  /// What has been checked since the last call, in the order of push. Does not wait.
  std::vector<CheckOutcome> take();
  /// The same when all are checked or the deadline has passed; those that are left are given up.
  std::vector<CheckOutcome> drain(std::chrono::steady_clock::time_point deadline);

 private:
  void check(CheckTask& task);
  void give_up_waiting();

  // Constant after construction.
  std::stop_source stop_;
  const CallContext call_;        ///< Ends with this.
  const std::stop_token caller_;  ///< Of the turn.
  CheckLane& lane_;
  const CitationCheck& check_;
  const std::span<const SourceBlock> sources_;

  Mutex mutex_;
  CondVar changed_;
  std::vector<CheckOutcome> done_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t open_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // on the lane, waiting or under way
};

}  // namespace footnote::answer
