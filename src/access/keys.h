#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/caller.h"
#include "access/rate_meter.h"
#include "base/call_context.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "ports/catalog_store.h"

namespace footnote::access {

inline constexpr std::size_t kKeyNameBytesMax = 200;
inline constexpr std::size_t kKeyLabelsMax = 50;
/// Limit on the keys ever created in all workspaces: they are all held in memory.
inline constexpr std::size_t kKeysMax = 100'000;
inline constexpr std::int64_t kRequestsPerMinuteMax = 1'000'000;
inline constexpr std::int64_t kRequestsPerDayMax = 1'000'000'000;
/// How long a rotated key stays valid by default, so that its users can switch to the new one.
inline constexpr std::chrono::hours kRotationGraceDefault{24};
inline constexpr std::chrono::hours kRotationGraceMax{24 * 90};

/// Limit on the keys ever created by a workspace's own admins: kKeysMax is shared, so no workspace may exhaust it.
inline constexpr std::size_t kKeysOfWorkspaceMax = 5'000;

struct KeysOptions {
  std::int64_t requests_per_minute = 600;  ///< For keys without their own limit; 0: no limit.
  /// The highest limits that a workspace's admins may give their keys; 0: no maximum. Operators may exceed them.
  std::int64_t requests_per_minute_max = 0;
  std::size_t active_keys_max = kKeysOfWorkspaceMax;  ///< Active keys per workspace.
};

/// How long a browser stays signed in. Its key may end earlier, and the session with it.
inline constexpr std::chrono::hours kSessionTime{24 * 14};
/// A session text has about 120 bytes.
inline constexpr std::size_t kSessionBytesMax = 256;

/// Who asks for a key.
enum class KeyMaker { kWorkspaceAdmin, kOperator };

struct NewKey {
  WorkspaceId workspace;
  std::string name;
  std::vector<KeyScope> scopes;
  std::optional<UtcTime> expires_at;
  KeyLimits limits;
  std::vector<std::string> labels = {};  ///< See ApiKey.
  KeyMaker maker = KeyMaker::kWorkspaceAdmin;
};

/// A newly created key: its text is available only here.
struct IssuedKey {
  ApiKey key;
  std::string text;
};

/// An admitted caller and its remaining rate limits.
struct Admission {
  Caller caller;
  RateVerdict rate;
};

/// What a browser holds instead of a key: a signed text that names the key and cannot be turned back into it.
struct Session {
  std::string text;
  UtcTime expires_at;
  Admission admission;
};

/// All API keys: creates and ends them in the store, and keeps them all in memory, so that admitting a caller never blocks and a revoked
/// key is rejected at once. Thread-safe. One process owns the store, so nothing else changes its keys.
class Keys {
 public:
  /// `owner_text` admits its holder as the operator (empty: nobody). Everything borrowed must outlive this.
  static Result<std::unique_ptr<Keys>> open(const CallContext& call, CatalogStore& catalog, const Clock& clock, std::string owner_text,
                                            KeysOptions options = {});

  /// True until the first key is created, and never again: the server stays locked after the last key is revoked or expires.
  bool is_open() const;
  /// True if some key is valid now.
  bool has_active() const;

  /// Identifies the holder of a key text and counts the request. kUnauthenticated: malformed, unknown, expired or revoked; the message does
  /// not say which. Never blocks.
  Result<Admission> admit(std::string_view key_text);

  /// Exchanges a key for a session of kSessionTime. Errors as `admit`.
  Result<Session> open_session(std::string_view key_text);
  /// As `admit`, for the text of a session. It ends with its key: at its expiry, and at once if it is revoked.
  Result<Admission> admit_session(std::string_view session_text);

  /// kInvalidArgument names the field: name, scopes, expires_at, limits. kNotFound: no such workspace. kResourceExhausted: the workspace
  /// already has as many keys as its admins may create.
  Result<IssuedKey> create(const CallContext& call, const NewKey& wanted);
  /// A new key with the same name, scopes, limits and lifetime; the old one ends after `grace`. kNotFound: no such key in that
  /// workspace. kFailedPrecondition: it has ended.
  Result<IssuedKey> rotate(const CallContext& call, WorkspaceId workspace, ApiKeyId id, std::chrono::seconds grace,
                           KeyMaker maker = KeyMaker::kWorkspaceAdmin);
  /// kNotFound: no such key in that workspace.
  Result<ApiKey> revoke(const CallContext& call, WorkspaceId workspace, ApiKeyId id);
  /// Ordered by id, with their usage up to now.
  std::vector<ApiKey> list(WorkspaceId workspace) const;

  /// Stores the usage since the last call. Called periodically, and on shutdown.
  Result<void> save_usage(const CallContext& call);

  const Clock& clock() const { return clock_; }

 private:
  struct Entry {
    ApiKey key;
    RateMeter meter;
    bool used = false;  ///< True if used since the last save.
  };

  Keys(CatalogStore& catalog, const Clock& clock, std::string owner_text, KeysOptions options, std::string pepper, WorkspaceId home)
      : catalog_(catalog), clock_(clock), owner_text_(std::move(owner_text)), options_(options), pepper_(std::move(pepper)), home_(home) {}

  std::string hash_of(std::string_view key_text) const;
  void take(const ApiKey& key);
  /// The signature of a session; `secret` is the hash of the key, or the owner's text.
  std::string session_signature(ApiKeyId key, std::int64_t expires_s, std::string_view secret) const;
  Result<Admission> admit_entry(Entry& entry, UtcTime now) FOOTNOTE_TSA(requires_capability(mutex_));
  Result<IssuedKey> issue(const CallContext& call, ApiKey key);
  /// Keys of one workspace: all that were ever created, and those that have not ended.
  struct KeyCount {
    std::size_t made = 0;
    std::size_t active = 0;
  };
  KeyCount count(WorkspaceId workspace) const;
  Result<void> check_ceilings(const NewKey& wanted) const;
  Result<ApiKey> find(WorkspaceId workspace, ApiKeyId id) const;
  Result<ApiKey> end(const CallContext& call, ApiKeyId id, UtcTime at);

  CatalogStore& catalog_;
  const Clock& clock_;
  const std::string owner_text_;
  const KeysOptions options_;
  const std::string pepper_;
  const WorkspaceId home_;  ///< The default workspace; its admins are operators.

  mutable Mutex mutex_;
  std::map<ApiKeyId, Entry> entries_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::unordered_map<std::string, ApiKeyId> by_hash_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::access
