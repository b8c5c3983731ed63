#include "engine/late/late_kernels.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace footnote::late {

void best_sums_portable(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                        std::uint16_t* best) {
  const std::size_t bytes = dimension / 8;
  std::fill_n(best, tokens, std::uint16_t{0});
  for (std::size_t row = 0; row < count; ++row, signs += bytes) {
    const std::uint8_t* table = tables;
    for (std::size_t t = 0; t < tokens; ++t, table += table_count(dimension) * kTableEntries) {
      unsigned sum = 0;
      for (std::size_t i = 0; i < bytes; ++i) {
        const auto byte = static_cast<unsigned>(signs[i]);
        sum += table[2 * i * kTableEntries + (byte & 15)] + table[(2 * i + 1) * kTableEntries + (byte >> 4)];
      }
      best[t] = std::max(best[t], static_cast<std::uint16_t>(sum));
    }
  }
}

#if defined(__x86_64__)

#define FOOTNOTE_AVX2 __attribute__((target("avx2")))

namespace {

constexpr std::size_t kLaneBytes = sizeof(__m128i);
/// Passage tokens compared at once, one byte of a vector each.
constexpr std::size_t kRows = sizeof(__m256i);

FOOTNOTE_AVX2 __m256i load(const std::uint8_t* from) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(from)); }
FOOTNOTE_AVX2 void store(std::uint8_t* to, __m256i value) { _mm256_store_si256(reinterpret_cast<__m256i*>(to), value); }

FOOTNOTE_AVX2 __m128i load_lane(const std::byte* from, std::size_t bytes) {
  if (bytes == kLaneBytes) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  alignas(kLaneBytes) std::byte copy[kLaneBytes] = {};
  std::memcpy(copy, from, bytes);
  return _mm_load_si128(reinterpret_cast<const __m128i*>(copy));
}

/// Transposes the bits of `rows` passage tokens into patterns of four: [table][row]. The last token is repeated past the end.
FOOTNOTE_AVX2 void turn_bits(const std::byte* signs, std::size_t bytes, std::size_t rows, std::uint8_t* forms) {
  const __m256i half = _mm256_set1_epi8(15);
  const std::size_t piece = std::min(bytes, kLaneBytes);
  for (std::size_t at = 0; at < bytes; at += kLaneBytes) {
    // The last piece overlaps the one before instead of being shorter.
    const std::size_t begin = std::min(at, bytes - piece);
    const auto row = [&](std::size_t r) FOOTNOTE_AVX2 { return load_lane(signs + std::min(r, rows - 1) * bytes + begin, piece); };
    __m256i columns[kLaneBytes];
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kLaneBytes; ++r) columns[r] = _mm256_set_m128i(row(kLaneBytes + r), row(r));
    // Four rounds of interleaving the first half with the second: a 16 x 16 byte transpose in both lanes.
#pragma GCC unroll 4
    for (int round = 0; round < 4; ++round) {
      __m256i turned[kLaneBytes];
#pragma GCC unroll 8
      for (std::size_t r = 0; r < kLaneBytes / 2; ++r) {
        turned[2 * r] = _mm256_unpacklo_epi8(columns[r], columns[r + kLaneBytes / 2]);
        turned[2 * r + 1] = _mm256_unpackhi_epi8(columns[r], columns[r + kLaneBytes / 2]);
      }
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kLaneBytes; ++r) columns[r] = turned[r];
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kLaneBytes; ++i) {
      if (begin + i < at || begin + i >= bytes) continue;
      store(forms, _mm256_and_si256(columns[i], half));
      store(forms + kRows, _mm256_and_si256(_mm256_srli_epi16(columns[i], 4), half));
      forms += 2 * kRows;
    }
  }
}

/// Looks up the values of some tokens' bit patterns in a table.
FOOTNOTE_AVX2 __m256i look_up(const std::uint8_t* table, __m256i forms) {
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), forms);
}

