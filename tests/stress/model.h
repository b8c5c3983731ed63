#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"

namespace footnote::stress {

/// The history of one document: a sequence of steps, each of which puts a revision or deletes the document. One thread at a time takes
/// steps; any number of threads read. A read may see the state after any step between (a) the last step acknowledged before the read began
/// and (b) the last step begun before the read ended, and nothing else.
class DocumentModel {
 public:
  /// A step begins; its number is the revision that it puts.
  int begin(bool puts) {
    MutexLock lock(mutex_);
    puts_.push_back(puts);
    return static_cast<int>(puts_.size()) - 1;
  }
  void acknowledge(int step) {
    MutexLock lock(mutex_);
    acknowledged_ = step;
  }
  int acknowledged() const {
    MutexLock lock(mutex_);
    return acknowledged_;
  }

  /// Whether a read that began at `since` may see `seen` (a revision, or nothing). The steps in between may have begun without being
  /// acknowledged.
  bool allows(std::optional<int> seen, int since) const {
    MutexLock lock(mutex_);
    const int begun = static_cast<int>(puts_.size()) - 1;
    if (seen) return *seen >= since && *seen <= begun && puts_[static_cast<std::size_t>(*seen)];
    for (int step = since; step <= begun; ++step) {
      if (!puts_[static_cast<std::size_t>(step)]) return true;
    }
    return false;
  }

 private:
  mutable Mutex mutex_;
  std::vector<bool> puts_ FOOTNOTE_TSA(guarded_by(mutex_)) = {false};  ///< Step 0: the document does not exist.
  int acknowledged_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::stress
