#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"

namespace footnote::api {

/// Limits how many operations run at the same time under one name (a visitor, an address). Thread-safe; outlives its slots.
class ConcurrencyLimit {
 public:
  explicit ConcurrencyLimit(std::size_t each_max) : each_max_(each_max) {}

  /// Counts as running until destroyed.
  class Slot {
   public:
    Slot(Slot&& other) noexcept : limit_(std::exchange(other.limit_, nullptr)), name_(std::move(other.name_)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (limit_ != nullptr) limit_->leave(name_);
    }

   private:
    friend class ConcurrencyLimit;
    Slot(ConcurrencyLimit& limit, std::string name) : limit_(&limit), name_(std::move(name)) {}

    ConcurrencyLimit* limit_;
    std::string name_;
  };

  /// nullopt: the limit is reached.
  std::optional<Slot> enter(std::string_view name) {
    const MutexLock lock(mutex_);
    std::size_t& count = counts_[std::string(name)];
    if (count >= each_max_) return std::nullopt;
    ++count;
    return Slot(*this, std::string(name));
  }

 private:
  void leave(const std::string& name) {
    const MutexLock lock(mutex_);
    const auto found = counts_.find(name);
    if (--found->second == 0) counts_.erase(found);
  }

  const std::size_t each_max_;
  Mutex mutex_;
  std::map<std::string, std::size_t, std::less<>> counts_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::api
