#include "http/host.h"

#include <gtest/gtest.h>

namespace footnote::http {
namespace {

TEST(HostTest, LoopbackIsWhatOnlyThisMachineReaches) {
  for (const auto* host : {"localhost", "LOCALHOST", "127.0.0.1", "127.8.9.10", "::1", "[::1]"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const auto* host : {"", "0.0.0.0", "::", "192.168.0.1", "localhost.evil.example", "127.0.0.1.evil.example", "128.0.0.1"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
  }
}

TEST(HostTest, AddressesAreToldFromNames) {
  for (const auto* host : {"10.0.0.5", "::1", "[2001:db8::7]", "255.255.255.255"}) EXPECT_TRUE(is_ip_address(host)) << host;
  for (const auto* host : {"", "localhost", "10.0.0.5.evil.example", "10.0.0", "0x7f000001", "[::1"})
    EXPECT_FALSE(is_ip_address(host)) << host;
}

TEST(HostTest, APortIsNoPartOfTheName) {
  EXPECT_EQ(host_name_of("localhost:7700"), "localhost");
  EXPECT_EQ(host_name_of("localhost"), "localhost");
  EXPECT_EQ(host_name_of("[::1]:7700"), "::1");
  EXPECT_EQ(host_name_of("[::1"), "");
}

}  // namespace
}  // namespace footnote::http
