#include "ingest/secret_scan.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "ingest/secret_values.h"

namespace footnote::ingest {

namespace {

/// Allowed characters of a token after its prefix.
enum class Alphabet { kAlnum, kUpper32, kHex, kWord, kBase64, kDotted };

struct TokenRule {
  SecretKind kind;
  std::string_view prefix;
  Alphabet alphabet;
  std::size_t chars_min;
  std::size_t chars_max;
};

using enum Alphabet;
constexpr std::size_t kOpen = 0;  // No upper bound.
constexpr auto kTokens = std::to_array<TokenRule>({
    {SecretKind::kAws, "AKIA", kUpper32, 16, 16},
    {SecretKind::kAws, "ASIA", kUpper32, 16, 16},
    {SecretKind::kAws, "ABIA", kUpper32, 16, 16},
    {SecretKind::kAws, "ACCA", kUpper32, 16, 16},
    {SecretKind::kGitHost, "ghp_", kAlnum, 36, kOpen},
    {SecretKind::kGitHost, "gho_", kAlnum, 36, kOpen},
    {SecretKind::kGitHost, "ghu_", kAlnum, 36, kOpen},
    {SecretKind::kGitHost, "ghs_", kAlnum, 36, kOpen},
    {SecretKind::kGitHost, "ghr_", kAlnum, 36, kOpen},
    {SecretKind::kGitHost, "github_pat_", kWord, 60, kOpen},
    {SecretKind::kGitHost, "glpat-", kWord, 20, kOpen},
    {SecretKind::kGitHost, "gldt-", kWord, 20, kOpen},
    {SecretKind::kGitHost, "glrt-", kWord, 20, kOpen},
    {SecretKind::kSlack, "xoxb-", kWord, 20, kOpen},
    {SecretKind::kSlack, "xoxp-", kWord, 20, kOpen},
    {SecretKind::kSlack, "xoxa-", kWord, 20, kOpen},
    {SecretKind::kSlack, "xoxr-", kWord, 20, kOpen},
    {SecretKind::kSlack, "xoxs-", kWord, 20, kOpen},
    {SecretKind::kSlack, "xoxe-", kWord, 20, kOpen},
    {SecretKind::kSlack, "xoxe.xox", kWord, 20, kOpen},
    {SecretKind::kSlack, "xapp-", kWord, 20, kOpen},
    {SecretKind::kSlack, "hooks.slack.com/services/", kBase64, 35, kOpen},
    {SecretKind::kGoogle, "AIza", kWord, 35, 35},
    {SecretKind::kGoogle, "GOCSPX-", kWord, 28, 28},
    {SecretKind::kGoogle, "ya29.", kWord, 30, kOpen},
    {SecretKind::kStripe, "sk_live_", kAlnum, 20, kOpen},
    {SecretKind::kStripe, "rk_live_", kAlnum, 20, kOpen},
    {SecretKind::kStripe, "sk_test_", kAlnum, 20, kOpen},
    {SecretKind::kStripe, "rk_test_", kAlnum, 20, kOpen},
    {SecretKind::kStripe, "whsec_", kBase64, 24, kOpen},
    {SecretKind::kModelApi, "sk-proj-", kWord, 20, kOpen},
    {SecretKind::kModelApi, "sk-ant-", kWord, 20, kOpen},
    {SecretKind::kModelApi, "sk-svcacct-", kWord, 20, kOpen},
    {SecretKind::kModelApi, "sk-or-v1-", kHex, 40, kOpen},
    {SecretKind::kModelApi, "sk-", kAlnum, 32, kOpen},
    {SecretKind::kModelApi, "hf_", kAlnum, 30, kOpen},
    {SecretKind::kModelApi, "gsk_", kAlnum, 40, kOpen},
    {SecretKind::kModelApi, "r8_", kAlnum, 37, 37},
    {SecretKind::kService, "npm_", kAlnum, 36, 36},
    {SecretKind::kService, "pypi-AgE", kWord, 50, kOpen},
    {SecretKind::kService, "SG.", kDotted, 60, kOpen},
    {SecretKind::kService, "dop_v1_", kHex, 64, 64},
    {SecretKind::kService, "doo_v1_", kHex, 64, 64},
    {SecretKind::kService, "shpat_", kHex, 32, 32},
    {SecretKind::kService, "shpss_", kHex, 32, 32},
    {SecretKind::kService, "dapi", kHex, 32, 32},
    {SecretKind::kService, "hvs.", kWord, 24, kOpen},
    {SecretKind::kService, "hvb.", kWord, 24, kOpen},
    {SecretKind::kService, "lin_api_", kAlnum, 40, 40},
    {SecretKind::kService, "ntn_", kAlnum, 40, kOpen},
    {SecretKind::kService, "secret_", kAlnum, 43, 43},
    {SecretKind::kService, "sntrys_", kWord, 40, kOpen},
    {SecretKind::kService, "glsa_", kWord, 40, kOpen},
    {SecretKind::kService, "PMAK-", kWord, 50, kOpen},
    {SecretKind::kService, "key-", kHex, 32, 32},
    {SecretKind::kService, "AGE-SECRET-KEY-1", kAlnum, 58, 58},
    {SecretKind::kFootnoteKey, "fn_live_", kAlnum, 36, 36},
});

bool is_in(Alphabet alphabet, char c) {
  switch (alphabet) {
    case kAlnum: return is_ascii_alnum(c);
    case kUpper32: return (c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7');
    case kHex: return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    case kWord: return is_ascii_alnum(c) || c == '_' || c == '-';
    case kBase64: return is_ascii_alnum(c) || c == '+' || c == '/' || c == '=';
    case kDotted: return is_ascii_alnum(c) || c == '_' || c == '-' || c == '.';
  }
  return false;
}

std::size_t run_length(std::string_view text, std::size_t at, Alphabet alphabet, std::size_t max) {
  std::size_t length = 0;
  while (at + length < text.size() && length < max && is_in(alphabet, text[at + length])) ++length;
  return length;
}

/// Tokens below it look like "xxxxxxxx" or "1234123412341234".
constexpr double kTokenEntropyMin = 2.8;
/// How many characters to read past the minimum of a token without an upper bound.
constexpr std::size_t kOpenCharsRead = 64;

std::optional<Secret> token_at(std::string_view text, std::size_t at) {
  for (const TokenRule& rule : kTokens) {
    if (text[at] != rule.prefix[0] || !text.substr(at).starts_with(rule.prefix)) continue;
    const std::size_t begin = at + rule.prefix.size();
    const bool open = rule.chars_max == kOpen;
    // Reads only as much as needed to decide, so that rejected tokens cost bounded time.
    std::size_t length = run_length(text, begin, rule.alphabet, (open ? rule.chars_min + kOpenCharsRead : rule.chars_max) + 1);
    if (length < rule.chars_min || (!open && length > rule.chars_max)) continue;
    const std::string_view rest = text.substr(begin, length);
    if (entropy_bits(rest) < kTokenEntropyMin || is_example(text.substr(at, rule.prefix.size() + length))) continue;
    if (rule.alphabet == kAlnum && std::ranges::none_of(rest, [](char c) { return c >= '0' && c <= '9'; })) continue;
    if (open) length = run_length(text, begin, rule.alphabet, text.size());
    return Secret{rule.kind, {at, begin + length}};
  }
  return std::nullopt;
}

/// header.payload.signature, where the header is JSON that names an algorithm.
std::optional<Secret> jwt_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kPartMax = 16u << 10;
  constexpr std::string_view kExamplePayload = "eyJzdWIiOiIxMjM0NTY3ODkw";  // {"sub":"1234567890: jwt.io
  constexpr std::string_view kRfcPayload = "eyJpc3MiOiJqb2UiLA0K";          // RFC 7515, 7519
  const std::size_t header = run_length(text, at, kWord, kPartMax);
  const std::size_t payload_at = at + header + 1;
  if (header < 15 || header == kPartMax || !text.substr(payload_at - 1).starts_with(".eyJ")) return std::nullopt;
  const std::size_t payload = run_length(text, payload_at, kWord, kPartMax);
  const std::size_t signature_at = payload_at + payload + 1;
  if (payload == kPartMax || signature_at >= text.size() || text[signature_at - 1] != '.') return std::nullopt;
  const std::size_t signature = run_length(text, signature_at, kWord, kPartMax);
  if (signature < 20) return std::nullopt;
  const std::string_view claims = text.substr(payload_at, payload);
  if (claims.starts_with(kExamplePayload) || claims.starts_with(kRfcPayload)) return std::nullopt;
  return Secret{SecretKind::kJwt, {at, signature_at + signature}};
}

/// Fewer base64 characters are an elided key: "-----BEGIN PRIVATE KEY-----\n...".
constexpr std::size_t kKeyBodyCharsMin = 64;
constexpr std::size_t kKeyBlockBytesMax = 32u << 10;

/// The block that begins with the "-----BEGIN" at `at`. An unclosed block ends with its last line of base64.
std::optional<Secret> private_key_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLabelMax = 80;
  const std::string_view label = text.substr(at + 10, kLabelMax);
  const std::size_t close = label.find("-----");
  if (close == std::string_view::npos || label.substr(0, close).find("PRIVATE KEY") == std::string_view::npos) return std::nullopt;
  const std::size_t begin = at + 10 + close + 5;
  // Stop at the next block, so that each byte is scanned for one block only.
  std::string_view rest = text.substr(begin, kKeyBlockBytesMax);
  rest = rest.substr(0, rest.find("-----BEGIN"));
  std::size_t end = rest.find("-----END");
  const bool closed = end != std::string_view::npos;
  if (!closed) {
    const auto is_body = [](char c) {
      return is_in(kBase64, c) || c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\\' || c == '-';
    };
    end = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_body) - rest.begin());
  }
  const auto body = std::ranges::count_if(rest.substr(0, end), [](char c) { return is_in(kBase64, c); });
  if (static_cast<std::size_t>(body) < kKeyBodyCharsMin || entropy_bits(rest.substr(0, end)) < 3.5) return std::nullopt;
  if (closed) {
    const std::string_view tail = rest.substr(end + 8, kLabelMax);
    const std::size_t tail_close = tail.find("-----");
    end += 8 + (tail_close == std::string_view::npos ? 0 : tail_close + 5);
  }
  return Secret{SecretKind::kPrivateKey, {at, begin + end}};
}

