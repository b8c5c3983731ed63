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

/// Limits how many operations run at once for each name. Thread-safe; outlives its places.
class UnderWay {
 public:
  explicit UnderWay(std::size_t each_max) : each_max_(each_max) {}

  /// Counts as running until destroyed.
  class Place {
   public:
    Place(Place&& other) noexcept : of_(std::exchange(other.of_, nullptr)), name_(std::move(other.name_)) {}
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (of_ != nullptr) of_->leave(name_);
    }

   private:
    friend class UnderWay;
    Place(UnderWay& of, std::string name) : of_(&of), name_(std::move(name)) {}

    UnderWay* of_;
    std::string name_;
  };

  /// nullopt: the limit is reached.
  std::optional<Place> enter(std::string_view name) {
    const MutexLock lock(mutex_);
    std::size_t& count = counts_[std::string(name)];
    if (count >= each_max_) return std::nullopt;
    ++count;
    return Place(*this, std::string(name));
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
