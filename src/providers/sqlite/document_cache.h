#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "domain/document.h"

namespace footnote {

/// What readers of a chunk need to know about its document version.
struct VersionFacts {
  std::string key;
  DocumentAttributes attributes;
  UtcTime indexed_at;
};

/// A bounded cache of recently read versions: a question's passages come from dozens of documents, which dominated the lookup time. A
/// readable version never changes and its id is never reused, so entries never become stale. Thread-safe.
class DocumentCache {
 public:
  static constexpr std::size_t kBytesMax = 8 << 20;

  explicit DocumentCache(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  /// Null if not cached.
  std::shared_ptr<const VersionFacts> find(std::int64_t document, std::int64_t version);
  /// `bytes`: approximate size of the facts. REQUIRES: they were read from a committed state.
  void put(std::int64_t document, std::int64_t version, std::shared_ptr<const VersionFacts> facts, std::size_t bytes);

  /// Approximate size of the cached facts.
  std::size_t bytes() const;

 private:
  struct Name {
    std::int64_t document = 0;
    std::int64_t version = 0;
    bool operator==(const Name&) const = default;
  };
  struct NameHash {
    std::size_t operator()(const Name& name) const { return std::hash<std::int64_t>()(name.document * 1'000'003 + name.version); }
  };
  struct Entry {
    std::shared_ptr<const VersionFacts> facts;
    std::size_t bytes = 0;
  };
  using Entries = std::unordered_map<Name, Entry, NameHash>;

  void keep(const Name& name, Entry entry) FOOTNOTE_TSA(requires_capability(mutex_));

  const std::size_t bytes_max_;
  mutable Mutex mutex_;
  // Each has half of the budget. When young_ is full it becomes old_, which drops the old entries that were not used meanwhile.
  Entries young_ FOOTNOTE_TSA(guarded_by(mutex_));
  Entries old_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t young_bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::size_t old_bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote
