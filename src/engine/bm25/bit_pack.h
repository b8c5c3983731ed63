#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace footnote::bm25 {

/// Numbers per block: the unit of compression, decoding and pruning.
inline constexpr std::size_t kBlockSize = 128;
using BlockValues = std::array<std::uint16_t, kBlockSize>;

/// Bytes of a packed block of numbers below 2^bits.
inline constexpr std::size_t packed_size(unsigned bits) { return bits * kBlockSize / 8; }

namespace bit_pack_detail {

/// Eight independently packed lanes: number i is in lane i % 8, so that one instruction unpacks eight consecutive numbers.
using Lanes [[gnu::vector_size(16)]] = std::uint16_t;
inline constexpr unsigned kWordBits = 16;
inline constexpr unsigned kSteps = kBlockSize / (sizeof(Lanes) / sizeof(std::uint16_t));

inline Lanes load(const std::uint8_t* from) {
  Lanes out;
  std::memcpy(&out, from, sizeof out);
  return out;
}
inline void store(std::uint16_t* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }

template <unsigned kBits, unsigned kStep>
[[gnu::always_inline]] inline Lanes step(const std::uint8_t* in) {
  constexpr unsigned kFirst = kStep * kBits;
  constexpr unsigned kWord = kFirst / kWordBits;
  constexpr unsigned kShift = kFirst % kWordBits;
  constexpr auto kMask = static_cast<std::uint16_t>((1U << kBits) - 1);
  Lanes lanes = load(in + kWord * sizeof(Lanes)) >> kShift;
  if constexpr (kShift + kBits > kWordBits) lanes |= load(in + (kWord + 1) * sizeof(Lanes)) << (kWordBits - kShift);
  if constexpr (kBits < kWordBits) lanes &= kMask;
  return lanes;
}

template <unsigned kBits>
void unpack(const std::uint8_t* in, std::uint16_t* out) {
  if constexpr (kBits == 0) {
    std::memset(out, 0, sizeof(BlockValues));
  } else {
    [&]<unsigned... kStep>(std::integer_sequence<unsigned, kStep...>) {
      (store(out + kStep * (kBlockSize / kSteps), step<kBits, kStep>(in)), ...);
    }(std::make_integer_sequence<unsigned, kSteps>{});
  }
}

using Unpack = void (*)(const std::uint8_t*, std::uint16_t*);
inline constexpr auto kUnpack = []<unsigned... kBits>(std::integer_sequence<unsigned, kBits...>) {
  return std::array<Unpack, sizeof...(kBits)>{&unpack<kBits>...};
}(std::make_integer_sequence<unsigned, kWordBits + 1>{});

}  // namespace bit_pack_detail

inline constexpr unsigned kPackedBitsMax = bit_pack_detail::kWordBits;

/// Reads packed_size(bits) bytes at `in`. REQUIRES: bits <= kPackedBitsMax.
inline void unpack_block(const std::uint8_t* in, unsigned bits, BlockValues& out) { bit_pack_detail::kUnpack[bits](in, out.data()); }

/// Writes packed_size(bits) bytes to `out`. REQUIRES: every number below 2^bits, bits <= kPackedBitsMax.
inline void pack_block(const BlockValues& values, unsigned bits, std::uint8_t* out) {
  using namespace bit_pack_detail;
  constexpr std::size_t kLanes = kBlockSize / kSteps;
  std::array<std::uint16_t, kLanes * kWordBits> words{};
  for (std::size_t i = 0; i < kBlockSize; ++i) {
    const std::size_t first = i / kLanes * bits;
    const std::size_t word = first / kWordBits * kLanes + i % kLanes;
    const std::uint32_t shifted = static_cast<std::uint32_t>(values[i]) << first % kWordBits;
    if (bits == 0) continue;
    words[word] = static_cast<std::uint16_t>(words[word] | shifted);
    if (shifted >> kWordBits != 0) words[word + kLanes] = static_cast<std::uint16_t>(words[word + kLanes] | shifted >> kWordBits);
  }
  std::memcpy(out, words.data(), packed_size(bits));
}

/// Prefix sum: out[i] = before + gaps[0] + ... + gaps[i], modulo 2^16.
inline void add_up(BlockValues& gaps, std::uint16_t before) {
  using namespace bit_pack_detail;
  constexpr std::size_t kLanes = kBlockSize / kSteps;
  Lanes carry = Lanes{} + before;
  for (std::size_t i = 0; i < kBlockSize; i += kLanes) {
    Lanes sums = load(reinterpret_cast<const std::uint8_t*>(&gaps[i]));
    const Lanes zero{};
    sums += __builtin_shufflevector(zero, sums, 0, 8, 9, 10, 11, 12, 13, 14);
    sums += __builtin_shufflevector(zero, sums, 0, 1, 8, 9, 10, 11, 12, 13);
    sums += __builtin_shufflevector(zero, sums, 0, 1, 2, 3, 8, 9, 10, 11);
    sums += carry;
    carry = __builtin_shufflevector(sums, sums, 7, 7, 7, 7, 7, 7, 7, 7);
    store(&gaps[i], sums);
  }
}

}  // namespace footnote::bm25
