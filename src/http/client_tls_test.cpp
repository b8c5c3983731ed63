#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <csignal>
#include <filesystem>
#include <memory>

#include "http/client.h"
#include "http/test_server.h"

namespace footnote::http {
namespace {

using namespace testing;

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreeWith<X509_free>>;

/// A self-signed certificate for these names: "DNS:localhost,IP:127.0.0.1".
Certificate make_certificate(EVP_PKEY* key, const std::string& names) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

/// A TLS server for any number of requests, each answered with "secure".
class TlsUpstream {
 public:
  explicit TlsUpstream(const std::string& names)
      : key_(EVP_EC_gen("P-256")), certificate_(make_certificate(key_.get(), names)), context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate(context_.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
    ca_file_ =
        (std::filesystem::temp_directory_path() / fmt::format("footnote-http-test-{}-{}.pem", ::getpid(), listener_.port())).string();
    std::FILE* file = std::fopen(ca_file_.c_str(), "w");
    PEM_write_X509(file, certificate_.get());
    std::fclose(file);
    thread_ = std::thread([this] { run(); });
  }
  ~TlsUpstream() {
    stopping_ = true;
    TestSocket::connect(listener_.port());
    thread_.join();
    std::filesystem::remove(ca_file_);
  }
  std::uint16_t port() const { return listener_.port(); }
  const std::string& ca_file() const { return ca_file_; }

 private:
  void run() {
    while (!stopping_) {
      TestSocket socket = listener_.accept();
      const timeval limit{2, 0};
      ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      const std::unique_ptr<SSL, FreeWith<SSL_free>> ssl(SSL_new(context_.get()));
      SSL_set_fd(ssl.get(), socket.descriptor());
      if (stopping_ || SSL_accept(ssl.get()) != 1) continue;
      char bytes[4096];
      if (SSL_read(ssl.get(), bytes, sizeof bytes) <= 0) continue;
      const std::string answer = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecure";
      SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size()));
      SSL_shutdown(ssl.get());
    }
  }

  TestListener listener_;
  Key key_;
  Certificate certificate_;
  std::unique_ptr<SSL_CTX, FreeWith<SSL_CTX_free>> context_;
  std::string ca_file_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

Result<Response> fetch(const std::string& ca_file, const std::string& host, std::uint16_t port) {
  Metrics metrics;
  ClientOptions options;
  options.ca_file = ca_file;
  Client client(options, metrics);
  return client.fetch(CallContext::with_timeout(kPatience), {Method::kGet, fmt::format("https://{}:{}/", host, port), {}, {}});
}

TEST(ClientTlsTest, TrustsOnlyWhatItsAuthoritySigned) {
  std::signal(SIGPIPE, SIG_IGN);  // the test's own server writes to clients that hang up
  TlsUpstream upstream("DNS:localhost,IP:127.0.0.1");
  EXPECT_EQ(fetch(upstream.ca_file(), "localhost", upstream.port())->body, "secure");
  EXPECT_EQ(fetch(upstream.ca_file(), "127.0.0.1", upstream.port())->body, "secure");
  const auto unknown = fetch("", "localhost", upstream.port());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(unknown.error().message.find("certificate"), std::string::npos) << unknown.error().message;
}

TEST(ClientTlsTest, ChecksTheHostName) {
  TlsUpstream upstream("DNS:elsewhere.example");
  for (const std::string host : {"localhost", "127.0.0.1"}) {
    const auto response = fetch(upstream.ca_file(), host, upstream.port());
    ASSERT_FALSE(response) << host;
    EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  }
}

TEST(ClientTlsTest, AMissingAuthorityFileFailsTheCallNotTheProcess) {
  const auto response = fetch("/nonexistent.pem", "localhost", 1);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(response.error().message.find("/nonexistent.pem"), std::string::npos);
}

TEST(ClientTlsTest, APlainServerFailsTheHandshake) {
  TestListener listener;
  std::thread upstream([&] {
    TestSocket socket = listener.accept();
    socket.read_some();
    socket.send("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  EXPECT_EQ(fetch("", "127.0.0.1", listener.port()).error().code, ErrorCode::kUnavailable);
  upstream.join();
}

}  // namespace
}  // namespace footnote::http
