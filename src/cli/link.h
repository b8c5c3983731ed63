#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/call_context.h"
#include "base/json.h"
#include "base/metrics.h"
#include "http/client.h"
#include "http/router.h"

namespace footnote::cli {

/// How commands call the HTTP routes: those of this process (RouterLink), or of the server that holds the data folder (ServerLink), with
/// the same requests and responses. Calls are made as the owner of the data folder, in one workspace. Not thread-safe.
class Link {
 public:
  virtual ~Link() = default;

  /// The server's URL; empty: this process.
  virtual std::string_view server_url() const = 0;

  /// Receives the body of a 2xx response as it arrives.
  using OnBody = std::function<Result<void>(std::string_view bytes)>;
  /// `body` may be null. A response other than 2xx is returned as its Error. kUnavailable: nothing listens there.
  virtual Result<void> exchange(const CallContext& call, http::Method method, std::string_view target, const Json* body,
                                const OnBody& on_body) = 0;

  /// Returns the whole body unchanged.
  Result<std::string> get_text(const CallContext& call, std::string_view target) {
    return fetch(call, http::Method::kGet, target, nullptr);
  }
  Result<Json> get(const CallContext& call, std::string_view target) { return send(call, http::Method::kGet, target, nullptr); }
  Result<Json> post(const CallContext& call, std::string_view target, const Json& body) {
    return send(call, http::Method::kPost, target, &body);
  }
  Result<Json> send(const CallContext& call, http::Method method, std::string_view target, const Json* body);

  /// Receives the JSON of each server-sent event. An event with an error envelope ends the stream with that Error.
  using OnEvent = std::function<Result<void>(const Json& event)>;
  Result<void> stream(const CallContext& call, std::string_view target, const Json& body, const OnEvent& on_event);

 private:
  Result<std::string> fetch(const CallContext& call, http::Method method, std::string_view target, const Json* body);
};

/// The caller's identity; `token` may be empty.
struct LinkCaller {
  std::string token;
  std::string workspace;
};

/// Over HTTP.
class ServerLink final : public Link {
 public:
  ServerLink(std::string url, const LinkCaller& caller);
  std::string_view server_url() const override { return url_; }
  Result<void> exchange(const CallContext& call, http::Method method, std::string_view target, const Json* body,
                        const OnBody& on_body) override;

 private:
  const std::string url_;
  http::Headers headers_;
  Metrics metrics_;
  http::Client client_;
};

/// Calls handlers on the caller's thread. The server's limits on time and size do not apply.
class RouterLink final : public Link {
 public:
  /// `parts` owns what the routes borrow. Its type is erased so that this header need not know it.
  static Result<std::unique_ptr<RouterLink>> open(std::vector<http::Route> routes, const LinkCaller& caller, std::shared_ptr<void> parts);
  std::string_view server_url() const override { return {}; }
  Result<void> exchange(const CallContext& call, http::Method method, std::string_view target, const Json* body,
                        const OnBody& on_body) override;

 private:
  RouterLink(http::Router router, const LinkCaller& caller, std::shared_ptr<void> parts);

  const std::shared_ptr<void> parts_;
  const http::Router router_;
  http::Headers headers_;
};

}  // namespace footnote::cli
