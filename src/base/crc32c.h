#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace footnote {

/// CRC-32C (Castagnoli) of bytes: finds every flip of up to a few bits and every burst of up to 32, at the speed of
/// memory where the processor has the instruction. Pieces chain: crc32c(b, crc32c(a)) is the sum of a and b together.
/// Against accidents, not against people.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

namespace detail {
/// Without the instruction; for tests.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before);
}  // namespace detail

}  // namespace footnote