/// Updates `most`, the maximum sum per question token, for kTokens question tokens: 16-bit words, two rows each.
template <std::size_t kTokens>
FOOTNOTE_AVX2 void compare(const std::uint8_t* tables, std::size_t count, const std::uint8_t* forms, std::uint8_t* most) {
  // 16-bit sums: of the bytes at odd positions; and of those at even positions, with the odd ones in the upper half.
  __m256i odd[kTokens];
  __m256i both[kTokens];
#pragma GCC unroll 4
  for (std::size_t t = 0; t < kTokens; ++t) odd[t] = both[t] = _mm256_setzero_si256();
  for (std::size_t i = 0; i < count; i += kTablesTogether, forms += kTablesTogether * kRows) {
    const __m256i form0 = load(forms), form1 = load(forms + kRows), form2 = load(forms + 2 * kRows), form3 = load(forms + 3 * kRows);
#pragma GCC unroll 4
    for (std::size_t t = 0; t < kTokens; ++t) {
      const std::uint8_t* four = tables + (t * count + i) * kTableEntries;
      const __m256i first = _mm256_add_epi8(look_up(four, form0), look_up(four + kTableEntries, form1));
      const __m256i second = _mm256_add_epi8(look_up(four + 2 * kTableEntries, form2), look_up(four + 3 * kTableEntries, form3));
      const __m256i sum = _mm256_add_epi8(first, second);
      both[t] = _mm256_add_epi16(both[t], sum);
      odd[t] = _mm256_add_epi16(odd[t], _mm256_srli_epi16(sum, 8));
    }
  }
#pragma GCC unroll 4
  for (std::size_t t = 0; t < kTokens; ++t) {
    const __m256i even = _mm256_sub_epi16(both[t], _mm256_slli_epi16(odd[t], 8));
    store(most + t * kRows, _mm256_max_epu16(load(most + t * kRows), _mm256_max_epu16(even, odd[t])));
  }
}

/// Three question tokens at a time, so that their sums stay in registers.
FOOTNOTE_AVX2 void compare_all(const std::uint8_t* tables, std::size_t tokens, std::size_t count, const std::uint8_t* forms,
                               std::uint8_t* most) {
  while (tokens > 0) {
    const std::size_t now = tokens == 4 ? 2 : std::min<std::size_t>(tokens, 3);
    (now == 3 ? compare<3> : now == 2 ? compare<2> : compare<1>)(tables, count, forms, most);
    tokens -= now;
    tables += now * count * kTableEntries;
    most += now * kRows;
  }
}

FOOTNOTE_AVX2 std::uint16_t largest_word(__m256i words) {
  const __m128i eight = _mm_max_epu16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  // minpos finds the minimum of eight words; complement twice to get the maximum.
  return static_cast<std::uint16_t>(~_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(eight, _mm_set1_epi16(-1))), 0));
}

}  // namespace

FOOTNOTE_AVX2 void best_sums_avx2(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs,
                                  std::size_t count, std::uint16_t* best) {
  const std::size_t bytes = dimension / 8;
  alignas(kRows) std::uint8_t forms[table_count(kDimensionMax) * kRows];
  alignas(kRows) std::uint8_t most[kQuestionTokensMax * kRows];
  std::fill_n(most, tokens * kRows, std::uint8_t{0});
  // Tables past the last are all zeros, for any pattern.
  std::fill_n(forms + 2 * bytes * kRows, (table_count(dimension) - 2 * bytes) * kRows, std::uint8_t{0});
  for (std::size_t at = 0; at < count; at += kRows) {
    turn_bits(signs + at * bytes, bytes, std::min(kRows, count - at), forms);
    compare_all(tables, tokens, table_count(dimension), forms, most);
  }
  for (std::size_t t = 0; t < tokens; ++t) best[t] = largest_word(load(most + t * kRows));
}

#else

void best_sums_avx2(const std::uint8_t* tables, std::size_t tokens, std::size_t dimension, const std::byte* signs, std::size_t count,
                    std::uint16_t* best) {
  best_sums_portable(tables, tokens, dimension, signs, count, best);
}

#endif

}  // namespace footnote::late
