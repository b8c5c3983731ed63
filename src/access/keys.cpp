#include "access/keys.h"

#include "access/key_text.h"
#include "base/sha256.h"
#include "base/text.h"

namespace footnote::access {
namespace {

std::unexpected<Error> not_let_in() {
  return fail(ErrorCode::kUnauthenticated, "this API key is not valid; create one with `footnote keys create`");
}

Result<void> check_limit(std::string_view field, std::int64_t value, std::int64_t max) {
  if (value >= 0 && value <= max) return {};
  return fail_field(ErrorCode::kInvalidArgument, field, "'{}' must be between 0 and {}", field, max);
}

Result<void> check(const NewKey& wanted, UtcTime now) {
  if (trim(wanted.name).empty() || wanted.name.size() > kKeyNameBytesMax) {
    return fail_field(ErrorCode::kInvalidArgument, "name", "a key needs a name of at most {} bytes", kKeyNameBytesMax);
  }
  if (wanted.scopes.empty())
    return fail_field(ErrorCode::kInvalidArgument, "scopes", "a key needs a scope: read, ingest, admin or visitor");
  if (wanted.expires_at && *wanted.expires_at <= now) {
    return fail_field(ErrorCode::kInvalidArgument, "expires_at", "'expires_at' must be in the future");
  }
  FOOTNOTE_CHECK(check_limit("requests_per_minute", wanted.limits.requests_per_minute, kRequestsPerMinuteMax));
  return check_limit("requests_per_day", wanted.limits.requests_per_day, kRequestsPerDayMax);
}

}  // namespace

Result<std::unique_ptr<Keys>> Keys::open(const CallContext& call, CatalogStore& catalog, const Clock& clock, std::string owner_text,
                                         KeysOptions options) {
  FOOTNOTE_TRY(const Workspace home, catalog.find_workspace(call, kDefaultWorkspace));
  FOOTNOTE_TRY(std::string pepper, catalog.key_pepper(call));
  FOOTNOTE_TRY(const auto known, catalog.keys(call));
  std::unique_ptr<Keys> keys(new Keys(catalog, clock, std::move(owner_text), options, std::move(pepper), home.id));
  for (const ApiKey& key : known) keys->take(key);
  return keys;
}

std::string Keys::hash_of(std::string_view key_text) const { return hmac_sha256_hex(pepper_, key_text); }

/// Adds or updates a key in memory.
void Keys::take(const ApiKey& key) {
  KeyLimits limits = key.limits;
  if (limits.requests_per_minute == 0) limits.requests_per_minute = options_.requests_per_minute;
  MutexLock lock(mutex_);
  const auto found = entries_.find(key.id);
  if (found != entries_.end()) {
    found->second.key = key;
    return;
  }
  entries_.emplace(key.id, Entry{key, RateMeter(limits, key.usage, clock_.now())});
  by_hash_.emplace(key.secret_hash, key.id);
}

bool Keys::is_open() const {
  MutexLock lock(mutex_);
  return entries_.empty();
}

bool Keys::has_active() const {
  const UtcTime now = clock_.now();
  MutexLock lock(mutex_);
  return std::ranges::any_of(entries_, [&](const auto& entry) { return !entry.second.key.has_ended(now); });
}

Result<Admission> Keys::admit(std::string_view key_text) {
  if (!owner_text_.empty() && equal_in_constant_time(key_text, owner_text_)) {
    return Admission{{.workspace = home_, .scopes = {KeyScope::kAdmin}, .is_operator = true}, {}};
  }
  if (!is_key_text(key_text)) return not_let_in();
  const std::string hash = hash_of(key_text);
  const UtcTime now = clock_.now();
  MutexLock lock(mutex_);
  const auto id = by_hash_.find(hash);
  if (id == by_hash_.end()) return not_let_in();
  Entry& entry = entries_.at(id->second);
  if (!equal_in_constant_time(hash, entry.key.secret_hash)) return not_let_in();
  return admit_entry(entry, now);
}

Result<Admission> Keys::admit_entry(Entry& entry, UtcTime now) {
  const ApiKey& key = entry.key;
  if (key.has_ended(now)) return not_let_in();
  Admission out{{.workspace = key.workspace,
                 .scopes = key.scopes,
                 .key = key.id,
                 .labels = key.labels,
                 .principal = key.origin ? key.origin : key.id},
                entry.meter.count(now)};
  out.caller.is_operator = key.workspace == home_ && out.caller.may(KeyScope::kAdmin);
  entry.used = true;
  return out;
}

std::string Keys::session_signature(ApiKeyId key, std::int64_t expires_s, std::string_view secret) const {
  return hmac_sha256_hex(hmac_sha256_hex(pepper_, "footnote session 1"), fmt::format("{}.{}.{}", key.value, expires_s, secret));
}

Result<Session> Keys::open_session(std::string_view key_text) {
  FOOTNOTE_TRY(Admission admission, admit(key_text));
  const ApiKeyId key = admission.caller.key;
  const UtcTime expires_at = std::chrono::floor<std::chrono::seconds>(clock_.now() + kSessionTime);
  const std::int64_t expires_s = std::chrono::duration_cast<std::chrono::seconds>(expires_at.time_since_epoch()).count();
  const std::string signature = session_signature(key, expires_s, key ? hash_of(key_text) : owner_text_);
  return Session{fmt::format("{}.{}.{}", key.value, expires_s, signature), expires_at, std::move(admission)};
}

// session := key_id "." expiry_in_seconds "." hmac; the owner's session has key 0 and ends with the process.
Result<Admission> Keys::admit_session(std::string_view session_text) {
  const auto parts = split(session_text, '.');
  const auto ended = [] { return fail(ErrorCode::kUnauthenticated, "the session has ended; sign in again with an API key"); };
  if (session_text.size() > kSessionBytesMax || parts.size() != 3) return ended();
  const auto id = parse_whole_number(parts[0]);
  const auto expires_s = parse_whole_number(parts[1]);
  const UtcTime now = clock_.now();
  if (!id || !expires_s || now.time_since_epoch() >= std::chrono::seconds{*expires_s}) return ended();
  if (*id == 0) {
    if (owner_text_.empty() || !equal_in_constant_time(parts[2], session_signature({}, *expires_s, owner_text_))) return ended();
    return Admission{{.workspace = home_, .scopes = {KeyScope::kAdmin}, .is_operator = true}, {}};
  }
  MutexLock lock(mutex_);
  const auto found = entries_.find(ApiKeyId{*id});
  if (found == entries_.end()) return ended();
  if (!equal_in_constant_time(parts[2], session_signature({*id}, *expires_s, found->second.key.secret_hash))) return ended();
  auto admitted = admit_entry(found->second, now);
  return admitted ? std::move(admitted) : ended();
}

Result<IssuedKey> Keys::issue(const CallContext& call, ApiKey key) {
  {
    MutexLock lock(mutex_);
    if (entries_.size() >= kKeysMax) return fail(ErrorCode::kTooLarge, "the store already has {} keys, which is the maximum", kKeysMax);
  }
  const std::string text = make_key_text();
  key.id = {};
  key.display_prefix = display_prefix(text);
  key.secret_hash = hash_of(text);
  key.created_at = clock_.now();
  key.usage = {};
  FOOTNOTE_TRY(ApiKey made, catalog_.add_key(call, key));
  take(made);
  return IssuedKey{std::move(made), text};
}

Keys::KeyCount Keys::count(WorkspaceId workspace) const {
  const UtcTime now = clock_.now();
  KeyCount out;
  MutexLock lock(mutex_);
  for (const auto& [id, entry] : entries_) {
    if (entry.key.workspace != workspace) continue;
    ++out.made;
    out.active += entry.key.has_ended(now) ? 0 : 1;
  }
  return out;
}

Result<void> Keys::check_ceilings(const NewKey& wanted) const {
  if (wanted.maker == KeyMaker::kOperator) return {};
  const std::int64_t ceiling = options_.requests_per_minute_max;
  if (ceiling > 0 && wanted.limits.requests_per_minute > ceiling) {
    return fail_field(ErrorCode::kInvalidArgument, "requests_per_minute", "the operator allows a key at most {} requests per minute",
                      ceiling);
  }
  const KeyCount keys = count(wanted.workspace);
  if (keys.active < options_.active_keys_max && keys.made < kKeysOfWorkspaceMax) return {};
  return fail(ErrorCode::kResourceExhausted, "this workspace has {} active keys ({} including ended ones); the operator allows no more",
              keys.active, keys.made);
}

Result<IssuedKey> Keys::create(const CallContext& call, const NewKey& wanted) {
  FOOTNOTE_CHECK(check(wanted, clock_.now()));
  FOOTNOTE_CHECK(check_ceilings(wanted));
  return issue(call, {.workspace = wanted.workspace,
                      .name = wanted.name,
                      .scopes = wanted.scopes,
                      .expires_at = wanted.expires_at,
                      .limits = wanted.limits,
                      .labels = wanted.labels});
}

Result<ApiKey> Keys::find(WorkspaceId workspace, ApiKeyId id) const {
  MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.key.workspace != workspace)
    return fail(ErrorCode::kNotFound, "there is no key {}", id.value);
  return found->second.key;
}