constexpr std::string_view kPuttyHeader = "PuTTY-User-Key-File-";

std::optional<Secret> putty_key_at(std::string_view text, std::size_t at) {
  std::string_view block = text.substr(at, kKeyBlockBytesMax);
  block = block.substr(0, block.find(kPuttyHeader, 1));
  const std::size_t lines = block.find("Private-Lines:");
  if (lines == std::string_view::npos) return std::nullopt;
  const std::size_t mac = block.find("Private-MAC:", lines);
  const std::size_t end = mac == std::string_view::npos ? block.size() : std::min(block.find('\n', mac), block.size());
  return Secret{SecretKind::kPrivateKey, {at, at + end}};
}

/// The secret that begins at `at`. `starts_word`: the byte before is not part of a word.
std::optional<Secret> secret_at(std::string_view text, std::size_t at, bool starts_word) {
  const char c = text[at];
  const std::string_view rest = text.substr(at);
  if (c == '-' && rest.starts_with("-----BEGIN")) return private_key_at(text, at);
  if (c == '=' || c == '>') return assigned_at(text, at);
  if (c == ':') return rest.starts_with("://") ? url_password_at(text, at) : assigned_at(text, at);
  if (!starts_word) return std::nullopt;
  if (c == 'P' && rest.starts_with(kPuttyHeader)) return putty_key_at(text, at);
  if (c == 'e' && rest.starts_with("eyJ")) return at > 0 && text[at - 1] == '-' ? std::nullopt : jwt_at(text, at);
  return token_at(text, at);
}

