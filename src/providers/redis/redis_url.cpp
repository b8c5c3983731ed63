#include "providers/redis/redis_url.h"

#include <optional>

#include "base/text.h"

namespace footnote {

namespace {

std::optional<int> number(std::string_view text, int max) {
  const auto out = parse_whole_number<int>(text);
  return out && *out >= 0 && *out <= max ? out : std::nullopt;
}

/// Decodes %XX in user and password.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

constexpr int kDatabaseMax = 1'000'000;
constexpr int kPortMax = 65'535;

std::unexpected<Error> bad(std::string_view what) {
  return fail(ErrorCode::kInvalidArgument,
              "the address of Redis has {}; write redis://[user:password@]host[:port][/database] or unix:///path", what);
}

Result<void> read_user(std::string_view text, RedisAddress& out) {
  const std::size_t colon = text.find(':');
  const auto user = unescaped(text.substr(0, colon));
  const auto password = unescaped(colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1));
  if (!user || !password) return bad("a user or password that is not percent-encoded");
  out.user = *user;
  out.password = *password;
  return {};
}

Result<void> read_host(std::string_view text, RedisAddress& out) {
  std::size_t host_end = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return bad("no ] after its host");
    out.host = text.substr(1, bracket - 1);
    host_end = bracket + 1 < text.size() ? bracket + 1 : std::string_view::npos;
    if (host_end != std::string_view::npos && text[host_end] != ':') return bad("something between host and port");
  } else {
    out.host = text.substr(0, host_end);
  }
  if (out.host.empty()) return bad("no host");
  if (host_end == std::string_view::npos) return {};
  const auto port = number(text.substr(host_end + 1), kPortMax);
  if (!port || *port == 0) return bad("no port from 1 to 65535 after its host");
  out.port = *port;
  return {};
}

Result<RedisAddress> read_socket(std::string_view rest) {
  RedisAddress out;
  const std::size_t question = rest.find('?');
  out.socket = rest.substr(0, question);
  if (!out.socket.starts_with('/')) return bad("no absolute path");
  if (question == std::string_view::npos) return out;
  const std::string_view query = rest.substr(question + 1);
  const auto database = query.starts_with("db=") ? number(query.substr(3), kDatabaseMax) : std::nullopt;
  if (!database) return bad("more after its path than ?db= and a number");
  out.database = *database;
  return out;
}

}  // namespace

Result<RedisAddress> parse_redis_url(std::string_view url) {
  constexpr std::string_view kTcp = "redis://";
  constexpr std::string_view kUnix = "unix://";
  if (url.starts_with("rediss://")) {
    return fail(ErrorCode::kUnsupported, "Redis over TLS is not supported: use redis:// through a tunnel, or unix:///path");
  }
  if (url.starts_with(kUnix)) return read_socket(url.substr(kUnix.size()));
  if (!url.starts_with(kTcp)) return bad("no redis:// or unix:// before it");
  RedisAddress out;
  std::string_view rest = url.substr(kTcp.size());
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    FOOTNOTE_CHECK(read_user(rest.substr(0, at), out));
    rest.remove_prefix(at + 1);
  }
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    const std::string_view database = rest.substr(slash + 1);
    const auto chosen = database.empty() ? std::optional(0) : number(database, kDatabaseMax);
    if (!chosen) return bad("no database number after its /");
    out.database = *chosen;
    rest = rest.substr(0, slash);
  }
  FOOTNOTE_CHECK(read_host(rest, out));
  return out;
}

}  // namespace footnote
