#include "engine/late/late_kernels.h"

#include <algorithm>
#include <limits>

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 takes the deliberately undefined operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#endif

namespace footnote::late {
namespace {

#if defined(__x86_64__)

/// Sums of products of a bit and two 8-bit numbers are within 16 bits for this many steps: 2 x 127 x 128 < 2^15.
constexpr std::size_t kShortSteps = 128;

std::int32_t four_bytes(const void* bytes) {
  std::int32_t out = 0;
  std::memcpy(&out, bytes, sizeof(out));
  return out;
}

#endif

}  // namespace

namespace {

void best_of_group(const std::int8_t* lanes, std::size_t dimension, const std::byte* signs, std::size_t count, std::int32_t best[kLanes]) {
  std::fill_n(best, kLanes, std::numeric_limits<std::int32_t>::min());
  std::uint8_t bits[kDimensionMax];
  for (std::size_t t = 0; t < count; ++t) {
    expand_bits(signs + t * (dimension / 8), dimension, bits);
    std::int32_t sums[kLanes] = {};
    for (std::size_t s = 0; s < dimension / kStep; ++s) {
      const std::int8_t* numbers = lanes + s * kLanes * kStep;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        for (std::size_t k = 0; k < kStep; ++k) sums[lane] += numbers[lane * kStep + k] * bits[s * kStep + k];
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) best[lane] = std::max(best[lane], sums[lane]);
  }
}

/// The question's tokens kLanes at a time, over the whole passage.
template <class BestOfGroup>
void each_group(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, std::int32_t* best, const BestOfGroup& best_of) {
  for (std::size_t first = 0; first < tokens; first += kLanes) {
    std::int32_t of_group[kLanes];
    best_of(lanes + first * dimension, of_group);
    std::copy_n(of_group, std::min(kLanes, tokens - first), best + first);
  }
}

}  // namespace

void best_sums_portable(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                        std::int32_t* best) {
  each_group(lanes, tokens, dimension, best,
             [&](const std::int8_t* group, std::int32_t* out) { best_of_group(group, dimension, signs, count, out); });
}

#if defined(__x86_64__)

namespace {

__attribute__((target("avx2"))) void best_of_group_avx2(const std::int8_t* lanes, std::size_t dimension, const std::byte* signs,
                                                        std::size_t count, std::int32_t best[kLanes]) {
  alignas(64) std::uint8_t bits[kDimensionMax];
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i best_low = _mm256_set1_epi32(std::numeric_limits<std::int32_t>::min());
  __m256i best_high = best_low;
  const std::size_t steps = dimension / kStep;
  for (std::size_t t = 0; t < count; ++t) {
    expand_bits(signs + t * (dimension / 8), dimension, bits);
    __m256i low = _mm256_setzero_si256();
    __m256i high = low;
    for (std::size_t begin = 0; begin < steps; begin += kShortSteps) {
      const std::size_t end = std::min(steps, begin + kShortSteps);
      __m256i short_low = _mm256_setzero_si256();
      __m256i short_high = short_low;
      for (std::size_t s = begin; s < end; ++s) {
        const __m256i token = _mm256_set1_epi32(four_bytes(bits + s * kStep));
        const auto* numbers = reinterpret_cast<const __m256i*>(lanes + s * kLanes * kStep);
        short_low = _mm256_add_epi16(short_low, _mm256_maddubs_epi16(token, _mm256_loadu_si256(numbers)));
        short_high = _mm256_add_epi16(short_high, _mm256_maddubs_epi16(token, _mm256_loadu_si256(numbers + 1)));
      }
      low = _mm256_add_epi32(low, _mm256_madd_epi16(short_low, ones));
      high = _mm256_add_epi32(high, _mm256_madd_epi16(short_high, ones));
    }
    best_low = _mm256_max_epi32(best_low, low);
    best_high = _mm256_max_epi32(best_high, high);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(best), best_low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(best + 8), best_high);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void best_of_group_avx512(const std::int8_t* lanes, std::size_t dimension,
                                                                                        const std::byte* signs, std::size_t count,
                                                                                        std::int32_t best[kLanes]) {
  alignas(64) std::uint8_t bits[kDimensionMax];
  const __m512i ones = _mm512_set1_epi16(1);
  __m512i most = _mm512_set1_epi32(std::numeric_limits<std::int32_t>::min());
  const std::size_t steps = dimension / kStep;
  for (std::size_t t = 0; t < count; ++t) {
    expand_bits(signs + t * (dimension / 8), dimension, bits);
    __m512i sum = _mm512_setzero_si512();
    for (std::size_t begin = 0; begin < steps; begin += kShortSteps) {
      const std::size_t end = std::min(steps, begin + kShortSteps);
      __m512i short_sum = _mm512_setzero_si512();
      for (std::size_t s = begin; s < end; ++s) {
        const __m512i token = _mm512_set1_epi32(four_bytes(bits + s * kStep));
        short_sum = _mm512_add_epi16(short_sum, _mm512_maddubs_epi16(token, _mm512_loadu_si512(lanes + s * kLanes * kStep)));
      }
      sum = _mm512_add_epi32(sum, _mm512_madd_epi16(short_sum, ones));
    }
    most = _mm512_max_epi32(most, sum);
  }
  _mm512_storeu_si512(best, most);
}

#define FOOTNOTE_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

/// Passage tokens that are compared at once, each in a lane of its own: so the work grows with the question's tokens one by one.
constexpr std::size_t kBlock = 16;
/// Bytes of a token that are turned at once.
constexpr std::size_t kTurned = 64;

/// Turns a block's bits: bit kStep * t + k of masks[s] is bit kStep * s + k of token t. The last token stands for those past the end.
FOOTNOTE_VNNI void turn_bits(const std::byte* signs, std::size_t bytes, std::size_t count, std::uint64_t* masks) {
  const __m512i low_half = _mm512_set1_epi8(0x0F);
  const __m512i join = _mm512_set1_epi16(0x1001);  // The second of two halves above the first.
  for (std::size_t at = 0; at < bytes; at += kTurned) {
    const std::size_t here = std::min(kTurned, bytes - at);
    const __mmask64 there = ~std::uint64_t{0} >> (kTurned - here);
    __m512i rows[kBlock];
    for (std::size_t t = 0; t < kBlock; ++t) rows[t] = _mm512_maskz_loadu_epi8(there, signs + std::min(t, count - 1) * bytes + at);
    // Four times the first half of them between the second: sixteen bytes of sixteen rows change places.
    for (int round = 0; round < 4; ++round) {
      __m512i turned[kBlock];
      for (std::size_t t = 0; t < kBlock / 2; ++t) {
        turned[2 * t] = _mm512_unpacklo_epi8(rows[t], rows[t + kBlock / 2]);
        turned[2 * t + 1] = _mm512_unpackhi_epi8(rows[t], rows[t + kBlock / 2]);
      }
      std::copy_n(turned, kBlock, rows);
    }
    // Row j has byte j of all tokens, then byte 16 + j, 32 + j and 48 + j: a mask of their low halves and one of their high halves each.
    for (std::size_t j = 0; j < kBlock; ++j) {
      const __m512i low = _mm512_maddubs_epi16(_mm512_and_si512(rows[j], low_half), join);
      const __m512i high = _mm512_maddubs_epi16(_mm512_and_si512(_mm512_srli_epi16(rows[j], 4), low_half), join);
      alignas(64) std::uint64_t both[8];
      _mm512_store_si512(both, _mm512_packus_epi16(low, high));
      for (std::size_t lane = 0; lane < 4 && kBlock * lane + j < here; ++lane) {
        std::memcpy(masks + 2 * (at + kBlock * lane + j), both + 2 * lane, 2 * sizeof(std::uint64_t));
      }
    }
  }
}

/// The sums of a block's tokens with kTokens of the question's, where they are the largest so far.
template <std::size_t kTokens>
FOOTNOTE_VNNI void compare_block(const std::int8_t* lanes, std::size_t steps, const std::uint64_t* masks, std::int32_t* most) {
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i sums[kTokens];
#pragma GCC unroll 16
  for (std::size_t t = 0; t < kTokens; ++t) sums[t] = _mm512_setzero_si512();
  for (std::size_t s = 0; s < steps; ++s) {
    const __m512i bits = _mm512_maskz_mov_epi8(masks[s], ones);
    const std::int8_t* numbers = lanes + s * kLanes * kStep;
#pragma GCC unroll 16
    for (std::size_t t = 0; t < kTokens; ++t)
      sums[t] = _mm512_dpbusd_epi32(sums[t], bits, _mm512_set1_epi32(four_bytes(numbers + t * kStep)));
  }
#pragma GCC unroll 16
  for (std::size_t t = 0; t < kTokens; ++t) {
    _mm512_store_si512(most + t * kBlock, _mm512_max_epi32(_mm512_load_si512(most + t * kBlock), sums[t]));
  }
}

using CompareBlock = void (*)(const std::int8_t*, std::size_t, const std::uint64_t*, std::int32_t*);

template <std::size_t... kTokens>
constexpr std::array<CompareBlock, sizeof...(kTokens)> compare_blocks(std::index_sequence<kTokens...>) {
  return {&compare_block<kTokens + 1>...};
}

/// By how many of a group's tokens there are, less one.
constexpr auto kCompareBlocks = compare_blocks(std::make_index_sequence<kLanes>{});

}  // namespace

void best_sums_avx2(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::int32_t* best) {
  each_group(lanes, tokens, dimension, best,
             [&](const std::int8_t* group, std::int32_t* out) { best_of_group_avx2(group, dimension, signs, count, out); });
}

void best_sums_avx512(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                      std::int32_t* best) {
  each_group(lanes, tokens, dimension, best,
             [&](const std::int8_t* group, std::int32_t* out) { best_of_group_avx512(group, dimension, signs, count, out); });
}

FOOTNOTE_VNNI void best_sums_vnni(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs,
                                  std::size_t count, std::int32_t* best) {
  const std::size_t bytes = dimension / 8;
  const std::size_t steps = dimension / kStep;
  alignas(64) std::uint64_t masks[kDimensionMax / kStep];
  alignas(64) std::int32_t most[kQuestionTokensMax * kBlock];
  std::fill_n(most, tokens * kBlock, std::numeric_limits<std::int32_t>::min());
  for (std::size_t at = 0; at < count; at += kBlock) {
    turn_bits(signs + at * bytes, bytes, std::min(kBlock, count - at), masks);
    for (std::size_t first = 0; first < tokens; first += kLanes) {
      kCompareBlocks[std::min(kLanes, tokens - first) - 1](lanes + first * dimension, steps, masks, most + first * kBlock);
    }
  }
  for (std::size_t t = 0; t < tokens; ++t) best[t] = _mm512_reduce_max_epi32(_mm512_load_si512(most + t * kBlock));
}

#else

void best_sums_avx2(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::int32_t* best) {
  best_sums_portable(lanes, tokens, dimension, signs, count, best);
}
void best_sums_avx512(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                      std::int32_t* best) {
  best_sums_portable(lanes, tokens, dimension, signs, count, best);
}
void best_sums_vnni(const std::int8_t* lanes, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::int32_t* best) {
  best_sums_portable(lanes, tokens, dimension, signs, count, best);
}

#endif

}  // namespace footnote::late
