#pragma once

#include <span>

namespace footnote::http {

/// True for an address on the public internet: not loopback, private, shared, link-local, test, multicast or reserved, and not an IPv6 form
/// (mapped, NAT64, 6to4) of such an IPv4 address. Network byte order, 4 or 16 bytes; false for any other length.
bool is_public_address(std::span<const unsigned char> bytes);

/// Whether the first `bits` of both addresses are equal. REQUIRES: both have at least that many bits.
bool share_prefix(std::span<const unsigned char> one, std::span<const unsigned char> other, unsigned bits);

}  // namespace footnote::http
