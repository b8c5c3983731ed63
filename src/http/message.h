#pragma once

#include <any>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/trace_context.h"

namespace footnote::http {

enum class Method { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };

/// "GET", "POST", ...
std::string_view to_string(Method method);
/// Exact match (methods are case-sensitive). nullopt for any other method.
std::optional<Method> parse_method(std::string_view name);

using NameValues = std::vector<std::pair<std::string, std::string>>;

/// Header fields in order. Names compare case-insensitively (ASCII). Views are valid until the next change.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}

  /// The first field with that name.
  std::optional<std::string_view> find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }
  std::size_t count(std::string_view name) const;
  /// Replaces all fields with that name by one.
  void set(std::string_view name, std::string_view value);
  /// Appends; keeps other fields with the same name.
  void add(std::string_view name, std::string_view value);
  void remove(std::string_view name);

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }
  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }

 private:
  NameValues fields_;
};

/// Takes a request's body as it arrives, for bodies that are too long for memory. Called on the connection's thread: it may write to a
/// local file, and must not wait for anything else.
class BodySink {
 public:
  virtual ~BodySink() = default;
  /// An error ends the request with it.
  virtual Result<void> write(std::string_view bytes) = 0;
};

/// One request with its complete body. `path`, `path_params` and `query` are percent-decoded, valid UTF-8 and free of NUL; header values
/// and the body are as sent. There is exactly one "host" field: the host and port that the request addresses, from the target or the Host
/// field; empty if an HTTP/1.0 client sent neither. Origin, Content-Type and Authorization occur at most once.
struct Request {
  Method method = Method::kGet;
  std::string path;
  NameValues path_params;
  NameValues query;
  Headers headers;
  std::string body;
  std::string remote_address;  ///< Client's IP address without port: the peer's, or as reported by a trusted proxy.
  std::string request_id;      ///< [A-Za-z0-9._-]{1,64}; sent by the client or generated.
  TraceContext trace;          ///< A new span, in the client's trace if it sent a valid `traceparent`.
  std::string route;           ///< The matching pattern; empty before routing (in a guard).
  std::any attachment;         ///< Set by the route's `admit`.
  /// The route's, if it has one and the body came over a connection: it has the body, and `body` is empty. Shared with the connection.
  std::shared_ptr<BodySink> body_sink = {};

  /// The segment matched by "{name}", or empty. REQUIRES: the route's pattern has that name.
  std::string_view param(std::string_view name) const;
  /// The first query parameter with that name.
  std::optional<std::string_view> query_value(std::string_view name) const;
};

/// One complete response. The server adds content-length, date, connection, x-request-id and traceparent; control characters in header
/// values are dropped (no response splitting).
struct Response {
  int status = 200;
  Headers headers;
  std::string body;

  static Response json(int status, const Json& value);
  static Response text(int status, std::string_view content_type, std::string body);
};

/// "Not Found"; "Unknown" for a status without a registered phrase.
std::string_view reason_phrase(int status);

}  // namespace footnote::http
