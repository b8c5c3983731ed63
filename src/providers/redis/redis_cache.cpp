#include "providers/redis/redis_cache.h"

#include <hiredis/hiredis.h>

#include <initializer_list>

#include "base/ids.h"
#include "base/log.h"

namespace footnote {

namespace {

struct ReplyFree {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, ReplyFree>;

timeval to_timeval(std::chrono::milliseconds time) {
  const auto microseconds = std::chrono::microseconds(time).count();
  return {.tv_sec = microseconds / 1'000'000, .tv_usec = microseconds % 1'000'000};
}

/// KEYS: the entry. ARGV: the prefix of tag keys.
constexpr std::string_view kGet = R"(
local e = redis.call('HMGET', KEYS[1], 'tag', 'mark', 'value')
if not e[3] or redis.call('GET', ARGV[1] .. e[1]) ~= e[2] then return false end
return e[3])";

/// KEYS: the entry, the tag's mark. ARGV: tag, value, seconds, a mark for a tag that has none, its seconds.
constexpr std::string_view kPut = R"(
local mark = redis.call('GET', KEYS[2])
if not mark then mark = ARGV[4] end
redis.call('SET', KEYS[2], mark, 'EX', ARGV[5])
redis.call('HSET', KEYS[1], 'tag', ARGV[1], 'mark', mark, 'value', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return redis.status_reply('OK'))";

constexpr std::size_t kMarkChars = 16;

}  // namespace

class RedisCache::Connection {
 public:
  /// Null if Redis can't be reached or rejects the login; `why` gets the reason.
  static std::unique_ptr<Connection> open(const RedisAddress& address, const RedisCacheOptions& options, std::string& why) {
    const timeval connect = to_timeval(options.connect_timeout);
    Context context(address.host.empty() ? redisConnectUnixWithTimeout(address.socket.c_str(), connect)
                                         : redisConnectWithTimeout(address.host.c_str(), address.port, connect));
    if (context == nullptr || context->err != 0) {
      why = context == nullptr ? "no memory" : context->errstr;
      return nullptr;
    }
    redisSetTimeout(context.get(), to_timeval(options.command_timeout));
    std::unique_ptr<Connection> out(new Connection(std::move(context)));
    const auto accepted = [&](std::initializer_list<std::string_view> command) {
      const Reply reply = out->run(command);
      if (reply != nullptr && reply->type != REDIS_REPLY_ERROR) return true;
      why = reply == nullptr ? out->error() : std::string(reply->str, reply->len);
      return false;
    };
    if (!address.password.empty() &&
        !(address.user.empty() ? accepted({"AUTH", address.password}) : accepted({"AUTH", address.user, address.password})))
      return nullptr;
    if (address.database != 0 && !accepted({"SELECT", std::to_string(address.database)})) return nullptr;
    return out;
  }

  /// Null if the connection broke; it is then unusable.
  Reply run(std::initializer_list<std::string_view> command) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view part : command) {
      texts.push_back(part.data());
      sizes.push_back(part.size());
    }
    return Reply(static_cast<redisReply*>(redisCommandArgv(context_.get(), static_cast<int>(texts.size()), texts.data(), sizes.data())));
  }

  std::string error() const { return context_->errstr; }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  using Context = std::unique_ptr<redisContext, Free>;

  explicit Connection(Context context) : context_(std::move(context)) {}

  Context context_;
};

