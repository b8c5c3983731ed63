// fp32 arithmetic over a vector type `V`: see kernels_common.h for how it is included. V also has: kTileRows, transpose (a square of kLanes
// by kLanes values).
#include "engine/nn/kernels_common.h"

namespace footnote::nn {
namespace {

// x * Phi(x), where Phi - 1/2 is an odd rational function fitted on |x| <= 5.6 (error of Phi below 3e-8 before rounding); beyond, Phi is 0
// or 1 in single precision.
constexpr float kPhiNumerator[] = {0.39894190430641174F,    0.03584740683436394F,   0.00480543402954936F,
                                   0.00019015777797903866F, 6.590616067114752e-06F, 2.1710526709739497e-08F};
constexpr float kPhiDenominator[] = {
    1.0F, 0.2565188705921173F, 0.029804090037941933F, 0.002003367990255356F, 8.101190906018019e-05F, 1.1851545878016623e-06F};

template <class V>
FOOTNOTE_INLINE typename V::Float exact_gelu(typename V::Float x) {
  using Float = typename V::Float;
  const float(*numerator)[6] = &kPhiNumerator;
  const float(*denominator)[6] = &kPhiDenominator;
  asm volatile("" : "+r"(numerator), "+r"(denominator));
  const Float limit = V::broadcast(5.6F);
  const Float half = V::broadcast(0.5F);
  const Float clamped = V::minimum(V::maximum(x, -limit), limit);
  const Float square = clamped * clamped;
  Float phi = clamped * polynomial<V>(square, *numerator) / polynomial<V>(square, *denominator);
  phi = V::minimum(V::maximum(phi, -half), half);
  // Phi may be one rounding step away from 0: clamp x, or the product would be large.
  return V::maximum(x, -limit) * (phi + half);
}

// kRows rows by a panel of two vectors. Each result has one accumulator that sums over `depth` in order.
template <class V, std::size_t kRows>
FOOTNOTE_INLINE void float_tile(const float* left, std::size_t stride, const float* panel, std::size_t depth,
                                typename V::Float (&low)[kRows], typename V::Float (&high)[kRows]) {
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA { low[row] = high[row] = V::broadcast(0.0F); });
  for (std::size_t k = 0; k < depth; ++k) {
    const auto right_low = V::load(panel);
    const auto right_high = V::load(panel + V::kLanes);
    panel += 2 * V::kLanes;
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      const auto value = V::broadcast(left[row * stride + k]);
      low[row] = V::multiply_add(value, right_low, low[row]);
      high[row] = V::multiply_add(value, right_high, high[row]);
    });
  }
}

template <class V, std::size_t kRows>
void multiply_float_tile(const Multiplication& m, std::size_t first_row, std::size_t column) {
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  typename V::Float low[kRows];
  typename V::Float high[kRows];
  const std::size_t stride = m.left.row_bytes / sizeof(float);
  const float* left = reinterpret_cast<const float*>(m.left.values) + first_row * stride;
  const float* panel = reinterpret_cast<const float*>(m.matrix.panels) + column * m.matrix.depth;
  float_tile<V, kRows>(left, stride, panel, m.matrix.depth, low, high);
  const auto bias_low = V::load(m.matrix.bias + column);
  const auto bias_high = V::load(m.matrix.bias + column + V::kLanes);
  float* out = m.out + first_row * m.out_stride + column;
  const bool add = m.epilogue == Epilogue::kAdd;
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    float* results = out + row * m.out_stride;
    low[row] = low[row] + bias_low;
    high[row] = high[row] + bias_high;
    V::store(results, add ? V::load(results) + low[row] : low[row]);
    V::store(results + V::kLanes, add ? V::load(results + V::kLanes) + high[row] : high[row]);
  });
  if (m.epilogue != Epilogue::kGelu) return;
  // Loops over memory instead of registers. The data is still in the first-level cache, and the code stays small.
  for (std::size_t row = 0; row < kRows; ++row) {
    float* results = out + row * m.out_stride;
    V::store(results, exact_gelu<V>(V::load(results)));
    V::store(results + V::kLanes, exact_gelu<V>(V::load(results + V::kLanes)));
  }
}

// Panels in the outer loop, rows in the inner: the right matrix is read from memory once, and the panel stays in the cache.
template <class V>
void multiply_float(const Multiplication& m) {
  for (std::size_t column = m.first_column; column < m.end_column; column += 2 * V::kLanes) {
    for_row_blocks<V::kTileRows>(m.rows, [&](std::size_t first, auto rows) { multiply_float_tile<V, rows>(m, first, column); });
  }
}

