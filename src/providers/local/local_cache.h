#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "ports/cache.h"

namespace footnote {

/// An in-process LRU cache. An entry larger than the whole cache is not stored. Thread-safe; blocks only for its lock. Borrows the clock.
class LocalCache final : public Cache {
 public:
  static constexpr std::size_t kBytesMaxDefault = 64 << 20;

  explicit LocalCache(const Clock& clock, std::size_t bytes_max = kBytesMaxDefault) : clock_(clock), bytes_max_(bytes_max) {}

  std::optional<std::string> get(const CallContext& call, std::string_view key) override;
  void put(const CallContext& call, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) override;
  void drop_tag(const CallContext& call, std::string_view tag) override;

  /// Size of all entries, including their overhead.
  std::size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    std::string tag;
    std::string value;
    UtcTime expires_at;
  };
  using Entries = std::list<Entry>;  // most recently used first

  static std::size_t bytes_of(const Entry& entry);
  void erase(Entries::iterator entry) FOOTNOTE_TSA(requires_capability(mutex_));

  const Clock& clock_;
  const std::size_t bytes_max_;
  mutable Mutex mutex_;
  Entries entries_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::unordered_map<std::string_view, Entries::iterator> by_key_ FOOTNOTE_TSA(guarded_by(mutex_));  // views into entries_
  std::map<std::string, std::set<std::string_view>, std::less<>> by_tag_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote
