// Sixteen lanes of AVX-512 for kernels_*.h, with the integer products of kVnni. Included inside a region that enables the instructions,
// like kernels_common.h.
namespace footnote::nn {
namespace {

struct Avx512 {
  using Float = __m512;
  using Int = __m512i;
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kTileRows = 12;
  static constexpr float kBytesMax = 255.0F;
  static constexpr bool kLooksUp = true;

  static Float load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Float value) { _mm512_storeu_ps(to, value); }
  static Float broadcast(float value) { return _mm512_set1_ps(value); }
  static float first(Float v) { return _mm512_cvtss_f32(v); }
  static Float multiply_add(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  static Float maximum(Float a, Float b) { return _mm512_max_ps(a, b); }
  static Float minimum(Float a, Float b) { return _mm512_min_ps(a, b); }
  static Float magnitude(Float value) { return _mm512_abs_ps(value); }
  static Float round(Float value) { return _mm512_roundscale_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Float times_power_of_two(Float value, Float whole) { return _mm512_scalef_ps(value, whole); }
  static Float keep_first(std::size_t count, Float value, float other) {
    const auto mask = static_cast<__mmask16>(count >= kLanes ? 0xFFFF : (1U << count) - 1);
    return _mm512_mask_mov_ps(_mm512_set1_ps(other), mask, value);
  }
  static Int keep_first(std::size_t count, Int value, std::int32_t other) {
    return _mm512_mask_mov_epi32(_mm512_set1_epi32(other), static_cast<__mmask16>(count >= kLanes ? 0xFFFF : (1U << count) - 1), value);
  }
  static Float pick(const float (&table)[16], Float index) {
    return _mm512_permutexvar_ps(_mm512_castps_si512(index), _mm512_loadu_ps(table));
  }
  // Adds halves repeatedly, in the order of the scalar model.
  static float sum(Float v) {
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static float largest(Float v) { return _mm512_reduce_max_ps(v); }
  static float smallest(Float v) { return _mm512_reduce_min_ps(v); }

  static Int zero_int() { return _mm512_setzero_si512(); }
  static Int load_int(const std::byte* from) { return _mm512_loadu_si512(from); }
  static Int broadcast_int(const std::byte* from) {
    std::int32_t value;
    __builtin_memcpy(&value, from, sizeof(value));
    return _mm512_set1_epi32(value);
  }
  FOOTNOTE_INLINE static void prefetch(const std::byte* from) { _mm_prefetch(reinterpret_cast<const char*>(from), _MM_HINT_T0); }
  static void store_int(std::byte* to, Int value) { _mm512_storeu_si512(to, value); }
  static void store_low_words(std::byte* to, Int value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(value));
  }
  static Int everywhere(std::int32_t value) { return _mm512_set1_epi32(value); }
  static Int bits_of(Float value) { return _mm512_castps_si512(value); }
  static Float with_exponent_of_one(Int value) {
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(value, everywhere(0x007FFFFF), everywhere(0x3F800000), 0xEA));
  }
  static Float exponent_alone(Int value) { return _mm512_castsi512_ps(_mm512_and_si512(value, everywhere(0x7F800000))); }
  static void store_bytes_of_words(std::byte* to, Int value) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(value));
  }
  static Int add_words(Int a, Int b) { return _mm512_add_epi16(a, b); }
  static Int larger_words(Int most, Int value) { return _mm512_max_epu16(most, _mm512_abs_epi16(value)); }
  static std::int32_t largest_word(Int value) {
    return _mm512_reduce_max_epi32(_mm512_max_epi32(_mm512_and_si512(value, everywhere(0xFFFF)), _mm512_srli_epi32(value, 16)));
  }
  static Int subtract(Int a, Int b) { return _mm512_sub_epi32(a, b); }
  static Int add(Int a, Int b) { return _mm512_add_epi32(a, b); }
  static Int maximum(Int a, Int b) { return _mm512_max_epi32(a, b); }
  static std::int32_t largest(Int value) { return _mm512_reduce_max_epi32(value); }
  static std::int32_t sum(Int value) {
    const __m256i eight = _mm256_add_epi32(_mm512_castsi512_si256(value), _mm512_extracti64x4_epi64(value, 1));
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
  }
  static Int to_int(Float value) { return _mm512_cvtps_epi32(value); }
  static Int both_words(Int value) { return _mm512_or_si512(value, _mm512_slli_epi32(value, 16)); }
  static Int scale_words(Int words, Int ratios) { return _mm512_mulhrs_epi16(words, ratios); }
  static Float to_float(Int value) { return _mm512_cvtepi32_ps(value); }
  static void store_bytes(std::byte* to, Float value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtusepi32_epi8(_mm512_max_epi32(_mm512_cvtps_epi32(value), zero_int())));
  }
  static void store_words(std::byte* to, Int value) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtsepi32_epi16(value)); }
  static void interleave_words(const std::byte* even, const std::byte* odd, std::byte* first, std::byte* second) {
    const __m512i order = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37, 5, 36, 4, 35, 3,
                                           34, 2, 33, 1, 32, 0);
    const Int a = load_int(even), b = load_int(odd);
    _mm512_storeu_si512(first, _mm512_permutex2var_epi16(a, order, b));
    _mm512_storeu_si512(second, _mm512_permutex2var_epi16(a, _mm512_add_epi16(order, _mm512_set1_epi16(16)), b));
  }
  static void transpose(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
    transpose_int(reinterpret_cast<const std::byte*>(in), in_stride * sizeof(float), reinterpret_cast<std::byte*>(out),
                  out_stride * sizeof(float));
  }
  // Transposes 4 x 4 numbers within each quarter of four rows: number k of all four goes to row k.
  template <std::size_t kRows>
  FOOTNOTE_INLINE static void transpose_fours(Int (&r)[kRows]) {
    Int t[kRows];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows; i += 2) {
      t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
      t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kRows; i += 4) {
      r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
      r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
      r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
      r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
  }
  // Sixteen rows of eight numbers.
  static void transpose_bytes(const std::byte* in, std::size_t in_stride, std::byte* out, std::size_t out_stride) {
    Int r[8];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) {  // Combines rows 0 to 3 with rows 4 to 7, then rows 8 to 11 with 12 to 15.
      const std::byte* row = in + (i / 4 * 8 + i % 4) * in_stride;
      r[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row))),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + 4 * in_stride)), 1);
    }
    transpose_fours(r);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      _mm512_storeu_si512(out + i * out_stride, _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88));
      _mm512_storeu_si512(out + (i + 4) * out_stride, _mm512_shuffle_i32x4(r[i], r[i + 4], 0xDD));
    }
  }
  // Strides in bytes.
  static void transpose_int(const std::byte* in, std::size_t in_stride, std::byte* out, std::size_t out_stride) {
    Int r[16], t[16];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) r[i] = load_int(in + i * in_stride);
    transpose_fours(r);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
      t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xDD);
      t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
      t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xDD);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) {
      _mm512_storeu_si512(out + i * out_stride, _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88));
      _mm512_storeu_si512(out + (i + 8) * out_stride, _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD));
    }
  }
};

