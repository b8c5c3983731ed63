#pragma once

#include <span>

namespace footnote::http {

/// True for an address that belongs to a machine on the public internet: not this one, not a private, shared, link-local or test network,
/// not multicast, not reserved, and no IPv6 form (mapped, NAT64, 6to4) of an IPv4 address that is none. In network order, 4 or 16 bytes;
/// any other length is false.
bool is_public_address(std::span<const unsigned char> bytes);

/// Whether two addresses have their first `bits` in common. REQUIRES: both have as many.
bool share_prefix(std::span<const unsigned char> one, std::span<const unsigned char> other, unsigned bits);

}  // namespace footnote::http
