#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/mutex.h"
#include "ports/cache.h"
#include "providers/redis/redis_url.h"

namespace footnote {

struct RedisCacheOptions {
  /// Before every key of ours: several programs may share a database.
  std::string prefix = "footnote:";
  std::chrono::milliseconds connect_timeout{250};
  std::chrono::milliseconds command_timeout{100};
  /// After a failure Redis is left alone for so long: until then everything is a miss that costs nothing.
  std::chrono::milliseconds retry_after{1'000};
};

/// A cache that several servers share. Whatever goes wrong with Redis is a miss, never an error, and costs at most one time-out a
/// `retry_after`. Thread-safe.
///
/// An entry is a hash of its tag, the tag's mark and the value; a tag's mark is a random text under a key of its own. Dropping a tag
/// deletes its mark, and so does Redis when it runs out of memory: either way every entry that bears it is a miss from then on, in one
/// step. A tag that could not be dropped is owed, and dropped before anything else is asked. Metrics:
/// footnote_cache_failures_total{cache="redis"}.
class RedisCache final : public Cache {
 public:
  static constexpr std::size_t kConnectionsMax = 8;       ///< Who finds all of them busy does without.
  static constexpr std::size_t kKeyBytesMax = 1 << 10;    ///< Of keys and tags; longer ones are not kept.
  static constexpr std::size_t kValueBytesMax = 1 << 20;  ///< Likewise.
  static constexpr std::chrono::hours kTtlMax{24};        ///< Longer ones end then.
  static constexpr std::size_t kOwedMax = 10'000;         ///< Tags; past it entries of the others end with their time.

  /// Connects to nobody yet. REQUIRES: the process ignores SIGPIPE, as the client library writes to sockets that may be closed. `metrics`
  /// may be null; it outlives this.
  RedisCache(RedisAddress address, RedisCacheOptions options, Metrics* metrics);
  ~RedisCache() override;

  std::optional<std::string> get(const CallContext& call, std::string_view key) override;
  void put(const CallContext& call, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) override;
  void drop_tag(const CallContext& call, std::string_view tag) override;

 private:
  class Connection;
  class Lease;

  std::string entry_key(std::string_view key) const { return options_.prefix + "e:" + std::string(key); }
  std::string tag_prefix() const { return options_.prefix + "t:"; }
  void note_failure(std::string_view what);
  /// Drops what is owed; what can't be stays owed.
  void pay(Lease& lease);

  const RedisAddress address_;
  const RedisCacheOptions options_;
  Counter* const failures_;

  Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t leased_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::set<std::string> owed_ FOOTNOTE_TSA(guarded_by(mutex_));  ///< Tags.
  std::chrono::steady_clock::time_point left_alone_until_ FOOTNOTE_TSA(guarded_by(mutex_)){};
};

}  // namespace footnote
