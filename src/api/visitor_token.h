#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ids.h"

namespace footnote::api {

inline constexpr std::chrono::minutes kVisitorTokenTime{60};
/// How long after it was made a token still brings a visitor back to the same conversation.
inline constexpr std::chrono::hours kVisitorResumeTime{24};
inline constexpr std::size_t kVisitorTokenBytesMax = 4'096;

/// What a visitor's token says. Signed, not secret: nothing in it is.
struct VisitorClaims {
  std::string origin;  ///< Of the page that the widget is on.
  WorkspaceId workspace;
  AgentId agent;
  VisitorId visitor;
  ConversationId conversation;
  std::string locale = {};
  bool playground = false;
  UtcTime issued_at;
  UtcTime expires_at;
};

/// Makes and checks visitors' tokens: JWTs under HMAC-SHA-256. One kind of header is accepted, byte for byte, so that no token chooses how
/// it is checked; signatures are compared in constant time. Thread-safe.
class VisitorTokens {
 public:
  /// `secret`: what nobody else knows; the same after a restart.
  explicit VisitorTokens(std::string_view secret);

  std::string issue(const VisitorClaims& claims) const;
  /// kUnauthenticated: forged, malformed or expired.
  Result<VisitorClaims> check(std::string_view token, UtcTime now) const;
  /// The same for a token that may have expired, but is not older than kVisitorResumeTime.
  Result<VisitorClaims> check_for_resume(std::string_view token, UtcTime now) const;

 private:
  Result<VisitorClaims> read(std::string_view token) const;
  std::string signature(std::string_view signed_part) const;

  const std::string key_;
};

}  // namespace footnote::api
