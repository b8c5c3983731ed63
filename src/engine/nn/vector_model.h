// Emulates the vectors of kVnni and kAmx for kernels_*.h: sixteen lanes in plain code, where each operation rounds exactly as the
// instruction does. The kernels then give the same bytes on any machine.
namespace footnote::nn {
namespace {

struct Model {
  static constexpr std::size_t kLanes = 16;
  static constexpr std::size_t kTileRows = 2;  // Any value works: results do not depend on it.
  static constexpr float kBytesMax = 255.0F;
  static constexpr bool kLooksUp = true;

  struct Float {
    float lanes[kLanes];
    float& operator[](std::size_t i) { return lanes[i]; }
    float operator[](std::size_t i) const { return lanes[i]; }
    friend Float operator+(const Float& a, const Float& b) {
      return each([&](std::size_t i) { return a[i] + b[i]; });
    }
    friend Float operator-(const Float& a, const Float& b) {
      return each([&](std::size_t i) { return a[i] - b[i]; });
    }
    friend Float operator*(const Float& a, const Float& b) {
      return each([&](std::size_t i) { return a[i] * b[i]; });
    }
  };
  struct Int {
    std::int32_t lanes[kLanes];
    std::int32_t& operator[](std::size_t i) { return lanes[i]; }
    std::int32_t operator[](std::size_t i) const { return lanes[i]; }
  };

  template <class Operation>
  static Int each_int(Operation operation) {
    Int out;
    for (std::size_t i = 0; i < kLanes; ++i) out[i] = operation(i);
    return out;
  }
  template <class Operation>
  static Float each(Operation operation) {
    Float out;
    for (std::size_t i = 0; i < kLanes; ++i) out[i] = operation(i);
    return out;
  }

  static Float load(const float* from) {
    Float out;
    std::memcpy(&out, from, sizeof(out));
    return out;
  }
  static void store(float* to, Float value) { std::memcpy(to, &value, sizeof(value)); }
  static Float broadcast(float value) {
    return each([&](std::size_t) { return value; });
  }
  static float first(Float v) { return v[0]; }
  static Float multiply_add(Float a, Float b, Float c) {
    return each([&](std::size_t i) { return std::fma(a[i], b[i], c[i]); });
  }
  static Float maximum(Float a, Float b) {
    return each([&](std::size_t i) { return a[i] > b[i] ? a[i] : b[i]; });
  }
  static Float minimum(Float a, Float b) {
    return each([&](std::size_t i) { return a[i] < b[i] ? a[i] : b[i]; });
  }
  static Float magnitude(Float value) {
    return each([&](std::size_t i) { return std::fabs(value[i]); });
  }
  static Float round(Float value) {
    return each([&](std::size_t i) { return std::nearbyint(value[i]); });
  }
  static Float times_power_of_two(Float value, Float whole) {
    return each([&](std::size_t i) { return std::ldexp(value[i], static_cast<int>(whole[i])); });
  }
  static Float keep_first(std::size_t count, Float value, float other) {
    return each([&](std::size_t i) { return i < count ? value[i] : other; });
  }
  static Int keep_first(std::size_t count, Int value, std::int32_t other) {
    return each_int([&](std::size_t i) { return i < count ? value[i] : other; });
  }
  static Float pick(const float (&table)[16], Float index) {
    return each([&](std::size_t i) { return table[std::bit_cast<std::uint32_t>(index[i]) % 16]; });
  }
  template <class Join>
  static float fold(Float v, Join join) {
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) v[i] = join(v[i], v[i + half]);
    }
    return v[0];
  }
  static float sum(Float v) {
    return fold(v, [](float a, float b) { return a + b; });
  }
  static float largest(Float v) {
    return fold(v, [](float a, float b) { return a > b ? a : b; });
  }
  static float smallest(Float v) {
    return fold(v, [](float a, float b) { return a < b ? a : b; });
  }

