#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/mutex.h"
#include "domain/document.h"

namespace footnote {

/// What a chunk's reader wants to know of the version that the chunk belongs to.
struct VersionFacts {
  std::string key;
  DocumentAttributes attributes;
  UtcTime indexed_at;
};

/// Facts of versions that were read lately, within a bound: a question's passages are of dozens of documents, and most of the time that it
/// took to look them up went into those. A version that somebody could read never changes and its name is given once, so nothing here
/// becomes wrong. Thread-safe.
class DocumentCache {
 public:
  static constexpr std::size_t kBytesMax = 8 << 20;

  explicit DocumentCache(std::size_t bytes_max = kBytesMax) : bytes_max_(bytes_max) {}

  /// Null where it is not known.
  std::shared_ptr<const VersionFacts> find(std::int64_t document, std::int64_t version);
  /// `bytes`: about as many as the facts take. REQUIRES: they were read in a committed state.
  void put(std::int64_t document, std::int64_t version, std::shared_ptr<const VersionFacts> facts, std::size_t bytes);

  /// What the facts that are kept take, about.
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
  // Half of the bound each. When the young ones reach theirs they become the old ones, and the old ones that nobody asked for are gone.
  Entries young_ FOOTNOTE_TSA(guarded_by(mutex_));
  Entries old_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t young_bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::size_t old_bytes_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

}  // namespace footnote
