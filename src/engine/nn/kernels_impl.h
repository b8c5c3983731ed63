// The kernels, once, over a vector type `V`. Included by kernels_*.cpp alone, inside the region that switches the
// level's instructions on; so it includes nothing itself and lives in an anonymous namespace: no other file may
// end up with a copy that uses instructions its machine lacks.
//
// V has: Float, Int (vectors of kLanes), kLanes, kTileRows; load, store, broadcast, multiply_add, bits, floats,
// maximum, minimum, sum, largest.
namespace footnote::nn {
namespace {

#define FOOTNOTE_INLINE inline __attribute__((always_inline))

// Unrolls by template: g++ keeps an array of accumulators in registers only when no loop indexes it.
template <class Body, std::size_t... kIndex>
FOOTNOTE_INLINE void unroll(std::index_sequence<kIndex...>, Body&& body) {
  (body(std::integral_constant<std::size_t, kIndex>{}), ...);
}

template <class V>
FOOTNOTE_INLINE typename V::Float polynomial(typename V::Float x, const float* coefficients, std::size_t degree) {
  typename V::Float value = V::broadcast(coefficients[degree]);
  for (std::size_t i = degree; i-- > 0;) value = V::multiply_add(value, x, V::broadcast(coefficients[i]));
  return value;
}

// x * Phi(x), where Phi - 1/2 is an odd rational function fitted on |x| <= 5.6 (error of Phi below 3e-8 before
// rounding); past that Phi is 0 or 1 to single precision.
constexpr float kPhiNumerator[] = {0.39894190430641174F,    0.03584740683436394F,   0.00480543402954936F,
                                   0.00019015777797903866F, 6.590616067114752e-06F, 2.1710526709739497e-08F};
constexpr float kPhiDenominator[] = {
    1.0F, 0.2565188705921173F, 0.029804090037941933F, 0.002003367990255356F, 8.101190906018019e-05F, 1.1851545878016623e-06F};

template <class V>
FOOTNOTE_INLINE typename V::Float gelu(typename V::Float x) {
  using Float = typename V::Float;
  // The constants are read through a pointer that the compiler can't see through: it would otherwise keep them all
  // in registers across the multiplication and spill its accumulators.
  const float* numerator = kPhiNumerator;
  const float* denominator = kPhiDenominator;
  asm volatile("" : "+r"(numerator), "+r"(denominator));
  const Float limit = V::broadcast(5.6F);
  const Float half = V::broadcast(0.5F);
  const Float clamped = V::minimum(V::maximum(x, -limit), limit);
  const Float square = clamped * clamped;
  Float phi = clamped * polynomial<V>(square, numerator, 5) / polynomial<V>(square, denominator, 5);
  phi = V::minimum(V::maximum(phi, -half), half);
  // Phi may end a rounding away from 0: a hugely negative x must not magnify that.
  return V::maximum(x, -limit) * (phi + half);
}

// e^x for x <= 0, within two units of the last place; below -87 it is as good as 0.
constexpr float kExpTerms[] = {1.0F, 1.0F, 0.5F, 0.16666667F, 0.041666668F, 0.008333334F, 0.0013888889F};

template <class V>
FOOTNOTE_INLINE typename V::Float exp_of_negative(typename V::Float x) {
  using Float = typename V::Float;
  const Float shifter = V::broadcast(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer in the low bits.
  const Float bounded = V::maximum(x, V::broadcast(-87.0F));
  const Float shifted = V::multiply_add(bounded, V::broadcast(1.44269504F), shifter);
  const Float count = shifted - shifter;
  Float rest = V::multiply_add(count, V::broadcast(-0.693359375F), bounded);  // ln 2 in two parts
  rest = V::multiply_add(count, V::broadcast(2.12194440e-4F), rest);
  const Float power = polynomial<V>(rest, kExpTerms, 6);
  return V::floats(V::bits(power) + (V::bits(shifted) << 23));
}

// kRows rows of the left matrix by one panel. The sum over `depth` runs in order in one accumulator per result.
template <class V, std::size_t kRows>
void multiply_tile(const Multiplication& m, const float* left, const float* panel, const float* bias, float* out) {
  using Float = typename V::Float;
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  Float low[kRows];
  Float high[kRows];
  unroll(kEach, [&](auto row) __attribute__((always_inline)) { low[row] = high[row] = V::broadcast(0.0F); });
  const std::size_t stride = m.left_stride;
  for (std::size_t k = 0; k < m.depth; ++k) {
    const Float right_low = V::load(panel);
    const Float right_high = V::load(panel + V::kLanes);
    panel += 2 * V::kLanes;
    unroll(kEach, [&](auto row) __attribute__((always_inline)) {
      const Float value = V::broadcast(left[row * stride + k]);
      low[row] = V::multiply_add(value, right_low, low[row]);
      high[row] = V::multiply_add(value, right_high, high[row]);
    });
  }
  const Float bias_low = bias == nullptr ? V::broadcast(0.0F) : V::load(bias);
  const Float bias_high = bias == nullptr ? V::broadcast(0.0F) : V::load(bias + V::kLanes);
  const bool is_gelu = m.activation == Activation::kGelu;
  unroll(kEach, [&](auto row) __attribute__((always_inline)) {
    low[row] = low[row] + bias_low;
    high[row] = high[row] + bias_high;
    V::store(out + row * m.out_stride, low[row]);
    V::store(out + row * m.out_stride + V::kLanes, high[row]);
  });
  if (!is_gelu) return;
  // A loop over memory, still in the nearest cache, rather than over registers: the code stays small.
  for (std::size_t row = 0; row < kRows; ++row) {
    float* results = out + row * m.out_stride;
    V::store(results, gelu<V>(V::load(results)));
    V::store(results + V::kLanes, gelu<V>(V::load(results + V::kLanes)));
  }
}

template <class V, std::size_t kRows>
void multiply_rest(const Multiplication& m, std::size_t rows, const float* left, const float* panel, const float* bias, float* out) {
  if constexpr (kRows > 0) {
    if (rows == kRows) return multiply_tile<V, kRows>(m, left, panel, bias, out);
    multiply_rest<V, kRows - 1>(m, rows, left, panel, bias, out);
  }
}

// Panels outside, rows inside: the right matrix is read from memory once and the panel stays in the cache.
template <class V>
void multiply(const Multiplication& m) {
  constexpr std::size_t kPanel = 2 * V::kLanes;
  for (std::size_t column = 0; column < m.columns; column += kPanel) {
    const float* panel = m.panels + column * m.depth;
    const float* bias = m.bias == nullptr ? nullptr : m.bias + column;
    std::size_t row = 0;
    for (; row + V::kTileRows <= m.rows; row += V::kTileRows) {
      multiply_tile<V, V::kTileRows>(m, m.left + row * m.left_stride, panel, bias, m.out + row * m.out_stride + column);
    }
    multiply_rest<V, V::kTileRows - 1>(m, m.rows - row, m.left + row * m.left_stride, panel, bias, m.out + row * m.out_stride + column);
  }
}

template <class V>
void add_norm(const AddNorm& n) {
  using Float = typename V::Float;
  const float scale = 1.0F / static_cast<float>(n.width);
  for (std::size_t i = 0; i < n.count; ++i) {
    float* row = n.rows + i * n.width;
    const float* addend = n.addend + i * n.width;
    Float sum = V::broadcast(0.0F);
    for (std::size_t k = 0; k < n.width; k += V::kLanes) {
      const Float value = V::load(addend + k) + V::load(row + k);
      V::store(row + k, value);
      sum = sum + value;
    }
    const Float mean = V::broadcast(V::sum(sum) * scale);
    Float squares = V::broadcast(0.0F);
    for (std::size_t k = 0; k < n.width; k += V::kLanes) {
      const Float centred = V::load(row + k) - mean;
      squares = V::multiply_add(centred, centred, squares);
    }
    const Float factor = V::broadcast(1.0F / __builtin_sqrtf(V::sum(squares) * scale + n.epsilon));
    for (std::size_t k = 0; k < n.width; k += V::kLanes) {
      const Float normal = (V::load(row + k) - mean) * factor;
      V::store(row + k, V::multiply_add(normal, V::load(n.gain + k), V::load(n.shift + k)));
    }
  }
}

template <class V>
void softmax(const Softmax& s) {
  using Float = typename V::Float;
  const std::size_t padded = (s.columns + V::kLanes - 1) / V::kLanes * V::kLanes;
  const Float scale = V::broadcast(s.scale);
  for (std::size_t i = 0; i < s.rows; ++i) {
    float* row = s.scores + i * s.stride;
    // Far below any score, so that its share is nothing; not infinite, so that nothing becomes NaN.
    for (std::size_t k = s.columns; k < padded; ++k) row[k] = -1e30F;
    Float top = V::load(row);
    for (std::size_t k = V::kLanes; k < padded; k += V::kLanes) top = V::maximum(top, V::load(row + k));
    const Float offset = V::broadcast(-V::largest(top)) * scale;
    Float sum = V::broadcast(0.0F);
    for (std::size_t k = 0; k < padded; k += V::kLanes) {
      const Float share = exp_of_negative<V>(V::multiply_add(V::load(row + k), scale, offset));
      V::store(row + k, share);
      sum = sum + share;
    }
    const Float factor = V::broadcast(1.0F / V::sum(sum));
    for (std::size_t k = 0; k < padded; k += V::kLanes) V::store(row + k, V::load(row + k) * factor);
  }
}

template <class V>
const Kernels* table_of() {
  static constexpr Kernels kTable{2 * V::kLanes, multiply<V>, add_norm<V>, softmax<V>};
  return &kTable;
}

#undef FOOTNOTE_INLINE

}  // namespace
}  // namespace footnote::nn
