#include "api/visitor_token.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/sha256.h"

namespace footnote::api {

namespace {

/// {"alg":"HS256","typ":"JWT"}
constexpr std::string_view kHeader = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
constexpr std::string_view kIssuer = "footnote";

std::string to_base64url(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<unsigned>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.push_back(static_cast<char>(bits >> held & 0xFF));
  }
  return out;
}

std::string bytes_of_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) out.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  return out;
}

std::int64_t seconds_of(UtcTime time) { return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count(); }

UtcTime time_of(std::int64_t seconds) { return UtcTime{std::chrono::seconds{seconds}}; }

std::unexpected<Error> invalid() { return fail(ErrorCode::kUnauthenticated, "the token is not valid"); }

}  // namespace

VisitorTokens::VisitorTokens(std::string_view secret) : key_(hmac_sha256_hex(secret, "footnote visitor token 1")) {}

std::string VisitorTokens::signature(std::string_view signed_part) const {
  return to_base64url(bytes_of_hex(hmac_sha256_hex(key_, signed_part)));
}

std::string VisitorTokens::issue(const VisitorClaims& claims) const {
  const std::string payload = to_text(JsonObject{{"iss", kIssuer},
                                                 {"iat", seconds_of(claims.issued_at)},
                                                 {"exp", seconds_of(claims.expires_at)},
                                                 {"origin", claims.origin},
                                                 {"workspace", claims.workspace.value},
                                                 {"agent_id", claims.agent.value},
                                                 {"visitor_id", claims.visitor.value},
                                                 {"conversation_id", claims.conversation.value},
                                                 {"locale", claims.locale},
                                                 {"playground", claims.playground}});
  const std::string signed_part = fmt::format("{}.{}", kHeader, to_base64url(payload));
  return signed_part + "." + signature(signed_part);
}

Result<VisitorClaims> VisitorTokens::read(std::string_view token) const {
  const std::size_t last = token.rfind('.');
  if (token.size() > kVisitorTokenBytesMax || last == std::string_view::npos || last <= kHeader.size()) return invalid();
  const std::string_view signed_part = token.substr(0, last);
  if (!signed_part.starts_with(kHeader) || signed_part[kHeader.size()] != '.') return invalid();
  if (!equal_in_constant_time(token.substr(last + 1), signature(signed_part))) return invalid();
  // The signature is ours; a payload that does not parse was made by another version.
  const auto payload = from_base64url(signed_part.substr(kHeader.size() + 1));
  const auto parsed = payload ? parse_json(*payload) : Result<Json>(invalid());
  const JsonObject* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return invalid();
  const auto text = [&](std::string_view name) -> std::string {
    const Json* value = object->if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
  };
  const auto number = [&](std::string_view name) -> std::int64_t {
    const Json* value = object->if_contains(name);
    return value != nullptr && value->is_int64() ? value->as_int64() : 0;
  };
  const Json* playground = object->if_contains("playground");
  VisitorClaims claims{.origin = text("origin"),
                       .workspace = {number("workspace")},
                       .agent = {text("agent_id")},
                       .visitor = {text("visitor_id")},
                       .conversation = {text("conversation_id")},
                       .locale = text("locale"),
                       .playground = playground != nullptr && playground->is_bool() && playground->as_bool(),
                       .issued_at = time_of(number("iat")),
                       .expires_at = time_of(number("exp"))};
  if (text("iss") != kIssuer || !claims.workspace || !claims.agent || !claims.visitor || !claims.conversation) return invalid();
  return claims;
}

Result<VisitorClaims> VisitorTokens::check(std::string_view token, UtcTime now) const {
  FOOTNOTE_TRY(VisitorClaims claims, read(token));
  if (now >= claims.expires_at) return fail(ErrorCode::kUnauthenticated, "the token has expired; call init again");
  return claims;
}

Result<VisitorClaims> VisitorTokens::check_for_resume(std::string_view token, UtcTime now) const {
  FOOTNOTE_TRY(VisitorClaims claims, read(token));
  if (now - claims.issued_at >= kVisitorResumeTime) return fail(ErrorCode::kUnauthenticated, "the token is too old");
  return claims;
}

}  // namespace footnote::api
