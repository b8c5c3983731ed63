#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/metrics.h"
#include "base/mutex.h"
#include "http/circuit_breaker.h"
#include "http/client.h"
#include "http/url.h"

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

struct ClientShared;
class ClientCore;

struct CallEnd {
  int status = 0;  ///< 0: no response head arrived.
  Result<void> result;
  bool broke = false;  ///< True if the connection failed, false if the consumer did.
};

/// A call that the breaker admitted. Its end is reported to the breaker and the metrics exactly once: by `end`, or by the destructor as an
/// abandoned call.
class AdmittedCall {
 public:
  AdmittedCall(ClientCore& core, ClientRequest request, Url url);
  ~AdmittedCall();
  AdmittedCall(AdmittedCall&& other) noexcept;
  AdmittedCall& operator=(AdmittedCall&&) = delete;

  ClientCore& core() const { return *core_; }
  const Url& url() const { return url_; }
  ClientRequest take_request() { return std::move(request_); }
  void end(const CallEnd& end);

 private:
  ClientCore* core_;  // null: ended, or moved from
  ClientRequest request_;
  Url url_;
};

/// The implementation of Client, independent of where a call runs. Thread-safe.
class ClientCore {
 public:
  ClientCore(ClientOptions options, Metrics& metrics);
  ~ClientCore();
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;

  static ClientCore& of(Client& client) { return *client.core_; }

  /// Returns the request as it will be sent, or why it may not be. A client's first https request loads certificates, which takes 60 ms.
  Result<AdmittedCall> admit(const CallContext& context, ClientRequest request);
  /// Runs a call on the client's own I/O thread and blocks until it ends.
  Result<int> stream(const CallContext& context, const ClientRequest& request, const Client::OnHead& on_head,
                     const Client::OnBody& on_body);
  ClientShared& shared() { return *shared_; }

 private:
  friend class AdmittedCall;
  void ended(const std::string& peer, const CallEnd& end);
  Result<void> tls_ready();

  Metrics& metrics_;
  Gauge& calls_open_;
  CircuitBreaker breaker_;
  const std::unique_ptr<ClientShared> shared_;
  Mutex tls_mutex_;
  std::optional<Result<void>> tls_ready_ FOOTNOTE_TSA(guarded_by(tls_mutex_));
};

}  // namespace footnote::http
