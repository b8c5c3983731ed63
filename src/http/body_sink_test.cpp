#include <gtest/gtest.h>

#include "http/test_server.h"

namespace footnote::http {
namespace {

using testing::plain;
using testing::TestServer;

/// Counts what it gets, and fails at a byte.
class CountingSink final : public BodySink {
 public:
  explicit CountingSink(std::size_t fail_at) : fail_at_(fail_at) {}
  Result<void> write(std::string_view bytes) override {
    largest = std::max(largest, bytes.size());
    body += bytes;
    if (body.size() >= fail_at_) return fail(ErrorCode::kStorageFull, "no room");
    return {};
  }
  std::string body;
  std::size_t largest = 0;

 private:
  const std::size_t fail_at_;
};

class BodySinkTest : public ::testing::Test {
 protected:
  static Route route(std::size_t bytes_max, std::size_t fail_at = 1u << 30) {
    Route out = plain(Method::kPost, "/up", [](const Request& request, const CallContext&) {
      const auto& sink = dynamic_cast<const CountingSink&>(*request.body_sink);
      EXPECT_TRUE(request.body.empty());
      return Response::text(200, "text/plain", fmt::format("{} {}", sink.body.size(), sink.largest <= (64u << 10)));
    });
    out.body_bytes_max = bytes_max;
    out.body_sink = [fail_at](const Request&) -> Result<std::unique_ptr<BodySink>> { return std::make_unique<CountingSink>(fail_at); };
    return out;
  }
  static std::string post(std::size_t bytes) {
    return fmt::format("POST /up HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{}", bytes, std::string(bytes, 'x'));
  }
};

TEST_F(BodySinkTest, ABodyArrivesInPieces) {
  TestServer server({route(4 << 20)});
  EXPECT_EQ(server.ask(post(3 << 20)).body, "3145728 true");
  EXPECT_EQ(server.ask(post(1)).body, "1 true");
  EXPECT_EQ(server.ask(post(0)).body, "0 true");
  EXPECT_EQ(server.ask("POST /up HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n").body,
            "7 true");
}

TEST_F(BodySinkTest, ItsLimitsHold) {
  TestServer server({route(100, 50)});
  EXPECT_EQ(server.ask(post(101)).status, 413);
  EXPECT_EQ(server
                .ask("POST /up HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n70\r\n" + std::string(0x70, 'x') +
                     "\r\n0\r\n\r\n")
                .status,
            413);
  EXPECT_EQ(server.ask(post(60)).status, 507) << "what the sink says";
  EXPECT_EQ(server.ask(post(40)).status, 200);
}

}  // namespace
}  // namespace footnote::http