Result<ApiKey> Keys::end(const CallContext& call, ApiKeyId id, UtcTime at) {
  FOOTNOTE_TRY(ApiKey ended, catalog_.end_key(call, id, at));
  take(ended);
  return ended;
}

Result<IssuedKey> Keys::rotate(const CallContext& call, WorkspaceId workspace, ApiKeyId id, std::chrono::seconds grace, KeyMaker maker) {
  if (grace < std::chrono::seconds{0} || grace > kRotationGraceMax) {
    return fail_field(ErrorCode::kInvalidArgument, "grace", "'grace' must be between 0 and {} days", kRotationGraceMax.count() / 24);
  }
  FOOTNOTE_TRY(ApiKey old, find(workspace, id));
  const UtcTime now = clock_.now();
  if (old.has_ended(now))
    return fail(ErrorCode::kFailedPrecondition, "key {} has expired or was revoked; create a new one instead", id.value);
  if (maker == KeyMaker::kWorkspaceAdmin && count(workspace).made >= kKeysOfWorkspaceMax) {
    return fail(ErrorCode::kResourceExhausted, "this workspace has created {} keys; its admins may create no more", kKeysOfWorkspaceMax);
  }
  ApiKey next = old;
  next.origin = old.origin ? old.origin : old.id;
  if (old.expires_at) next.expires_at = now + (*old.expires_at - old.created_at);
  FOOTNOTE_TRY(IssuedKey issued, issue(call, std::move(next)));
  FOOTNOTE_CHECK(grace == std::chrono::seconds{0} ? revoke(call, workspace, id) : end(call, id, now + grace));
  return issued;
}

