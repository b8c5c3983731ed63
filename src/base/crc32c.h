#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace footnote {

/// CRC-32C (Castagnoli). Detects a few flipped bits and any burst of up to 32 bits, at memory speed where the CPU has the instruction.
/// Chains: crc32c(b, crc32c(a)) == crc32c(a + b). Protects against accidents, not against attackers.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

namespace detail {
/// The implementation without the CPU instruction, for tests.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before);
}  // namespace detail

}  // namespace footnote
