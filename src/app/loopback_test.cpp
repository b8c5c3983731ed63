#include "app/loopback.h"

#include <gtest/gtest.h>

namespace footnote::app {
namespace {

TEST(Loopback, Names) {
  for (const auto* host : {"localhost", "LOCALHOST", "127.0.0.1", "127.8.9.10", "::1", "[::1]"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const auto* host : {"", "0.0.0.0", "::", "192.168.0.1", "localhost.evil.example", "127.0.0.1.evil.example", "128.0.0.1"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

bool refused(http::Headers headers) {
  http::Request request;
  request.headers = std::move(headers);
  const auto response = refuse_foreign_origin(request);
  if (response) {
    EXPECT_EQ(response->status, 403);
  }
  return response.has_value();
}

TEST(Loopback, ForeignHostsAndOriginsAreRefused) {
  EXPECT_FALSE(refused({}));
  EXPECT_FALSE(refused({{"host", "localhost:7700"}}));
  EXPECT_FALSE(refused({{"host", "[::1]:7700"}, {"origin", "http://127.0.0.1:7700"}}));
  EXPECT_FALSE(refused({{"host", "127.0.0.1:7700"}, {"origin", "http://localhost:5173"}}));
  EXPECT_TRUE(refused({{"host", "rebound.example:7700"}}));
  EXPECT_TRUE(refused({{"host", "127.0.0.1:7700"}, {"origin", "https://evil.example"}}));
  EXPECT_TRUE(refused({{"host", "127.0.0.1:7700"}, {"origin", "null"}}));
  EXPECT_TRUE(refused({{"host", "127.0.0.1:7700"}, {"origin", "http://localhost@evil.example"}}));
}

}  // namespace
}  // namespace footnote::app
