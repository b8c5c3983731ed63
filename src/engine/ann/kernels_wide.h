// Shared by the 512-bit levels. Included inside a region that enables their instructions.
namespace footnote::ann {
namespace {

struct Product {
  static __m512 add(__m512 a, __m512 b, __m512 sum) { return _mm512_fmadd_ps(a, b, sum); }
};
struct Square {
  static __m512 add(__m512 a, __m512 b, __m512 sum) {
    const __m512 d = _mm512_sub_ps(a, b);
    return _mm512_fmadd_ps(d, d, sum);
  }
};
struct Magnitude {
  static __m512 add(__m512 a, __m512 b, __m512 sum) { return _mm512_add_ps(sum, _mm512_abs_ps(_mm512_sub_ps(a, b))); }
};

float total(__m512 v) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Handles one row at a time; see kernels_avx2.cpp for the reason.
template <class Term>
void sum_terms(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    __m512 sum0 = _mm512_setzero_ps(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    std::size_t i = 0;
    for (; i + 64 <= stride; i += 64) {
      sum0 = Term::add(_mm512_loadu_ps(query + i), _mm512_loadu_ps(row + i), sum0);
      sum1 = Term::add(_mm512_loadu_ps(query + i + 16), _mm512_loadu_ps(row + i + 16), sum1);
      sum2 = Term::add(_mm512_loadu_ps(query + i + 32), _mm512_loadu_ps(row + i + 32), sum2);
      sum3 = Term::add(_mm512_loadu_ps(query + i + 48), _mm512_loadu_ps(row + i + 48), sum3);
    }
    for (; i < stride; i += 16) sum0 = Term::add(_mm512_loadu_ps(query + i), _mm512_loadu_ps(row + i), sum0);
    out[r] = total(_mm512_add_ps(_mm512_add_ps(sum0, sum1), _mm512_add_ps(sum2, sum3)));
  }
}

std::int32_t total(__m512i v) {
  const __m256i eight = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
  return _mm_cvtsi128_si32(four);
}

/// Looks up two bytes of each of 32 rows; `low` and `high` hold the table of each byte in the lanes of its rows.
__m512i entries_of(__m512i low, __m512i high, __m512i bytes) {
  const __m512i nibble = _mm512_set1_epi8(15);
  return _mm512_add_epi8(_mm512_shuffle_epi8(low, _mm512_and_si512(bytes, nibble)),
                         _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble)));
}

void store_sums(__m512i even, __m512i odd, std::uint16_t* out) {
  // The two halves hold different bytes of the same rows.
  const __m256i evens = _mm256_add_epi16(_mm512_castsi512_si256(even), _mm512_extracti64x4_epi64(even, 1));
  const __m256i odds = _mm256_add_epi16(_mm512_castsi512_si256(odd), _mm512_extracti64x4_epi64(odd, 1));
  const __m256i first = _mm256_unpacklo_epi16(evens, odds), second = _mm256_unpackhi_epi16(evens, odds);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permute2x128_si256(first, second, 0x20));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out) + 1, _mm256_permute2x128_si256(first, second, 0x31));
}

/// Processes block after block. Interleaved blocks could share the loaded tables, but sequential memory access is faster.
void sign_sums(const std::uint8_t* tables, const std::uint8_t* blocks, std::size_t row_bytes, std::size_t count, std::uint16_t* out) {
  const __m512i low_byte = _mm512_set1_epi16(0xFF);
  const std::uint8_t* bytes = blocks;
  for (std::size_t b = 0; b < count; ++b) {
    __m512i even = _mm512_setzero_si512(), odd = even;
    for (std::size_t p = 0; p < row_bytes; p += kSignBytePadding, bytes += kSignBytePadding * kSignBlockRows) {
      const __m512i pair = _mm512_loadu_si512(tables + p * 32), next = _mm512_loadu_si512(tables + p * 32 + 64);
      const __m512i first =
          entries_of(_mm512_shuffle_i64x2(pair, pair, 0xA0), _mm512_shuffle_i64x2(pair, pair, 0xF5), _mm512_loadu_si512(bytes));
      const __m512i second =
          entries_of(_mm512_shuffle_i64x2(next, next, 0xA0), _mm512_shuffle_i64x2(next, next, 0xF5), _mm512_loadu_si512(bytes + 64));
      const __m512i four = _mm512_add_epi8(first, second);
      even = _mm512_add_epi16(even, _mm512_and_si512(four, low_byte));
      odd = _mm512_add_epi16(odd, _mm512_srli_epi16(four, 8));
    }
    store_sums(even, odd, out + b * kSignBlockRows);
  }
}

std::uint32_t reaching(const std::uint16_t* sums, const float* norms, const SignLine& line, float least) {
  const __m512 slope = _mm512_set1_ps(line.slope), offset = _mm512_set1_ps(line.offset), bend = _mm512_set1_ps(line.bend);
  std::uint32_t bits = 0;
  for (std::size_t r = 0; r < kSignBlockRows; r += 16) {
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums + r))));
    const __m512 norm = _mm512_loadu_ps(norms + r);
    const __m512 estimate = _mm512_mul_ps(norm, _mm512_fmadd_ps(slope, sum, _mm512_fmadd_ps(bend, norm, offset)));
    bits |= static_cast<std::uint32_t>(_mm512_cmp_ps_mask(estimate, _mm512_set1_ps(least), _CMP_GE_OQ)) << r;
  }
  return bits;
}

}  // namespace
}  // namespace footnote::ann
