#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote {

/// Where a Redis listens.
struct RedisAddress {
  std::string host;  ///< Empty: `socket` instead.
  int port = 6379;
  std::string socket;    ///< Path of a Unix socket.
  std::string user;      ///< Empty: the default one.
  std::string password;  ///< Empty: none is asked for.
  int database = 0;

  bool operator==(const RedisAddress&) const = default;
};

/// redis://[user:password@]host[:port][/database], or unix:///path?db=2. kInvalidArgument tells what is wrong, never the password.
/// kUnsupported: rediss://, for the client library speaks no TLS; a local stunnel or a Unix socket does.
Result<RedisAddress> parse_redis_url(std::string_view url);

}  // namespace footnote