Result<ApiKey> Keys::revoke(const CallContext& call, WorkspaceId workspace, ApiKeyId id) {
  FOOTNOTE_CHECK(find(workspace, id));
  FOOTNOTE_TRY(ApiKey revoked, catalog_.revoke_key(call, id, clock_.now()));
  take(revoked);
  return revoked;
}

std::vector<ApiKey> Keys::list(WorkspaceId workspace) const {
  MutexLock lock(mutex_);
  std::vector<ApiKey> out;
  for (const auto& [id, entry] : entries_) {
    if (entry.key.workspace != workspace) continue;
    out.push_back(entry.key);
    out.back().usage = entry.meter.usage();
  }
  return out;
}

Result<void> Keys::save_usage(const CallContext& call) {
  std::vector<std::pair<ApiKeyId, KeyUsage>> usage;
  {
    MutexLock lock(mutex_);
    for (auto& [id, entry] : entries_) {
      if (std::exchange(entry.used, false)) usage.emplace_back(id, entry.meter.usage());
    }
  }
  auto saved = catalog_.note_key_usage(call, usage);
  if (saved) return {};
  MutexLock lock(mutex_);
  for (const auto& [id, used] : usage) entries_.at(id).used = true;  // include them in the next save
  return saved;
}

}  // namespace footnote::access
