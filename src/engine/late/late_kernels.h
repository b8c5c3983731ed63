#pragma once

#include <array>
#include <cstring>

#include "engine/late/late_score.h"

namespace footnote::late {

void best_sums_portable(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                        std::int32_t* best);
void best_sums_avx2(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::int32_t* best);
void best_sums_avx512(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                      std::int32_t* best);
void best_sums_vnni(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::int32_t* best);

/// Eight bits as eight bytes of 0 or 1, by the byte that holds them.
inline constexpr auto kBytesOfBits = [] {
  std::array<std::uint64_t, 256> out{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t bit = 0; bit < 8; ++bit) out[byte] |= static_cast<std::uint64_t>(byte >> bit & 1) << (8 * bit);
  }
  return out;
}();

/// A token's bits, a byte each.
inline void expand_bits(const std::byte* signs, std::size_t dimension, std::uint8_t* out) {
  for (std::size_t i = 0; i < dimension / 8; ++i) std::memcpy(out + 8 * i, &kBytesOfBits[static_cast<std::size_t>(signs[i])], 8);
}

}  // namespace footnote::late
