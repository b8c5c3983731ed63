#include "providers/local/local_cache.h"

#include <iterator>

namespace footnote {

namespace {

/// Approximate overhead of the list, the two tables and the allocator per entry.
constexpr std::size_t kEntryOverhead = 256;

}  // namespace

std::size_t LocalCache::bytes_of(const Entry& entry) {
  return kEntryOverhead + entry.key.size() + 2 * entry.tag.size() + entry.value.size();
}

std::size_t LocalCache::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

void LocalCache::erase(Entries::iterator entry) {
  bytes_ -= bytes_of(*entry);
  const auto tagged = by_tag_.find(entry->tag);
  tagged->second.erase(entry->key);
  if (tagged->second.empty()) by_tag_.erase(tagged);
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

std::optional<std::string> LocalCache::get(const CallContext&, std::string_view key) {
  MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return std::nullopt;
  const Entries::iterator entry = found->second;
  if (clock_.now() >= entry->expires_at) {
    erase(entry);
    return std::nullopt;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->value;
}

void LocalCache::put(const CallContext&, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) {
  MutexLock lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) erase(found->second);
  if (ttl <= std::chrono::seconds{0}) return;
  Entry fresh{std::string(key), std::string(tag), std::move(value), clock_.now() + ttl};
  if (bytes_of(fresh) > bytes_max_) return;
  bytes_ += bytes_of(fresh);
  entries_.push_front(std::move(fresh));
  by_key_.emplace(entries_.front().key, entries_.begin());
  by_tag_[entries_.front().tag].insert(entries_.front().key);
  while (bytes_ > bytes_max_) erase(std::prev(entries_.end()));
}

void LocalCache::drop_tag(const CallContext&, std::string_view tag) {
  MutexLock lock(mutex_);
  // `erase` also removes the tag itself with its last entry.
  for (auto found = by_tag_.find(tag); found != by_tag_.end(); found = by_tag_.find(tag)) {
    erase(by_key_.at(*found->second.begin()));
  }
}

}  // namespace footnote
