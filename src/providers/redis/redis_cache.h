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
  /// Prepended to all our keys: several programs may share a database.
  std::string prefix = "footnote:";
  std::chrono::milliseconds connect_timeout{250};
  std::chrono::milliseconds command_timeout{100};
  /// After a failure Redis is not contacted for this long: until then everything is an immediate miss.
  std::chrono::milliseconds retry_after{1'000};
};

/// A cache shared by several servers. Any Redis failure is a miss, never an error, and costs at most one timeout per `retry_after`.
/// Thread-safe.
///
/// An entry is a hash of its tag, the tag's mark and the value; a tag's mark is a random text under its own key. Dropping a tag deletes its
/// mark, as Redis may when it runs out of memory: either way all entries with that mark become misses atomically. If a tag could not be
/// dropped, that is remembered and retried before any other command. Metrics: footnote_cache_failures_total{cache="redis"}.
class RedisCache final : public Cache {
 public:
  static constexpr std::size_t kConnectionsMax = 8;        ///< If all are busy, callers skip the cache.
  static constexpr std::size_t kKeyBytesMax = 1 << 10;     ///< For keys and tags; longer ones are not cached.
  static constexpr std::size_t kValueBytesMax = 1 << 20;   ///< Larger values are not cached.
  static constexpr std::chrono::hours kTtlMax{24};         ///< Longer TTLs are shortened to this.
  static constexpr std::size_t kPendingDropsMax = 10'000;  ///< Pending tag drops; beyond it, entries only expire by TTL.

  /// Does not connect yet. REQUIRES: the process ignores SIGPIPE, because the client library writes to sockets that may be closed.
  /// `metrics` may be null; it must outlive this.
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
  /// Retries the pending tag drops; those that fail stay pending.
  void retry_drops(Lease& lease);

  const RedisAddress address_;
  const RedisCacheOptions options_;
  Counter* const failures_;

  Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::size_t leased_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  std::set<std::string> pending_drops_ FOOTNOTE_TSA(guarded_by(mutex_));  ///< Tags whose drop is pending.
  std::chrono::steady_clock::time_point bypass_until_ FOOTNOTE_TSA(guarded_by(mutex_)){};
};

}  // namespace footnote
