#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace footnote::bm25 {

/// How many terms a row has, in one byte: exact below 128, then in sixteen steps an octave (off by 3 % at most) up to
/// kRowLengthMax. Longer codes for longer rows.
using LengthCode = std::uint8_t;
inline constexpr std::uint32_t kExactLengths = 128;
inline constexpr std::uint32_t kRowLengthMax = 31U << 10;

/// What a code stands for.
inline constexpr std::uint32_t length_of(LengthCode code) {
  if (code < kExactLengths) return code;
  return (16U + code % 16U) << ((code - kExactLengths) / 16U + 3U);
}

/// The code that stands for the nearest length.
inline constexpr LengthCode length_code(std::uint64_t terms) {
  if (terms < kExactLengths) return static_cast<LengthCode>(terms);
  const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(terms, kRowLengthMax));
  const auto shift = static_cast<std::uint32_t>(std::bit_width(length)) - 5U;
  const std::uint32_t low = kExactLengths + (shift - 3U) * 16U + (length >> shift) % 16U;
  // Past the middle the next one is nearer.
  const bool up = low < 255 && (length & ((1U << shift) - 1U)) >= 1U << (shift - 1U);
  return static_cast<LengthCode>(low + up);
}

}  // namespace footnote::bm25