template <class V>
void normalise_float(const Normalisation& n) {
  for (std::size_t i = 0; i < n.count; ++i) {
    float* row = n.hidden + i * n.width;
    typename V::Float mean, factor;
    measure_row<V>(row, n.width, n.norm.epsilon, mean, factor);
    for (std::size_t k = 0; k < n.width; k += V::kLanes) {
      const auto normal = (V::load(row + k) - mean) * factor;
      V::store(row + k, V::multiply_add(normal, V::load(n.norm.gain + k), V::load(n.norm.shift + k)));
    }
  }
}

// Turns the scores of one row into unnormalised softmax weights; returns the inverse of their sum.
template <class V>
FOOTNOTE_INLINE float softmax_float(float* row, std::size_t columns, std::size_t padded) {
  using Float = typename V::Float;
  // Far below any score, so that its weight is 0; but finite, to avoid NaN.
  for (std::size_t k = columns; k < padded; ++k) row[k] = -1e30F;
  Float top = V::load(row);
  for (std::size_t k = V::kLanes; k < padded; k += V::kLanes) top = V::maximum(top, V::load(row + k));
  const Float offset = V::broadcast(V::largest(top));
  Float sum = V::broadcast(0.0F);
  for (std::size_t k = 0; k < padded; k += V::kLanes) {
    const Float share = exp2_of_negative<V>(V::load(row + k) - offset, kExp2Terms);
    V::store(row + k, share);
    sum = sum + share;
  }
  return 1.0F / V::sum(sum);
}

template <class V>
void attend_float(const Attention& a) {
  constexpr std::size_t kPanel = 2 * V::kLanes;
  const std::size_t stride = a.projected.row_bytes / sizeof(float);
  const std::size_t hidden = a.heads * a.head_size;
  const std::size_t padded = (a.length + kPanel - 1) / kPanel * kPanel;
  const float* queries = reinterpret_cast<const float*>(a.projected.values) + a.head * a.head_size;
  const float* keys = queries + hidden;
  const float* values = keys + hidden;
  float* packed_keys = reinterpret_cast<float*>(a.scratch);   // [padded / panel][head size][panel]
  float* packed_values = packed_keys + padded * a.head_size;  // [head size / panel][length][panel]
  float* scores = packed_values + padded * a.head_size;       // [rows of a tile][padded]
  // Rows past the sequence are arbitrary: their scores are ignored.
  for (std::size_t token = 0; token < padded; token += V::kLanes) {
    float* panel = packed_keys + token / kPanel * kPanel * a.head_size + token % kPanel;
    for (std::size_t k = 0; k < a.head_size; k += V::kLanes) V::transpose(keys + token * stride + k, stride, panel + k * kPanel, kPanel);
  }
  for (std::size_t token = 0; token < a.length; ++token) {
    for (std::size_t k = 0; k < a.head_size; k += V::kLanes) {
      V::store(packed_values + (k / kPanel * a.length + token) * kPanel + k % kPanel, V::load(values + token * stride + k));
    }
  }
  for_row_blocks<V::kTileRows>(a.length, [&](std::size_t first, auto rows) {
    constexpr auto kEach = std::make_index_sequence<rows>{};
    typename V::Float low[rows];
    typename V::Float high[rows];
    for (std::size_t token = 0; token < padded; token += kPanel) {
      float_tile<V, rows>(queries + first * stride, stride, packed_keys + token * a.head_size, a.head_size, low, high);
      unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
        V::store(scores + row * padded + token, low[row]);
        V::store(scores + row * padded + token + V::kLanes, high[row]);
      });
    }
    float inverse[rows];
    for (std::size_t row = 0; row < rows; ++row) inverse[row] = softmax_float<V>(scores + row * padded, a.length, padded);
    for (std::size_t k = 0; k < a.head_size; k += kPanel) {
      float_tile<V, rows>(scores, padded, packed_values + k * a.length, a.length, low, high);
      unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
        float* out = a.out + (first + row) * a.out_stride + a.head * a.head_size + k;
        const auto factor = V::broadcast(inverse[row]);
        V::store(out, low[row] * factor);
        V::store(out + V::kLanes, high[row] * factor);
      });
    }
  });
}

template <class V>
const Kernels* float_kernels() {
  static constexpr Kernels kTable{Format::kFloat,     2 * V::kLanes, 24,      multiply_float<V>,
                                  normalise_float<V>, nullptr,       nullptr, attend_float<V>};
  return &kTable;
}

}  // namespace
}  // namespace footnote::nn
