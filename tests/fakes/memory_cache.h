#pragma once

#include <map>

#include "base/clock.h"
#include "base/mutex.h"
#include "ports/cache.h"

namespace footnote::fakes {

/// Keeps entries in memory until they expire by the given clock; beyond `entries_max` the oldest entry is evicted. Thread-safe.
class MemoryCache final : public Cache {
 public:
  explicit MemoryCache(const Clock& clock, std::size_t entries_max = 1000) : clock_(clock), entries_max_(entries_max) {}

  std::optional<std::string> get(const CallContext& call, std::string_view key) override;
  void put(const CallContext& call, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) override;
  void drop_tag(const CallContext& call, std::string_view tag) override;

  std::size_t size() const;

 private:
  struct Entry {
    std::string tag;
    std::string value;
    UtcTime expires_at;
    std::uint64_t sequence = 0;
  };

  const Clock& clock_;
  const std::size_t entries_max_;
  mutable Mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::uint64_t sequence_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote::fakes