  static Int zero_int() { return Int{}; }
  static Int load_int(const std::byte* from) {
    Int out;
    std::memcpy(&out, from, sizeof(out));
    return out;
  }
  static Int broadcast_int(const std::byte* from) {
    std::int32_t value;
    std::memcpy(&value, from, sizeof(value));
    Int out;
    for (std::size_t i = 0; i < kLanes; ++i) out[i] = value;
    return out;
  }
  static void prefetch(const std::byte*) {}
  static void store_int(std::byte* to, Int value) { std::memcpy(to, &value, sizeof(value)); }
  static void store_low_words(std::byte* to, Int value) {
    for (std::size_t i = 0; i < kLanes; ++i) std::memcpy(to + 2 * i, &value[i], 2);
  }
  static Int everywhere(std::int32_t value) {
    return each_int([&](std::size_t) { return value; });
  }
  static Int bits_of(Float value) { return std::bit_cast<Int>(value); }
  static Float with_exponent_of_one(Int value) {
    return each([&](std::size_t i) { return std::bit_cast<float>((value[i] & 0x007FFFFF) | 0x3F800000); });
  }
  static Float exponent_alone(Int value) {
    return each([&](std::size_t i) { return std::bit_cast<float>(value[i] & 0x7F800000); });
  }
  using Words = std::array<std::int16_t, 2 * kLanes>;
  static void store_bytes_of_words(std::byte* to, Int value) {
    for (const std::int16_t word : std::bit_cast<Words>(value)) *to++ = static_cast<std::byte>(word & 0xFF);
  }
  static Int add_words(Int a, Int b) {
    Words out = std::bit_cast<Words>(a);
    const auto more = std::bit_cast<Words>(b);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::int16_t>(out[i] + more[i]);
    return std::bit_cast<Int>(out);
  }
  static Int larger_words(Int most, Int value) {
    Words out = std::bit_cast<Words>(most);
    const auto words = std::bit_cast<Words>(value);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::int16_t>(std::max<int>(out[i], std::abs(words[i])));
    return std::bit_cast<Int>(out);
  }
  static std::int32_t largest_word(Int value) { return std::ranges::max(std::bit_cast<Words>(value)); }
  static Int subtract(Int a, Int b) {
    return each_int([&](std::size_t i) { return a[i] - b[i]; });
  }
  static std::int32_t wrapped_sum(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
  static Int add(Int a, Int b) {
    return each_int([&](std::size_t i) { return wrapped_sum(a[i], b[i]); });
  }
  static Int maximum(Int a, Int b) {
    return each_int([&](std::size_t i) { return std::max(a[i], b[i]); });
  }
  static std::int32_t largest(Int value) { return std::ranges::max(value.lanes); }
  static std::int32_t sum(Int value) { return std::accumulate(std::begin(value.lanes), std::end(value.lanes), 0, wrapped_sum); }
  static Int to_int(Float value) {
    return each_int([&](std::size_t i) {
      const float whole = std::nearbyint(value[i]);
      return std::fabs(whole) < 0x1p31F ? static_cast<std::int32_t>(whole) : std::numeric_limits<std::int32_t>::min();
    });
  }
  static Int both_words(Int value) {
    return each_int([&](std::size_t i) { return value[i] * 0x10001; });
  }
  static Int scale_words(Int words, Int ratios) {
    Words out = std::bit_cast<Words>(words);
    const auto ratio = std::bit_cast<Words>(ratios);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::int16_t>((out[i] * ratio[i] + 0x4000) >> 15);
    return std::bit_cast<Int>(out);
  }
  static Float to_float(Int value) {
    return each([&](std::size_t i) { return static_cast<float>(value[i]); });
  }
  template <class Number>
  static void store_as(std::byte* to, Float value) {
    using Limits = std::numeric_limits<Number>;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float whole = std::nearbyint(value[i]);
      const auto number = static_cast<Number>(std::clamp(whole, static_cast<float>(Limits::min()), static_cast<float>(Limits::max())));
      std::memcpy(to + i * sizeof(Number), &number, sizeof(Number));
    }
  }
  static void store_bytes(std::byte* to, Float value) { store_as<std::uint8_t>(to, value); }
  static void store_words(std::byte* to, Int value) { store_as<std::int16_t>(to, to_float(value)); }
  static void interleave_words(const std::byte* even, const std::byte* odd, std::byte* first, std::byte* second) {
    for (std::size_t i = 0; i < 2 * kLanes; ++i) {
      std::byte* out = i < kLanes ? first + 4 * i : second + 4 * (i - kLanes);
      std::memcpy(out, even + 2 * i, 2);
      std::memcpy(out + 2, odd + 2 * i, 2);
    }
  }
  static void store_bf16(std::byte* to, Float low, Float high) {
    for (std::size_t i = 0; i < 2 * kLanes; ++i) {
      const std::uint16_t rounded = to_bf16(i < kLanes ? low[i] : high[i - kLanes]);
      std::memcpy(to + 2 * i, &rounded, 2);
    }
  }
  static void transpose_bytes(const std::byte* in, std::size_t in_stride, std::byte* out, std::size_t out_stride) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (std::size_t k = 0; k < 8; ++k) std::memcpy(out + k * out_stride + 4 * i, in + i * in_stride + 4 * k, 4);
    }
  }
  static void transpose_int(const std::byte* in, std::size_t in_stride, std::byte* out, std::size_t out_stride) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      for (std::size_t k = 0; k < kLanes; ++k) std::memcpy(out + k * out_stride + 4 * i, in + i * in_stride + 4 * k, 4);
    }
  }
  template <class Left, class Right, std::size_t kProducts>
  static void dot(Int& sum, Int left, Int right) {
    Left a[kLanes * kProducts];
    Right b[kLanes * kProducts];
    std::memcpy(a, &left, sizeof(a));
    std::memcpy(b, &right, sizeof(b));
    for (std::size_t i = 0; i < kLanes * kProducts; ++i) sum[i / kProducts] += std::int32_t{a[i]} * std::int32_t{b[i]};
  }
  static void dot_centre(Int& sum, Int right) {
    dot<std::uint8_t, std::int8_t, 4>(sum, everywhere(static_cast<std::int32_t>(0x80808080)), right);
  }
  static void dot_bytes_of(const std::byte* left, Int& low, Int& high, Int right_low, Int right_high) {
    const Int value = broadcast_int(left);
    dot<std::uint8_t, std::int8_t, 4>(low, value, right_low);
    dot<std::uint8_t, std::int8_t, 4>(high, value, right_high);
  }
  static void dot_words_of(const std::byte* left, Int& low, Int& high, Int right_low, Int right_high) {
    const Int value = broadcast_int(left);
    dot<std::int16_t, std::int16_t, 2>(low, value, right_low);
    dot<std::int16_t, std::int16_t, 2>(high, value, right_high);
  }
};

