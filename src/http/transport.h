#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/detail_asio.h"  // before every other header of Asio
#include "http/url.h"

#include <boost/asio/ssl/context.hpp>

// Internal to this directory: include only from its .cpp files.
namespace footnote::http {

/// One connection to an upstream, plain or TLS. Lives on one I/O thread. Closing ends all pending operations.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Tcp::socket& socket() = 0;
  /// True if read_some returns the socket's bytes unchanged (no TLS).
  virtual bool is_plain() const = 0;
  /// Call after connecting. TLS verifies the certificate and that it matches the host.
  virtual Task<SystemError> handshake() = 0;
  virtual Task<std::pair<SystemError, std::size_t>> read_some(asio::mutable_buffer space) = 0;
  virtual Task<SystemError> write_all(asio::const_buffer bytes) = 0;

  void close() {
    SystemError ignored;
    (void)socket().close(ignored);
  }
  /// False if the peer has closed or sent unsolicited data.
  bool is_quiet();
};

/// Creates an unconnected transport. `tls` must outlive it.
std::unique_ptr<Transport> make_transport(const asio::any_io_executor& executor, asio::ssl::context& tls, const Url& url);

/// Configures `tls` to verify certificates against `ca_file`, or the system's store if that is empty. kInvalidArgument names an unreadable
/// file.
Result<void> set_up_tls(asio::ssl::context& tls, const std::string& ca_file);

/// Resolves a host. Ends by `deadline` or when `cancel` is cancelled, even if the system's resolver hangs.
Task<Result<std::vector<Tcp::endpoint>>> resolve(const Url& url, asio::steady_timer& cancel,
                                                 std::chrono::steady_clock::time_point deadline);

}  // namespace footnote::http
