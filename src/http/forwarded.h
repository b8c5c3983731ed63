#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace footnote::http {

/// Addresses with a common prefix; IPv4 as IPv4-mapped IPv6.
struct AddressRange {
  std::array<unsigned char, 16> bytes{};
  unsigned prefix_bits = 128;
};

/// Parses "127.0.0.1, 10.0.0.0/8, fd00::/8". kInvalidArgument for anything that is not an address or range.
Result<std::vector<AddressRange>> parse_address_ranges(std::string_view text);

/// The address of the requesting client: the peer, or, if the peer is in `trusted` (reverse proxies), the last address in X-Forwarded-For
/// that is not trusted. Earlier entries may be forged by the client and are ignored.
std::string client_address(std::string_view peer, const Headers& headers, const std::vector<AddressRange>& trusted);

/// The key for limits per client. IPv4 (also IPv4-mapped): the address. IPv6: its /64, because one client usually controls a whole /64:
/// "2001:db8:1:2::/64". Other texts are returned unchanged.
std::string client_network(std::string_view address);

}  // namespace footnote::http
