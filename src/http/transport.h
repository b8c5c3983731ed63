#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/detail_asio.h"  // before every other header of Asio
#include "http/url.h"

#include <boost/asio/ssl/context.hpp>

// For .cpp files of this folder only.
namespace footnote::http {

/// One connection to an upstream, plain or TLS. Lives on one I/O thread. Closing ends every wait on it.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Tcp::socket& socket() = 0;
  /// Whether the socket's bytes are those of read_some.
  virtual bool is_plain() const = 0;
  /// After the connect. For TLS it checks the certificate and that it is the host's.
  virtual Task<SystemError> handshake() = 0;
  virtual Task<std::pair<SystemError, std::size_t>> read_some(asio::mutable_buffer space) = 0;
  virtual Task<SystemError> write_all(asio::const_buffer bytes) = 0;

  void close() {
    SystemError ignored;
    socket().close(ignored);
  }
  /// False when the peer has closed or sent what nobody asked for.
  bool is_quiet();
};

/// Not yet connected. `tls` must outlive it.
std::unique_ptr<Transport> make_transport(const asio::any_io_executor& executor, asio::ssl::context& tls, const Url& url);

/// A context that checks certificates against `ca_file`, or the system's store when that is empty.
/// kInvalidArgument names a file that can't be read.
Result<void> set_up_tls(asio::ssl::context& tls, const std::string& ca_file);

/// The addresses of a host. Ends by `deadline` or when `cancel` is cancelled, even where the system's resolver hangs.
Task<Result<std::vector<Tcp::endpoint>>> resolve(const Url& url, asio::steady_timer& cancel,
                                                 std::chrono::steady_clock::time_point deadline);

}  // namespace footnote::http