/// Eight tiles in memory. A product of two bf16 numbers is exact; even and odd ones are summed separately, then added, as the instruction
/// does. Denormals count as 0.
struct ModelTiles {
  static constexpr std::size_t kRows = 16;
  struct Tile {
    std::byte bytes[kRows * 64];
  };
  static inline thread_local Tile tiles[8];

  using Numbers = float[kRows][2 * kRows];

  static float flushed(float value) { return std::fabs(value) < std::numeric_limits<float>::min() ? 0.0F : value; }
  static void read(const Tile& tile, Numbers& out) {
    for (std::size_t i = 0; i < 2 * kRows * kRows; ++i) {
      std::uint16_t half;
      std::memcpy(&half, tile.bytes + 2 * i, 2);
      out[i / (2 * kRows)][i % (2 * kRows)] = flushed(std::bit_cast<float>(std::uint32_t{half} << 16));
    }
  }

  static void begin() {}
  static void end() {}
  template <int kTile>
  static void zero() {
    tiles[kTile] = {};
  }
  template <int kTile>
  static void load(const std::byte* from, std::size_t stride) {
    for (std::size_t row = 0; row < kRows; ++row) std::memcpy(tiles[kTile].bytes + row * 64, from + row * stride, 64);
  }
  template <int kTile>
  static void store(float* to, std::size_t stride) {
    for (std::size_t row = 0; row < kRows; ++row) {
      std::memcpy(reinterpret_cast<std::byte*>(to) + row * stride, tiles[kTile].bytes + row * 64, 64);
    }
  }
  template <int kSum, int kLeft, int kRight>
  static void multiply() {
    Numbers left, right;
    read(tiles[kLeft], left);
    read(tiles[kRight], right);
    for (std::size_t m = 0; m < kRows; ++m) {
      float products[2 * kRows] = {};  // Even and odd products alternate.
      for (std::size_t k = 0; k < kRows; ++k) {
        for (std::size_t n = 0; n < 2 * kRows; ++n) products[n] += left[m][2 * k + n % 2] * right[k][n];
      }
      for (std::size_t n = 0; n < kRows; ++n) {
        float sum;
        std::byte* place = tiles[kSum].bytes + m * 64 + n * 4;
        std::memcpy(&sum, place, 4);
        sum = flushed(sum + (products[2 * n] + products[2 * n + 1]));
        std::memcpy(place, &sum, 4);
      }
    }
  }
};

}  // namespace
}  // namespace footnote::nn
