#include "providers/web/address_policy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>

namespace footnote {
namespace {

bool allows(const AddressPolicy& policy, std::string_view host, const std::string& address, std::uint16_t port) {
  std::array<unsigned char, 16> bytes{};
  const bool v6 = address.find(':') != std::string::npos;
  EXPECT_EQ(::inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), bytes.data()), 1) << address;
  return policy.allows(host, std::span(bytes).first(v6 ? 16 : 4), port);
}

TEST(AddressPolicy, ThePublicInternetOnTwoPorts) {
  const AddressPolicy policy;
  EXPECT_TRUE(allows(policy, "a.example", "8.8.8.8", 443));
  EXPECT_TRUE(allows(policy, "a.example", "8.8.8.8", 80));
  EXPECT_FALSE(allows(policy, "a.example", "8.8.8.8", 22));
  EXPECT_FALSE(allows(policy, "a.example", "127.0.0.1", 80));
  EXPECT_FALSE(allows(policy, "a.example", "::ffff:10.0.0.1", 80));
  EXPECT_FALSE(policy.allows_port(8080));
}

TEST(AddressPolicy, AnEntryOpensWhatItNamesAndNothingElse) {
  const auto policy = AddressPolicy::parse("80,443", "127.0.0.1:8080, 10.1.0.0/16, wiki.corp:*, *.lab.example, [::1]:9000, fd00::/8");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_TRUE(allows(*policy, "x", "127.0.0.1", 8080));
  EXPECT_FALSE(allows(*policy, "x", "127.0.0.1", 80));
  EXPECT_FALSE(allows(*policy, "x", "127.0.0.2", 8080));
  EXPECT_TRUE(allows(*policy, "x", "10.1.2.3", 443));
  EXPECT_FALSE(allows(*policy, "x", "10.2.2.3", 443));
  EXPECT_FALSE(allows(*policy, "x", "::ffff:10.1.2.3", 443)) << "another form of the address needs its own entry";
  EXPECT_TRUE(allows(*policy, "wiki.corp", "192.168.0.9", 12345));
  EXPECT_FALSE(allows(*policy, "evil-wiki.corp", "192.168.0.9", 12345));
  EXPECT_TRUE(allows(*policy, "a.lab.example", "192.168.0.9", 80));
  EXPECT_FALSE(allows(*policy, "lab.example", "192.168.0.9", 80));
  EXPECT_FALSE(allows(*policy, "evillab.example", "192.168.0.9", 80));
  EXPECT_TRUE(allows(*policy, "x", "::1", 9000));
  EXPECT_TRUE(allows(*policy, "x", "fd12::1", 80));
  EXPECT_TRUE(policy->allows_port(8080));
}

TEST(AddressPolicy, ABadEntryIsNamed) {
  for (const char* entry : {"10.0.0.0/33", "a b", "wiki/8", "127.0.0.1:x", "127.0.0.1:0", "[::1", "::/200", "http://a"}) {
    const auto policy = AddressPolicy::parse("80", entry);
    EXPECT_FALSE(policy) << entry;
  }
  EXPECT_FALSE(AddressPolicy::parse("80,x", ""));
  EXPECT_FALSE(AddressPolicy::parse("70000", ""));
}

}  // namespace
}  // namespace footnote
