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
/// Keys that were ever made, of all workspaces: they are all held in memory.
inline constexpr std::size_t kKeysMax = 100'000;
inline constexpr std::int64_t kRequestsPerMinuteMax = 1'000'000;
inline constexpr std::int64_t kRequestsPerDayMax = 1'000'000'000;
/// How long a rotated key goes on by default, so that its users can be given the new one.
inline constexpr std::chrono::hours kRotationGraceDefault{24};
inline constexpr std::chrono::hours kRotationGraceMax{24 * 90};

/// Keys that were ever made for one workspace by its own admins; kKeysMax is shared, so none may use it up.
inline constexpr std::size_t kKeysOfWorkspaceMax = 5'000;

struct KeysOptions {
  std::int64_t requests_per_minute = 600;  ///< For keys without a bound of their own; 0: none.
  /// What admins of a workspace may give their own keys at most; 0: no ceiling. Operators are not bound by these.
  std::int64_t requests_per_minute_max = 0;
  std::size_t active_keys_max = kKeysOfWorkspaceMax;  ///< Of one workspace.
};

/// Who asks for a key.
enum class KeyMaker { kWorkspaceAdmin, kOperator };

struct NewKey {
  WorkspaceId workspace;
  std::string name;
  std::vector<KeyScope> scopes;
  std::optional<UtcTime> expires_at;
  KeyLimits limits;
  KeyMaker maker = KeyMaker::kWorkspaceAdmin;
};

/// A key that was just made: the only time that its text is known.
struct IssuedKey {
  ApiKey key;
  std::string text;
};

/// A caller let in, with what its bounds leave it.
struct Admission {
  Caller caller;
  RateVerdict rate;
};

/// Every API key: makes and ends them in the store, and knows them all in memory, so that letting a caller in never
/// waits and a revoked key is refused from that moment on. Thread-safe. One process owns the store, so nobody else
/// changes its keys.
class Keys {
 public:
  /// `owner_text` lets its holder in as the operator (empty: nobody). Everything borrowed outlives this.
  static Result<std::unique_ptr<Keys>> open(const CallContext& call, CatalogStore& catalog, const Clock& clock, std::string owner_text,
                                            KeysOptions options = {});

  /// True until the first key is made. It never becomes true again: when the last key has expired or was revoked, the
  /// door must not stand open.
  bool is_open() const;
  /// Some key is good now.
  bool has_active() const;

  /// Who holds this key text. Counts the request. kUnauthenticated: garbage, unknown or ended; the message does not tell
  /// which to whoever guesses. Never waits.
  Result<Admission> admit(std::string_view key_text);

  /// kInvalidArgument names the field: name, scopes, expires_at, limits. kNotFound: no such workspace. kResourceExhausted: the workspace
  /// has as many keys as its admins may make.
  Result<IssuedKey> create(const CallContext& call, const NewKey& wanted);
  /// A new text for the same name, scopes, limits and life-time; the old one ends after `grace`. kNotFound: no such key in that
  /// workspace. kFailedPrecondition: it has ended.
  Result<IssuedKey> rotate(const CallContext& call, WorkspaceId workspace, ApiKeyId id, std::chrono::seconds grace,
                           KeyMaker maker = KeyMaker::kWorkspaceAdmin);
  /// kNotFound: no such key in that workspace.
  Result<ApiKey> revoke(const CallContext& call, WorkspaceId workspace, ApiKeyId id);
  /// By id, with their use up to now.
  std::vector<ApiKey> list(WorkspaceId workspace) const;

  /// Writes down what was used since the last time. Called now and then, and at the end.
  Result<void> save_usage(const CallContext& call);

  const Clock& clock() const { return clock_; }

 private:
  struct Entry {
    ApiKey key;
    RateMeter meter;
    bool used = false;  ///< Since the last save.
  };

  Keys(CatalogStore& catalog, const Clock& clock, std::string owner_text, KeysOptions options, std::string pepper, WorkspaceId home)
      : catalog_(catalog), clock_(clock), owner_text_(std::move(owner_text)), options_(options), pepper_(std::move(pepper)), home_(home) {}

  std::string hash_of(std::string_view key_text) const;
  void take(const ApiKey& key);
  Result<IssuedKey> issue(const CallContext& call, ApiKey key);
  /// Keys of one workspace: those that were ever made, and those that have not ended.
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
