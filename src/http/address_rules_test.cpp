#include "http/address_rules.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace footnote::http {
namespace {

bool is_public(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  const bool v6 = text.find(':') != std::string::npos;
  EXPECT_EQ(::inet_pton(v6 ? AF_INET6 : AF_INET, text.c_str(), bytes.data()), 1) << text;
  return is_public_address(std::span(bytes).first(v6 ? 16 : 4));
}

TEST(AddressRules, WhatIsNotOnTheInternetIsRefused) {
  for (const char* text : {"0.0.0.0",
                           "0.255.255.255",
                           "10.0.0.1",
                           "10.255.255.255",
                           "100.64.0.1",
                           "100.127.255.255",
                           "127.0.0.1",
                           "127.255.255.254",
                           "169.254.169.254",
                           "172.16.0.1",
                           "172.31.255.255",
                           "192.0.0.8",
                           "192.0.2.1",
                           "192.88.99.1",
                           "192.168.1.1",
                           "198.18.0.1",
                           "198.19.255.255",
                           "198.51.100.7",
                           "203.0.113.9",
                           "224.0.0.1",
                           "239.255.255.255",
                           "240.0.0.1",
                           "255.255.255.255",
                           "::",
                           "::1",
                           "::7f00:1",
                           "::ffff:127.0.0.1",
                           "::ffff:10.1.2.3",
                           "::ffff:0:127.0.0.1",
                           "64:ff9b::7f00:1",
                           "64:ff9b::a00:1",
                           "64:ff9b:1::1",
                           "100::1",
                           "2001::1",
                           "2001:db8::1",
                           "2002:7f00:1::",
                           "2002:a00:1::1",
                           "fc00::1",
                           "fdff::1",
                           "fe80::1",
                           "febf::1",
                           "fec0::1",
                           "ff02::1"}) {
    EXPECT_FALSE(is_public(text)) << text;
  }
}

TEST(AddressRules, ItsNeighboursAreNot) {
  for (const char* text :
       {"1.0.0.0",         "9.255.255.255",   "11.0.0.0",   "100.63.255.255", "100.128.0.0",      "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "172.15.255.255",  "172.32.0.0", "192.0.1.0",      "192.167.255.255",  "192.169.0.0",     "198.17.255.255",
        "198.20.0.0",      "223.255.255.255", "8.8.8.8",    "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:4860:4860::8888",
        "2a00:1450::1",    "fbff::1"}) {
    EXPECT_TRUE(is_public(text)) << text;
  }
}

TEST(AddressRules, WhatIsNoAddressIsRefused) {
  const std::array<unsigned char, 17> bytes{8, 8, 8, 8};
  for (const std::size_t size : {0, 3, 5, 15, 17}) EXPECT_FALSE(is_public_address(std::span(bytes).first(size)));
}

}  // namespace
}  // namespace footnote::http
