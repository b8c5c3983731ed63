#include "fakes/memory_cache.h"

#include <algorithm>

namespace footnote::fakes {

std::optional<std::string> MemoryCache::get(const CallContext&, std::string_view key) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  if (clock_.now() >= found->second.expires_at) {
    entries_.erase(found);
    return std::nullopt;
  }
  return found->second.value;
}

void MemoryCache::put(const CallContext&, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) {
  MutexLock lock(mutex_);
  entries_.insert_or_assign(std::string(key), Entry{std::string(tag), std::move(value), clock_.now() + ttl, ++sequence_});
  if (entries_.size() <= entries_max_) return;
  entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& entry) { return entry.second.sequence; }));
}

void MemoryCache::drop_tag(const CallContext&, std::string_view tag) {
  MutexLock lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.tag == tag; });
}

std::size_t MemoryCache::size() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace footnote::fakes
