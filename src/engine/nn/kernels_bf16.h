// bf16 tile arithmetic over a vector type `V` and tiles `T`: see kernels_common.h for how it is included.
// V also has: store_bf16 (32 values of two vectors, rounded), transpose_int, interleave_words.
// T has eight tiles of 16 rows of 64 bytes: begin, end, zero<t>, load<t>, store<t> (rows `stride` bytes apart) and
// multiply<sum, left, right>: sum[m][n] += left[m][2k] * right[k][2n] + left[m][2k + 1] * right[k][2n + 1].
//
// A tile holds 32 values of 16 rows. Rows are therefore stored in blocks of 32 columns (see Rows), and any 16 consecutive rows of a block
// form a tile.
#include "engine/nn/kernels_common.h"

namespace footnote::nn {
namespace {

constexpr std::size_t kTileRowBytes = 64;
constexpr std::size_t kTileBytes = 1024;

// 2 x 2 tiles of results: 32 rows by 32 columns of `left * right`, in steps of 32 along the depth.
template <class T>
FOOTNOTE_INLINE void tile_product(const std::byte* left, std::size_t left_step, const std::byte* right, std::size_t steps, bool two_rows,
                                  float* out, std::size_t out_stride_bytes) {
  T::template zero<0>();
  T::template zero<1>();
  if (two_rows) {
    T::template zero<2>();
    T::template zero<3>();
    for (std::size_t k = 0; k < steps; ++k) {
      T::template load<4>(left + k * left_step, kTileRowBytes);
      T::template load<5>(left + k * left_step + kTileBytes, kTileRowBytes);
      T::template load<6>(right + k * 2 * kTileBytes, kTileRowBytes);
      T::template load<7>(right + k * 2 * kTileBytes + kTileBytes, kTileRowBytes);
      T::template multiply<0, 4, 6>();
      T::template multiply<1, 4, 7>();
      T::template multiply<2, 5, 6>();
      T::template multiply<3, 5, 7>();
    }
    T::template store<2>(out + 16 * out_stride_bytes / sizeof(float), out_stride_bytes);
    T::template store<3>(out + 16 * out_stride_bytes / sizeof(float) + 16, out_stride_bytes);
  } else {
    for (std::size_t k = 0; k < steps; ++k) {
      T::template load<4>(left + k * left_step, kTileRowBytes);
      T::template load<6>(right + k * 2 * kTileBytes, kTileRowBytes);
      T::template load<7>(right + k * 2 * kTileBytes + kTileBytes, kTileRowBytes);
      T::template multiply<0, 4, 6>();
      T::template multiply<1, 4, 7>();
    }
  }
  T::template store<0>(out, out_stride_bytes);
  T::template store<1>(out + 16, out_stride_bytes);
}

template <class V, class T, Epilogue kEpilogue>
void multiply_bf16_as(const Multiplication& m) {
  using Float = typename V::Float;
  alignas(64) float results[32 * 32];
  const std::size_t steps = m.matrix.depth / 32;
  T::begin();
  for (std::size_t column = m.first_column; column < m.end_column; column += 32) {
    const std::byte* panel = m.matrix.panels + column * m.matrix.depth * sizeof(std::uint16_t);
    const Float bias_low = V::load(m.matrix.bias + column), bias_high = V::load(m.matrix.bias + column + 16);
    for (std::size_t first = 0; first < m.rows; first += 32) {
      const std::size_t rows = m.rows - first < 32 ? m.rows - first : 32;
      tile_product<T>(m.left.values + first * kTileRowBytes, m.left.block_bytes, panel, steps, rows > 16, results, 32 * sizeof(float));
      for (std::size_t row = 0; row < rows; ++row) {
        Float low = V::load(results + row * 32) + bias_low;
        Float high = V::load(results + row * 32 + 16) + bias_high;
        if constexpr (kEpilogue == Epilogue::kGelu || kEpilogue == Epilogue::kGeluRows) {
          low = quick_gelu<V>(low);
          high = quick_gelu<V>(high);
        }
        if constexpr (kEpilogue == Epilogue::kRows || kEpilogue == Epilogue::kGeluRows) {
          V::store_bf16(m.out_rows.values + column / 32 * m.out_rows.block_bytes + (first + row) * kTileRowBytes, low, high);
        } else {
          float* out = m.out + (first + row) * m.out_stride + column;
          const bool add = kEpilogue == Epilogue::kAdd;
          V::store(out, add ? V::load(out) + low : low);
          V::store(out + 16, add ? V::load(out + 16) + high : high);
        }
      }
    }
  }
  T::end();
}

template <class V, class T>
void multiply_bf16(const Multiplication& m) {
  switch (m.epilogue) {
    case Epilogue::kStore: return multiply_bf16_as<V, T, Epilogue::kStore>(m);
    case Epilogue::kAdd: return multiply_bf16_as<V, T, Epilogue::kAdd>(m);
    case Epilogue::kGelu: return multiply_bf16_as<V, T, Epilogue::kGelu>(m);
    case Epilogue::kRows: return multiply_bf16_as<V, T, Epilogue::kRows>(m);
    case Epilogue::kGeluRows: return multiply_bf16_as<V, T, Epilogue::kGeluRows>(m);
  }
}

template <class V>
void normalise_bf16(const Normalisation& n) {
  using Float = typename V::Float;
  for (std::size_t i = 0; i < n.count; ++i) {
    float* row = n.hidden + i * n.width;
    Float mean, factor;
    measure_row<V>(row, n.width, n.norm.epsilon, mean, factor);
    for (std::size_t k = 0; k < n.width; k += 32) {
      const Float low = V::multiply_add((V::load(row + k) - mean) * factor, V::load(n.norm.gain + k), V::load(n.norm.shift + k));
      const Float high =
          V::multiply_add((V::load(row + k + 16) - mean) * factor, V::load(n.norm.gain + k + 16), V::load(n.norm.shift + k + 16));
      V::store(row + k, low);
      V::store(row + k + 16, high);
      V::store_bf16(n.rows.values + k / 32 * n.rows.block_bytes + i * kTileRowBytes, low, high);
    }
  }
}

// Turns the scores of one row into unnormalised bf16 softmax weights; returns the inverse of their sum.
template <class V>
FOOTNOTE_INLINE float softmax_bf16(const float* scores, std::byte* shares, std::size_t length, std::size_t padded) {
  using Float = typename V::Float;
  Float top = V::broadcast(-1e30F);
  for (std::size_t k = 0; k < padded; k += 16) {
    top = V::maximum(top, V::keep_first(length > k ? length - k : 0, V::load(scores + k), -1e30F));
  }
  const Float offset = V::broadcast(V::largest(top));
  Float sum = V::broadcast(0.0F);
  for (std::size_t k = 0; k < padded; k += 32) {
    const Float low = exp2_of_negative<V>(V::load(scores + k) - offset, kExp2FewTerms);
    const Float high = exp2_of_negative<V>(V::load(scores + k + 16) - offset, kExp2FewTerms);
    const Float kept_low = V::keep_first(length > k ? length - k : 0, low, 0.0F);
    const Float kept_high = V::keep_first(length > k + 16 ? length - k - 16 : 0, high, 0.0F);
    V::store_bf16(shares + k * sizeof(std::uint16_t), kept_low, kept_high);
    sum = sum + (kept_low + kept_high);
  }
  return 1.0F / V::sum(sum);
}

template <class V, class T>
void attend_bf16(const Attention& a) {
  const Rows& p = a.projected;
  const std::size_t padded = (a.length + 31) / 32 * 32;
  const std::size_t blocks = a.head_size / 32;
  const std::byte* queries = p.values + a.head * blocks * p.block_bytes;
  const std::byte* keys = queries + a.heads * blocks * p.block_bytes;
  const std::byte* values = keys + a.heads * blocks * p.block_bytes;
  std::byte* packed_keys = a.scratch;                                                                      // [padded / 32][blocks][2 tiles]
  std::byte* packed_values = packed_keys + padded * a.head_size * sizeof(std::uint16_t);                   // [blocks][padded / 32][2 tiles]
  float* scores = reinterpret_cast<float*>(packed_values + padded * a.head_size * sizeof(std::uint16_t));  // [32][padded]
  std::byte* shares = reinterpret_cast<std::byte*>(scores + 32 * padded);                                  // [padded / 32][32][32]
  // Keys and values past the end of the sequence are arbitrary, because their weights are 0. Values are moved in pairs.
  for (std::size_t key = 0; key < padded; key += 16) {
    for (std::size_t block = 0; block < blocks; ++block) {
      V::transpose_int(keys + block * p.block_bytes + key * kTileRowBytes, kTileRowBytes,
                       packed_keys + (key / 32 * blocks + block) * 2 * kTileBytes + key % 32 / 16 * kTileBytes, kTileRowBytes);
    }
  }
  for (std::size_t key = 0; key < padded; key += 2) {
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::byte* even = values + block * p.block_bytes + key * kTileRowBytes;
      std::byte* out = packed_values + (block * padded / 32 + key / 32) * 2 * kTileBytes + key % 32 / 2 * kTileRowBytes;
      V::interleave_words(even, even + kTileRowBytes, out, out + kTileBytes);
    }
  }
  alignas(64) float mixed[32 * 32];
  T::begin();
  for (std::size_t first = 0; first < a.length; first += 32) {
    const std::size_t rows = a.length - first < 32 ? a.length - first : 32;
    for (std::size_t key = 0; key < padded; key += 32) {
      tile_product<T>(queries + first * kTileRowBytes, p.block_bytes, packed_keys + key / 32 * blocks * 2 * kTileBytes, blocks, rows > 16,
                      scores + key, padded * sizeof(float));
    }
    float inverse[32];
    std::byte* row_shares = shares + 32 * padded * sizeof(std::uint16_t);  // One row of shares, before it is copied to its blocks.
    for (std::size_t row = 0; row < rows; ++row) {
      inverse[row] = softmax_bf16<V>(scores + row * padded, row_shares, a.length, padded);
      for (std::size_t key = 0; key < padded; key += 32) {
        __builtin_memcpy(shares + key / 32 * 2 * kTileBytes + row * kTileRowBytes, row_shares + key * sizeof(std::uint16_t), kTileRowBytes);
      }
    }
    for (std::size_t block = 0; block < blocks; ++block) {
      tile_product<T>(shares, 2 * kTileBytes, packed_values + block * padded / 32 * 2 * kTileBytes, padded / 32, rows > 16, mixed,
                      32 * sizeof(float));
      std::byte* out = a.out_rows.values + (a.head * blocks + block) * a.out_rows.block_bytes + first * kTileRowBytes;
      for (std::size_t row = 0; row < rows; ++row) {
        const auto factor = V::broadcast(inverse[row]);
        V::store_bf16(out + row * kTileRowBytes, V::load(mixed + row * 32) * factor, V::load(mixed + row * 32 + 16) * factor);
      }
    }
  }
  T::end();
}

template <class V, class T>
const Kernels* bf16_kernels() {
  static constexpr Kernels kTable{Format::kBf16, 32, 64, multiply_bf16<V, T>, normalise_bf16<V>, nullptr, nullptr, attend_bf16<V, T>};
  return &kTable;
}

}  // namespace
}  // namespace footnote::nn
