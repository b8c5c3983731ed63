#include "ingest/secret_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/text.h"

namespace footnote::ingest {

namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kValueBytesMin = 8;
constexpr std::size_t kValueBytesMax = 256;
constexpr std::size_t kGapBytesMax = 8;
/// From this length letters and digits are enough; shorter values need three character classes.
constexpr std::size_t kLongValueBytes = 16;
constexpr double kShortEntropyMin = 2.75;
constexpr double kLongEntropyMin = 3.3;

/// Published by their vendors. Split, so that secret scanners do not report this file.
constexpr auto kVendorExamples = std::to_array<std::string_view>({
    "sk_test_"
    "4eC39HqLyjWDarjtT1zdp7dc",
    "sk_test_"
    "BQokikJOvBiI2HlWgH4olfQ2",
    "sk_test_"
    "tR3PYbcVNZZ796tH88S4VQ2u",
    "ghp_"
    "16C7e42F292c6912E7710c838347Ae178B4a",
    "xoxb-"
    "17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzzqgy",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",  // RFC 7617
    "YWxhZGRpbjpvcGVuc2VzYW1l",
    "mF_9.B5f-4.1JqM",         // RFC 6750
    "2YotnFZFEjr1zCsicMWpAA",  // RFC 6749
    "7Fjfp0ZBr1KtDRbnfVdmIw",
    "tGzv3JOkF0XG5Qx2TlKWIA",
});

constexpr auto kBlotted = std::to_array<std::string_view>({"example", "xxxx", "****", "....", "your", "placeholder", "redacted"});
/// Words in example values of manuals.
constexpr auto kMadeUp =
    std::to_array<std::string_view>({"change", "dummy", "sample", "insert", "foobar", "12345678", "password", "passwort", "secret",
                                     "hunter2", "abcdef", "undefined", "localhost", "my-", "my_", "test1", "-here", "_here"});
/// No secret contains these; a short password may contain the others.
constexpr std::string_view kCodeCharacters = "(){}[]<>$ ";
constexpr std::string_view kLongCodeCharacters = "(){}[]<>$ \t@%\\|&;,?";

constexpr auto kNamesWithin =
    std::to_array<std::string_view>({"password", "passwd", "passphrase", "secret", "apikey", "api_key", "api-key", "private_key",
                                     "private-key", "privatekey", "access_key", "access-key", "accesskey", "authtoken", "auth_token"});
constexpr auto kNameEndings =
    std::to_array<std::string_view>({"token", "pwd", "pass", "credential", "credentials", "encryption_key", "signing_key", "app_key",
                                     "master_key", "accountkey", "account_key", "auth_key", "service_key", "shared_key", "license_key"});

bool is_name_character(char c) { return is_ascii_alnum(c) || c == '_' || c == '-' || c == '.'; }

bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

/// Spaces, quotes and the backslash before a quote inside a string.
bool is_gap(char c) { return c == ' ' || c == '\t' || c == '\\' || is_quote(c); }

/// The name before `at`: `password` in `$config["password"] =`. Empty if there is none nearby.
std::string_view name_before(std::string_view text, std::size_t at) {
  std::size_t end = at;
  const auto is_between = [](char c) { return is_gap(c) || c == ']' || c == ')' || c == '*'; };
  for (std::size_t gap = 0; end > 0 && is_between(text[end - 1]) && gap < kGapBytesMax; ++gap) --end;
  std::size_t begin = end;
  while (begin > 0 && end - begin < kNameBytesMax && is_name_character(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

bool names_a_secret(std::string_view given) {
  const std::string name = to_lower_ascii(given);
  const auto within = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const auto ends = [&](std::string_view word) { return name.ends_with(word); };
  return std::ranges::any_of(kNamesWithin, within) || std::ranges::any_of(kNameEndings, ends);
}

/// The value from `begin`: up to its closing quote, or to the first byte that ends a bare word.
std::string_view value_at(std::string_view text, std::size_t begin, char quote) {
  std::size_t end = begin;
  const auto ends = [&](char c) {
    if (c == '\n' || (static_cast<unsigned char>(c) < 0x20 && c != '\t')) return true;
    if (quote != 0) return c == quote || (c == '\\' && end + 1 < text.size() && text[end + 1] == quote);
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '<' || c == '|' || is_quote(c);
  };
  while (end < text.size() && end - begin < kValueBytesMax && !ends(text[end])) ++end;
  return text.substr(begin, end - begin);
}

bool holds_any(std::string_view value, std::span<const std::string_view> words) {
  const std::string folded = to_lower_ascii(value);
  return std::ranges::any_of(words, [&](std::string_view word) { return folded.find(word) != std::string::npos; });
}

bool is_authorization(std::string_view name) { return to_lower_ascii(name).ends_with("authorization"); }

}  // namespace

double entropy_bits(std::string_view text) {
  if (text.empty()) return 0;
  std::array<std::size_t, 256> counts{};
  for (const unsigned char c : text) ++counts[c];
  double bits = 0;
  for (const std::size_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

bool is_example(std::string_view value) {
  return std::ranges::find(kVendorExamples, value) != kVendorExamples.end() || holds_any(value, kBlotted);
}

bool looks_random(std::string_view value) {
  if (value.size() < kValueBytesMin) return false;
  const bool is_long = value.size() >= kLongValueBytes;
  if (value.find_first_of(is_long ? kLongCodeCharacters : kCodeCharacters) != std::string_view::npos) return false;
  if (value.find("::") != std::string_view::npos || value.find("//") != std::string_view::npos) return false;
  if (value.find_first_of("/.*-") == 0 || value.ends_with("...") || value.ends_with("\u2026")) return false;
  const auto count = [&](char from, char to) { return std::ranges::count_if(value, [=](char c) { return c >= from && c <= to; }); };
  const auto lower = count('a', 'z');
  const auto upper = count('A', 'Z');
  const auto digits = count('0', '9');
  if (digits == 0 || lower + upper == 0) return false;
  const bool both_cases = lower > 0 && upper > 0;
  // "session-store-v2-prefix": lower-case words with a number are names.
  if (is_long ? !both_cases && digits < 4 : !both_cases) return false;
  if (entropy_bits(value) < (is_long ? kLongEntropyMin : kShortEntropyMin)) return false;
  return !is_example(value) && !holds_any(value, kMadeUp);
}

std::optional<Secret> assigned_at(std::string_view text, std::size_t at) {
  const std::string_view name = name_before(text, at);
  const bool authorization = is_authorization(name);
  if (!authorization && (name.size() < 3 || !names_a_secret(name))) return std::nullopt;
  std::size_t begin = at + 1;
  while (begin < text.size() && begin - at <= 2 && (text[begin] == '=' || text[begin] == '>' || text[begin] == ':')) ++begin;
  char quote = 0;
  const auto is_between = [](char c) { return is_gap(c) || c == '*'; };  // **Password:** ...
  for (std::size_t gap = 0; begin < text.size() && is_between(text[begin]) && gap < kGapBytesMax; ++gap, ++begin) {
    if (is_quote(text[begin])) quote = text[begin];
  }
  if (authorization) {
    const std::string scheme = to_lower_ascii(text.substr(begin, 7));
    const std::size_t skipped = scheme.starts_with("bearer ") ? 7 : scheme.starts_with("basic ") || scheme.starts_with("token ") ? 6 : 0;
    if (skipped == 0) return std::nullopt;
    begin += skipped;
  }
  const std::string_view value = value_at(text, begin, authorization ? '\0' : quote);
  if (!looks_random(value)) return std::nullopt;
  const bool aws = to_lower_ascii(name).find("aws") != std::string::npos;
  return Secret{aws ? SecretKind::kAws : SecretKind::kAssignment, {begin, begin + value.size()}};
}

std::optional<Secret> url_password_at(std::string_view text, std::size_t at) {
  const std::size_t begin = at + 3;
  std::size_t end = begin;
  std::size_t colon = std::string_view::npos;
  std::size_t host = std::string_view::npos;
  for (; end < text.size() && end - begin < kValueBytesMax; ++end) {
    const char c = text[end];
    if (static_cast<unsigned char>(c) <= 0x20 || c == '/' || c == '<' || c == '>' || is_quote(c)) break;
    if (c == ':' && colon == std::string_view::npos) colon = end;
    if (c == '@') host = end;
  }
  if (colon == std::string_view::npos || host == std::string_view::npos || colon > host) return std::nullopt;
  const std::string_view value = text.substr(colon + 1, host - colon - 1);
  if (!looks_random(value)) return std::nullopt;
  return Secret{SecretKind::kUrlPassword, {colon + 1, host}};
}

}  // namespace footnote::ingest