bool is_word(char c) { return is_ascii_alnum(c) || c == '_'; }

}  // namespace

std::string_view to_string(SecretKind kind) {
  switch (kind) {
    case SecretKind::kPrivateKey: return "private key";
    case SecretKind::kAws: return "AWS key";
    case SecretKind::kGitHost: return "GitHub or GitLab token";
    case SecretKind::kSlack: return "Slack token";
    case SecretKind::kGoogle: return "Google key";
    case SecretKind::kStripe: return "Stripe key";
    case SecretKind::kModelApi: return "model provider's key";
    case SecretKind::kService: return "service token";
    case SecretKind::kFootnoteKey: return "Footnote key";
    case SecretKind::kJwt: return "JSON web token";
    case SecretKind::kUrlPassword: return "password in an address";
    case SecretKind::kAssignment: return "password or token";
  }
  return "secret";
}

std::vector<Secret> find_secrets(std::string_view text) {
  std::vector<Secret> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = secret_at(text, at, at == 0 || !is_word(text[at - 1]));
    if (!found) {
      ++at;
      continue;
    }
    out.push_back(*found);
    at = found->range.end;
    if (out.size() == kSecretsMax) out.back().range.end = at = text.size();
  }
  return out;
}

void mask(std::string& text, std::span<const Secret> secrets) {
  for (const Secret& secret : secrets)
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(secret.range.begin), text.begin() + static_cast<std::ptrdiff_t>(secret.range.end),
              '*');
}

void mask_secrets(std::string& text, std::set<SecretKind>& kinds) {
  const std::vector<Secret> found = find_secrets(text);
  for (const Secret& secret : found) kinds.insert(secret.kind);
  mask(text, found);
}

}  // namespace footnote::ingest
