#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace footnote::bm25 {

/// The number of terms in a row, quantised to one byte: exact below 128, then sixteen steps per octave (an error of at most 3 %) up to
/// kRowLengthMax. Monotonic: longer rows have higher codes.
using LengthCode = std::uint8_t;
inline constexpr std::uint32_t kExactLengths = 128;
inline constexpr std::uint32_t kRowLengthMax = 31U << 10;

/// The length that a code represents.
inline constexpr std::uint32_t length_of(LengthCode code) {
  if (code < kExactLengths) return code;
  return (16U + code % 16U) << ((code - kExactLengths) / 16U + 3U);
}

/// The code of the nearest length.
inline constexpr LengthCode length_code(std::uint64_t terms) {
  if (terms < kExactLengths) return static_cast<LengthCode>(terms);
  const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(terms, kRowLengthMax));
  const auto shift = static_cast<std::uint32_t>(std::bit_width(length)) - 5U;
  const std::uint32_t low = kExactLengths + (shift - 3U) * 16U + (length >> shift) % 16U;
  // Round to the nearer code.
  const bool up = low < 255 && (length & ((1U << shift) - 1U)) >= 1U << (shift - 1U);
  return static_cast<LengthCode>(low + up);
}

}  // namespace footnote::bm25
