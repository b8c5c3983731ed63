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

/// The HTTP routes, as commands use them: those of this process (RouterLink), or of the server that holds the data folder (ServerLink).
/// Requests and answers are the same. Calls are made by the owner of the data folder, in one workspace. Not thread-safe.
class Link {
 public:
  virtual ~Link() = default;

  /// Whose routes these are; empty: this process's.
  virtual std::string_view server_url() const = 0;

  /// Hears the body of a 2xx answer as it arrives.
  using OnBody = std::function<Result<void>(std::string_view bytes)>;
  /// `body` may be null. An answer that is not 2xx comes back as its Error. kUnavailable: nobody listens there.
  virtual Result<void> exchange(const CallContext& call, http::Method method, std::string_view target, const Json* body,
                                const OnBody& on_body) = 0;

  /// The whole body, as it came.
  Result<std::string> get_text(const CallContext& call, std::string_view target) {
    return fetch(call, http::Method::kGet, target, nullptr);
  }
  Result<Json> get(const CallContext& call, std::string_view target) { return send(call, http::Method::kGet, target, nullptr); }
  Result<Json> post(const CallContext& call, std::string_view target, const Json& body) {
    return send(call, http::Method::kPost, target, &body);
  }
  Result<Json> send(const CallContext& call, http::Method method, std::string_view target, const Json* body);

  /// The JSON of each server-sent event. One with the envelope of an error ends the stream with that Error.
  using OnEvent = std::function<Result<void>(const Json& event)>;
  Result<void> stream(const CallContext& call, std::string_view target, const Json& body, const OnEvent& on_event);

 private:
  Result<std::string> fetch(const CallContext& call, http::Method method, std::string_view target, const Json* body);
};

/// Who calls: `token` may be empty.
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

/// Calls handlers on the caller's thread. A route's limits of time and size are the server's and do not hold here.
class RouterLink final : public Link {
 public:
  /// `parts` is what the routes borrow from; it is shared only so that its type need not be known here.
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
