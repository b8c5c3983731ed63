#pragma once

#include <cstdint>
#include <span>

namespace footnote {

/// SipHash-2-4 with the key 0: the same on every machine and in every version. Not secret, so not for hash tables that attackers fill.
std::uint64_t siphash24(std::span<const std::uint8_t> bytes);

}  // namespace footnote
