#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "base/json.h"
#include "base/metrics.h"
#include "http/client.h"

namespace footnote::cli {

/// The server that holds the data folder, over HTTP. Not thread-safe.
class ServerLink {
 public:
  /// `token` may be empty. Calls go to the workspace of that name.
  ServerLink(const std::string& url, const std::string& token, const std::string& workspace);

  const std::string& url() const { return url_; }

  /// The body of a 2xx answer to GET, as it came; errors as below.
  Result<std::string> get_text(const CallContext& call, std::string_view path) { return fetch(call, http::Method::kGet, path, nullptr); }
  /// The JSON of a 2xx answer. An error envelope comes back as its Error; kUnavailable: nobody listens there.
  Result<Json> get(const CallContext& call, std::string_view path) { return send(call, http::Method::kGet, path, nullptr); }
  Result<Json> post(const CallContext& call, std::string_view path, const Json& body) {
    return send(call, http::Method::kPost, path, &body);
  }
  /// `body` may be null.
  Result<Json> send(const CallContext& call, http::Method method, std::string_view path, const Json* body);

 private:
  Result<std::string> fetch(const CallContext& call, http::Method method, std::string_view path, const Json* body);

  std::string url_;
  http::Headers headers_;
  Metrics metrics_;
  http::Client client_;
};

/// What an error answer says: the code, message and field of the envelope, or the status where there is none.
Error error_of_response(int status, std::string_view body);

}  // namespace footnote::cli
