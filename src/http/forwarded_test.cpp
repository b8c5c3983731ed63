#include "http/forwarded.h"

#include <gtest/gtest.h>

namespace footnote::http {
namespace {

std::string of(std::string_view peer, std::string_view trusted, std::initializer_list<std::string_view> forwarded) {
  Headers headers;
  for (const std::string_view value : forwarded) headers.add("X-Forwarded-For", value);
  return client_address(peer, headers, *parse_address_ranges(trusted));
}

TEST(ClientAddress, IsThePeersUnlessThatIsTrusted) {
  EXPECT_EQ(of("203.0.113.9", "", {"198.51.100.7"}), "203.0.113.9");
  EXPECT_EQ(of("203.0.113.9", "10.0.0.0/8, 127.0.0.1", {"198.51.100.7"}), "203.0.113.9");
  EXPECT_EQ(of("10.1.2.3", "10.0.0.0/8", {}), "10.1.2.3");
}

TEST(ClientAddress, IsTheLastThatNoTrustedProxyHas) {
  EXPECT_EQ(of("10.1.2.3", "10.0.0.0/8", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(of("10.1.2.3", "10.0.0.0/8", {"1.1.1.1, 198.51.100.7, 10.9.9.9"}), "198.51.100.7")
      << "entries written by the client are ignored";
  EXPECT_EQ(of("10.1.2.3", "10.0.0.0/8", {"1.1.1.1", "198.51.100.7"}), "198.51.100.7") << "several fields form one list";
  EXPECT_EQ(of("10.1.2.3", "10.0.0.0/8", {"10.4.4.4"}), "10.4.4.4") << "all are proxies: the first of them";
  EXPECT_EQ(of("10.1.2.3", "10.0.0.0/8", {"198.51.100.7, unknown"}), "10.1.2.3") << "an unreadable entry ends the list";
  EXPECT_EQ(of("::ffff:10.1.2.3", "10.0.0.0/8", {"2001:db8::7"}), "2001:db8::7") << "mapped addresses are the same";
  EXPECT_EQ(of("fd00::1", "fd00::/8", {"2001:db8::7"}), "2001:db8::7");
  EXPECT_EQ(of("10.1.2.3", "10.1.2.0/25", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(of("10.1.2.130", "10.1.2.0/25", {"198.51.100.7"}), "10.1.2.130") << "one bit outside the range";
}

TEST(ClientNetwork, IsTheAddressOrItsSlash64) {
  EXPECT_EQ(client_network("203.0.113.9"), "203.0.113.9");
  EXPECT_EQ(client_network("::ffff:203.0.113.9"), "203.0.113.9");
  EXPECT_EQ(client_network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(client_network("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  EXPECT_NE(client_network("2001:db8:1:3::1"), client_network("2001:db8:1:2::1"));
  EXPECT_EQ(client_network("fe80::1%1"), "fe80::/64");
  EXPECT_EQ(client_network("unknown"), "unknown");
}

TEST(ClientAddress, RangesAreReadOrRefused) {
  EXPECT_EQ(parse_address_ranges(" 127.0.0.1 , ,::1, 0.0.0.0/0 ")->size(), 3u);
  for (const char* bad : {"localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0/8", "fd00::/129", "fe80::1%eth0"}) {
    EXPECT_FALSE(parse_address_ranges(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace footnote::http
