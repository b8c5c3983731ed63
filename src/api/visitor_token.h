#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ids.h"

namespace footnote::api {

inline constexpr std::chrono::minutes kVisitorTokenTime{60};
/// How long after its creation a token can still resume the same conversation.
inline constexpr std::chrono::hours kVisitorResumeTime{24};
inline constexpr std::size_t kVisitorTokenBytesMax = 4'096;

/// The claims of a visitor's token. Signed but not encrypted: nothing in it is secret.
struct VisitorClaims {
  std::string origin;  ///< Origin of the page that the widget is on.
  WorkspaceId workspace;
  AgentId agent;
  VisitorId visitor;
  ConversationId conversation;
  std::string locale = {};
  bool playground = false;
  UtcTime issued_at;
  UtcTime expires_at;
};

/// Issues and verifies visitors' tokens: JWTs with HMAC-SHA-256. Only one exact header is accepted, so a token can't choose its algorithm;
/// signatures are compared in constant time. Thread-safe.
class VisitorTokens {
 public:
  /// `secret` must be private and the same after a restart.
  explicit VisitorTokens(std::string_view secret);

  std::string issue(const VisitorClaims& claims) const;
  /// kUnauthenticated: forged, malformed or expired.
  Result<VisitorClaims> check(std::string_view token, UtcTime now) const;
  /// Like check, but accepts an expired token not older than kVisitorResumeTime.
  Result<VisitorClaims> check_for_resume(std::string_view token, UtcTime now) const;

 private:
  Result<VisitorClaims> read(std::string_view token) const;
  std::string signature(std::string_view signed_part) const;

  const std::string key_;
};

}  // namespace footnote::api