/// A connection for one command, returned to the pool unless it broke. Empty while all are busy or Redis is not contacted after a failure.
class RedisCache::Lease {
 public:
  explicit Lease(RedisCache& cache) : cache_(cache) {
    {
      MutexLock lock(cache_.mutex_);
      if (cache_.leased_ >= kConnectionsMax || std::chrono::steady_clock::now() < cache_.bypass_until_) return;
      ++cache_.leased_;
      has_slot_ = true;
      if (!cache_.idle_.empty()) {
        connection_ = std::move(cache_.idle_.back());
        cache_.idle_.pop_back();
      }
    }
    if (connection_ == nullptr) connect();
    if (connection_ != nullptr) cache_.retry_drops(*this);
  }
  ~Lease() {
    if (!has_slot_) return;
    MutexLock lock(cache_.mutex_);
    --cache_.leased_;
    if (connection_ != nullptr) cache_.idle_.push_back(std::move(connection_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Null on any failure.
  Reply run(std::initializer_list<std::string_view> command) {
    if (connection_ == nullptr) return nullptr;
    Reply reply = connection_->run(command);
    if (reply != nullptr && reply->type != REDIS_REPLY_ERROR) return reply;
    cache_.note_failure(reply == nullptr ? connection_->error() : std::string(reply->str, reply->len));
    if (reply == nullptr) connection_.reset();
    return nullptr;
  }

 private:
  void connect() {
    std::string why;
    connection_ = Connection::open(cache_.address_, cache_.options_, why);
    if (connection_ == nullptr) cache_.note_failure(why);
  }

  RedisCache& cache_;
  bool has_slot_ = false;
  std::unique_ptr<Connection> connection_;
};

RedisCache::RedisCache(RedisAddress address, RedisCacheOptions options, Metrics* metrics)
    : address_(std::move(address)),
      options_(std::move(options)),
      failures_(metrics == nullptr ? nullptr
                                   : &metrics->counter("footnote_cache_failures_total", "Cache calls that failed and counted as a miss.",
                                                       {{"cache", "redis"}})) {}

RedisCache::~RedisCache() = default;

void RedisCache::note_failure(std::string_view what) {
  if (failures_ != nullptr) failures_->add();
  {
    MutexLock lock(mutex_);
    bypass_until_ = std::chrono::steady_clock::now() + options_.retry_after;
    idle_.clear();  // they lead to the same Redis
  }
  log(LogLevel::kWarn, "app", "redis failed; the cache is bypassed for a while", CallContext{}, {{"error", what}});
}

std::optional<std::string> RedisCache::get(const CallContext& call, std::string_view key) {
  if (key.size() > kKeyBytesMax || !call.check()) return std::nullopt;
  Lease lease(*this);
  const Reply reply = lease.run({"EVAL", kGet, "1", entry_key(key), tag_prefix()});
  if (reply == nullptr || reply->type != REDIS_REPLY_STRING) return std::nullopt;
  return std::string(reply->str, reply->len);
}

void RedisCache::put(const CallContext& call, std::string_view key, std::string_view tag, std::string value, std::chrono::seconds ttl) {
  if (key.size() > kKeyBytesMax || tag.size() > kKeyBytesMax || !call.check()) return;
  Lease lease(*this);
  const std::string entry = entry_key(key);
  // A value that is not cached must not leave an older one in place.
  if (ttl <= std::chrono::seconds::zero() || value.size() > kValueBytesMax) {
    lease.run({"DEL", entry});
    return;
  }
  constexpr std::chrono::seconds kLongest = kTtlMax;
  lease.run({"EVAL", kPut, "2", entry, tag_prefix() + std::string(tag), tag, value, std::to_string(std::min(ttl, kLongest).count()),
             random_base62(kMarkChars), std::to_string(kLongest.count())});
}

void RedisCache::drop_tag(const CallContext&, std::string_view tag) {
  if (tag.size() > kKeyBytesMax) return;
  {
    MutexLock lock(mutex_);
    if (pending_drops_.size() < kPendingDropsMax) pending_drops_.emplace(tag);
  }
  const Lease pays(*this);
}

void RedisCache::retry_drops(Lease& lease) {
  std::set<std::string> pending;
  {
    MutexLock lock(mutex_);
    if (pending_drops_.empty()) return;
    pending.swap(pending_drops_);
  }
  while (!pending.empty() && lease.run({"DEL", tag_prefix() + *pending.begin()}) != nullptr) pending.erase(pending.begin());
  if (pending.empty()) return;
  MutexLock lock(mutex_);
  pending_drops_.merge(pending);
}

}  // namespace footnote
