#include "http/transport.h"

#include <poll.h>

#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace footnote::http {

namespace {

/// Public message without the host, which belongs to the operator.
constexpr std::string_view kNotFoundInTime = "another server's address can't be found";

/// Reads and writes through an Asio stream.
template <class Stream>
class StreamTransport : public Transport {
 public:
  template <class... Args>
  explicit StreamTransport(Args&&... args) : stream_(std::forward<Args>(args)...) {}

  Task<std::pair<SystemError, std::size_t>> read_some(asio::mutable_buffer space) override {
    auto [error, size] = co_await stream_.async_read_some(space, kAwait);
    co_return std::pair(error, size);
  }
  Task<SystemError> write_all(asio::const_buffer bytes) override {
    auto [error, size] = co_await asio::async_write(stream_, bytes, kAwait);
    co_return error;
  }

 protected:
  Stream stream_;
};

class PlainTransport final : public StreamTransport<Tcp::socket> {
 public:
  explicit PlainTransport(const asio::any_io_executor& executor) : StreamTransport(executor) {}

  Tcp::socket& socket() override { return stream_; }
  bool is_plain() const override { return true; }
  Task<SystemError> handshake() override { co_return SystemError{}; }
};

class TlsTransport final : public StreamTransport<asio::ssl::stream<Tcp::socket>> {
 public:
  TlsTransport(const asio::any_io_executor& executor, asio::ssl::context& tls, std::string host)
      : StreamTransport(executor, tls), host_(std::move(host)) {}

  Tcp::socket& socket() override { return stream_.next_layer(); }
  bool is_plain() const override { return false; }
  Task<SystemError> handshake() override {
    SystemError error;
    asio::ip::make_address(host_, error);
    // Server name indication is only for names, not addresses.
    if (error) SSL_set_tlsext_host_name(stream_.native_handle(), host_.c_str());
    stream_.set_verify_mode(asio::ssl::verify_peer);
    stream_.set_verify_callback(asio::ssl::host_name_verification(host_));
    auto [result] = co_await stream_.async_handshake(asio::ssl::stream_base::client, kAwait);
    co_return result;
  }

 private:
  const std::string host_;
};

/// Result of a DNS lookup, for the coroutine that awaits it. Shared: the resolver's thread may finish long after.
struct LookUp {
  explicit LookUp(const asio::any_io_executor& executor) : resolver(executor) {}
  Tcp::resolver resolver;
  SystemError error;
  std::vector<Tcp::endpoint> endpoints;
  bool done = false;
  bool abandoned = false;
};

}  // namespace

bool Transport::is_quiet() {
  pollfd entry{socket().native_handle(), POLLIN | POLLRDHUP, 0};
  return socket().is_open() && ::poll(&entry, 1, 0) == 0;
}

std::unique_ptr<Transport> make_transport(const asio::any_io_executor& executor, asio::ssl::context& tls, const Url& url) {
  switch (url.scheme) {
    case Scheme::kHttp: break;
    case Scheme::kHttps: return std::make_unique<TlsTransport>(executor, tls, url.host);
  }
  return std::make_unique<PlainTransport>(executor);
}

Result<void> set_up_tls(asio::ssl::context& tls, const std::string& ca_file) {
  SystemError error;
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 | asio::ssl::context::no_sslv3 |
                      asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
                  error);
  if (ca_file.empty()) {
    tls.set_default_verify_paths(error);
    return {};
  }
  tls.load_verify_file(ca_file, error);
  if (error) return fail(ErrorCode::kInvalidArgument, "can't read certificates from '{}': {}", ca_file, error.message());
  return {};
}

Task<Result<std::vector<Tcp::endpoint>>> resolve(const Url& url, asio::steady_timer& cancel,
                                                 std::chrono::steady_clock::time_point deadline) {
  SystemError error;
  if (const auto address = asio::ip::make_address(url.host, error); !error) {
    co_return std::vector<Tcp::endpoint>{Tcp::endpoint(address, url.port)};
  }
  const auto look_up = std::make_shared<LookUp>(cancel.get_executor());
  look_up->resolver.async_resolve(url.host, std::to_string(url.port),
                                  [look_up, &cancel](SystemError result, Tcp::resolver::results_type found) {
                                    look_up->done = true;
                                    look_up->error = result;
                                    for (const auto& entry : found) look_up->endpoints.push_back(entry.endpoint());
                                    if (!look_up->abandoned) cancel.cancel();
                                  });
  cancel.expires_at(deadline);
  co_await cancel.async_wait(kAwait);
  look_up->abandoned = true;
  if (!look_up->done)
    co_return with_public_message(fail(ErrorCode::kUnavailable, "resolving '{}' took too long", url.host), kNotFoundInTime);
  if (look_up->error) {
    co_return with_public_message(fail(ErrorCode::kUnavailable, "can't resolve host '{}': {}", url.host, look_up->error.message()),
                                  kNotFoundInTime);
  }
  co_return std::move(look_up->endpoints);
}

}  // namespace footnote::http
