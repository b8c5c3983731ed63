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

/// Timeout for the check of one sentence; after it the sentence stays unchecked.
inline constexpr std::chrono::milliseconds kSentenceCheckTimeout{2'000};

/// A sentence and the numbers of the sources that it cites.
struct CheckTask {
  std::size_t sentence = 0;  ///< The caller's id for it.
  std::string claim;         ///< Plain, without markers.
  std::vector<int> numbers;
};

struct CheckOutcome {
  std::size_t sentence = 0;
  std::vector<int> numbers;
  std::optional<SupportVerdict> verdict;  ///< None: the check failed or timed out.
};

/// Checks one sentence against the sources it cites, synchronously. Returns no verdict if the check fails.
std::optional<SupportVerdict> check_sentence(const CallContext& call, const CitationCheck& check, std::span<const SourceBlock> sources,
                                             const CheckTask& task);

/// Checks the sentences of one answer on the shared lane, so that the stream does not wait. Used by one thread; borrows the lane, the check
/// and the sources until it is destroyed, which stops running checks.
class SentenceChecker {
 public:
  /// Bound on pending sentences of one answer; further ones are rejected.
  static constexpr std::size_t kOpenMax = 16;

  SentenceChecker(const CallContext& call, CheckLane& lane, const CitationCheck& check, std::span<const SourceBlock> sources);
  ~SentenceChecker();
  SentenceChecker(const SentenceChecker&) = delete;
  SentenceChecker& operator=(const SentenceChecker&) = delete;

  /// False if too many are pending, for this answer or on the lane.
  bool push(CheckTask task);
  /// The results since the last call, in the order of push. Does not wait.
  std::vector<CheckOutcome> take();
  /// Like take(), but waits until all are checked or the deadline has passed; the remaining checks are abandoned.
  std::vector<CheckOutcome> drain(std::chrono::steady_clock::time_point deadline);

 private:
  void check(CheckTask& task);
  void give_up_waiting();

  // Constant after construction.
  std::stop_source stop_;
  const CallContext call_;        ///< Cancelled when this is destroyed.
  const std::stop_token caller_;  ///< Stop token of the turn's call.
  CheckLane& lane_;
  const CitationCheck& check_;
  const std::span<const SourceBlock> sources_;

  Mutex mutex_;
  CondVar changed_;
  std::vector<CheckOutcome> done_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t open_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;  // queued or running on the lane
};

}  // namespace footnote::answer