struct Vnni : Avx512 {
  static constexpr std::size_t kTileRows = 14;  // Two sums per row, two vectors of a panel and one of a row: 31 of 32 registers.

  static void dot_centre(Int& sum, Int right) {
    asm("vpdpbusd %1, %2, %0" : "+v"(sum) : "v"(right), "v"(_mm512_set1_epi8(static_cast<char>(0x80))));
  }
  static void dot_bytes_of(const std::byte* left, Int& low, Int& high, Int right_low, Int right_high) {
    asm("vpbroadcastd %2, %%zmm31\n\tvpdpbusd %3, %%zmm31, %0\n\tvpdpbusd %4, %%zmm31, %1"
        : "+v"(low), "+v"(high)
        : "m"(*reinterpret_cast<const std::int32_t*>(left)), "v"(right_low), "v"(right_high)
        : "xmm31");
  }
  static void dot_words_of(const std::byte* left, Int& low, Int& high, Int right_low, Int right_high) {
    asm("vpbroadcastd %2, %%zmm31\n\tvpdpwssd %3, %%zmm31, %0\n\tvpdpwssd %4, %%zmm31, %1"
        : "+v"(low), "+v"(high)
        : "m"(*reinterpret_cast<const std::int32_t*>(left)), "v"(right_low), "v"(right_high)
        : "xmm31");
  }
};

}  // namespace
}  // namespace footnote::nn
