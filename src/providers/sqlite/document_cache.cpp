#include "providers/sqlite/document_cache.h"

#include <utility>

namespace footnote {

std::shared_ptr<const VersionFacts> DocumentCache::find(std::int64_t document, std::int64_t version) {
  const Name name{document, version};
  const MutexLock lock(mutex_);
  if (const auto young = young_.find(name); young != young_.end()) return young->second.facts;
  auto old = old_.extract(name);
  if (!old) return nullptr;
  old_bytes_ -= old.mapped().bytes;
  auto facts = old.mapped().facts;
  keep(name, std::move(old.mapped()));
  return facts;
}

void DocumentCache::put(std::int64_t document, std::int64_t version, std::shared_ptr<const VersionFacts> facts, std::size_t bytes) {
  const MutexLock lock(mutex_);
  keep({document, version}, {std::move(facts), bytes});
}

std::size_t DocumentCache::bytes() const {
  const MutexLock lock(mutex_);
  return young_bytes_ + old_bytes_;
}

void DocumentCache::keep(const Name& name, Entry entry) {
  const std::size_t bytes = entry.bytes;
  if (bytes > bytes_max_ / 2) return;
  if (young_bytes_ + bytes > bytes_max_ / 2) {
    old_ = std::exchange(young_, {});
    old_bytes_ = std::exchange(young_bytes_, 0);
  }
  // Another reader may have added it first.
  if (young_.emplace(name, std::move(entry)).second) young_bytes_ += bytes;
}

}  // namespace footnote
