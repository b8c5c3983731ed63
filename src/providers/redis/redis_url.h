#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// The address of a Redis server.
struct RedisAddress {
  std::string host;  ///< Empty: use `socket`.
  int port = 6379;
  std::string socket;    ///< Path of a Unix socket.
  std::string user;      ///< Empty: the default user.
  std::string password;  ///< Empty: no authentication.
  int database = 0;

  bool operator==(const RedisAddress&) const = default;
};

/// redis://[user:password@]host[:port][/database], or unix:///path?db=2. kInvalidArgument says what is wrong, without the password.
/// kUnsupported: rediss://, because the client library has no TLS; use a local stunnel or a Unix socket.
Result<RedisAddress> parse_redis_url(std::string_view url);

}  // namespace footnote
