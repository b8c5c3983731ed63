// Eight lanes of AVX2 for kernels_*.h. Included inside a region that enables the instructions, like kernels_common.h.
namespace footnote::nn {
namespace {

struct Avx2 {
  using Float = __m256;
  using Int = __m256i;
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kTileRows = 6;
  // The sum of two products of bytes up to 127 and down to -127 fits the 16 bits that vpmaddubsw uses.
  static constexpr float kBytesMax = 127.0F;
  static constexpr bool kLooksUp = false;

  static Float load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Float value) { _mm256_storeu_ps(to, value); }
  static Float broadcast(float value) { return _mm256_set1_ps(value); }
  static float first(Float v) { return _mm256_cvtss_f32(v); }
  static Float multiply_add(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Float maximum(Float a, Float b) { return _mm256_max_ps(a, b); }
  static Float minimum(Float a, Float b) { return _mm256_min_ps(a, b); }
  static Float magnitude(Float value) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), value); }
  static Float round(Float value) { return _mm256_round_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Float times_power_of_two(Float value, Float whole) {
    const __m256i exponent = _mm256_add_epi32(_mm256_cvtps_epi32(whole), _mm256_set1_epi32(127));
    return _mm256_mul_ps(value, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
  }
  static Float keep_first(std::size_t count, Float value, float other) {
    const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i kept = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count < kLanes ? count : kLanes)), place);
    return _mm256_blendv_ps(_mm256_set1_ps(other), value, _mm256_castsi256_ps(kept));
  }
  static Int keep_first(std::size_t count, Int value, std::int32_t other) {
    const __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i kept = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count < kLanes ? count : kLanes)), place);
    return _mm256_blendv_epi8(_mm256_set1_epi32(other), value, kept);
  }
  static float sum(Float v) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }
  static float largest(Float v) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
  }
  static float smallest(Float v) {
    const __m128 four = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(two, _mm_movehdup_ps(two)));
  }

  static Int zero_int() { return _mm256_setzero_si256(); }
  static Int load_int(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static Int broadcast_int(const std::byte* from) {
    std::int32_t value;
    __builtin_memcpy(&value, from, sizeof(value));
    return _mm256_set1_epi32(value);
  }
  FOOTNOTE_INLINE static void prefetch(const std::byte* from) { _mm_prefetch(reinterpret_cast<const char*>(from), _MM_HINT_T0); }
  static void store_int(std::byte* to, Int value) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value); }
  static void store_low_words(std::byte* to, Int value) {
    const Int low = _mm256_and_si256(value, everywhere(0xFFFF));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
  }
  static Int everywhere(std::int32_t value) { return _mm256_set1_epi32(value); }
  static Int bits_of(Float value) { return _mm256_castps_si256(value); }
  static Float with_exponent_of_one(Int value) {
    return _mm256_castsi256_ps(_mm256_or_si256(_mm256_and_si256(value, everywhere(0x007FFFFF)), everywhere(0x3F800000)));
  }
  static Float exponent_alone(Int value) { return _mm256_castsi256_ps(_mm256_and_si256(value, everywhere(0x7F800000))); }
  static void store_bytes_of_words(std::byte* to, Int value) {
    const Int low = _mm256_and_si256(value, everywhere(0x00FF00FF));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
  }
  static Int add_words(Int a, Int b) { return _mm256_add_epi16(a, b); }
  static Int larger_words(Int most, Int value) { return _mm256_max_epu16(most, _mm256_abs_epi16(value)); }
  static std::int32_t largest_word(Int value) {
    return largest(_mm256_max_epi32(_mm256_and_si256(value, everywhere(0xFFFF)), _mm256_srli_epi32(value, 16)));
  }
  static Int subtract(Int a, Int b) { return _mm256_sub_epi32(a, b); }
  static Int add(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static Int maximum(Int a, Int b) { return _mm256_max_epi32(a, b); }
  static std::int32_t largest(Int value) {
    const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
  }
  static std::int32_t sum(Int value) {
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(value), _mm256_extracti128_si256(value, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xB1)));
  }
  static Int to_int(Float value) { return _mm256_cvtps_epi32(value); }
  static Int both_words(Int value) { return _mm256_or_si256(value, _mm256_slli_epi32(value, 16)); }
  static Int scale_words(Int words, Int ratios) { return _mm256_mulhrs_epi16(words, ratios); }
  static Float to_float(Int value) { return _mm256_cvtepi32_ps(value); }
  static void store_bytes(std::byte* to, Float value) {
    const __m256i whole = _mm256_cvtps_epi32(value);
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
  }
  static void store_words(std::byte* to, Int whole) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1)));
  }
  static void interleave_words(const std::byte* even, const std::byte* odd, std::byte* first, std::byte* second) {
    const Int a = load_int(even), b = load_int(odd);
    const Int low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(first), _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(second), _mm256_permute2x128_si256(low, high, 0x31));
  }
  static void transpose(const float* in, std::size_t in_stride, float* out, std::size_t out_stride) {
    transpose_int(reinterpret_cast<const std::byte*>(in), in_stride * sizeof(float), reinterpret_cast<std::byte*>(out),
                  out_stride * sizeof(float));
  }
  static void transpose_bytes(const std::byte* in, std::size_t in_stride, std::byte* out, std::size_t out_stride) {
    transpose_int(in, in_stride, out, out_stride);
  }
  // Strides in bytes.
  static void transpose_int(const std::byte* in, std::size_t in_stride, std::byte* out, std::size_t out_stride) {
    Int r[8], t[8];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 8; ++i) r[i] = load_int(in + i * in_stride);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 8; i += 2) {
      t[i] = _mm256_unpacklo_epi32(r[i], r[i + 1]);
      t[i + 1] = _mm256_unpackhi_epi32(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (std::size_t i = 0; i < 8; i += 4) {
      r[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
      r[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
      r[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
      r[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i * out_stride), _mm256_permute2x128_si256(r[i], r[i + 4], 0x20));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + (i + 4) * out_stride), _mm256_permute2x128_si256(r[i], r[i + 4], 0x31));
    }
  }
};

struct Avx2Int8 : Avx2 {
  static constexpr std::size_t kTileRows = 5;
  static void dot_bytes(Int& sum, Int left, Int right) {
    Int products;
    // One statement, so that g++ 12 neither copies nor spills the accumulators.
    asm("vpmaddubsw %3, %2, %1\n\tvpmaddwd %4, %1, %1\n\tvpaddd %1, %0, %0"
        : "+x"(sum), "=&x"(products)
        : "x"(left), "x"(right), "x"(_mm256_set1_epi16(1)));
  }
  static void dot_centre(Int& sum, Int right) { dot_bytes(sum, _mm256_set1_epi8(0x40), right); }
  static void dot_bytes_of(const std::byte* left, Int& low, Int& high, Int right_low, Int right_high) {
    const Int value = broadcast_int(left);
    dot_bytes(low, value, right_low);
    dot_bytes(high, value, right_high);
  }
  static void dot_words_of(const std::byte* left, Int& low, Int& high, Int right_low, Int right_high) {
    const Int value = broadcast_int(left);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(value, right_low));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(value, right_high));
  }
};

}  // namespace
}  // namespace footnote::nn
