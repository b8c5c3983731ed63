// The arithmetic of the 8-bit levels over a vector type `V`: see kernels_common.h for how it is included.
// V has besides: kTileRows, kBytesMax (the largest left-hand byte whose products can be summed without loss), load_int,
// broadcast_int (four bytes everywhere), zero_int, dot_bytes (adds four products of a left unsigned and a right signed
// byte), dot_words (adds two products of signed words), to_float, store_bytes, store_words (both rounding, with
// saturation), magnitude, transpose_int, interleave_words.
//
// A row of numbers x is held as bytes q with x = scale * q + offset, and a column of weights as w = column_scale * p, so
//   sum(x * w) = scale * column_scale * sum(q * p) + offset * column_scale * sum(p):
// the sum of products is exact, and so does not depend on how it is cut.
#include "engine/nn/kernels_common.h"

namespace footnote::nn {
namespace {

// Words of queries, keys and values: 4095 * 4095 * 128 still fits 32 bits.
constexpr float kWordMax = 4095.0F;
// What the shares of a row may sum to as words, so that shares times values fit 32 bits.
constexpr float kShareWordSum = 500000.0F;

template <class V, std::size_t kRows>
FOOTNOTE_INLINE void byte_tile(const std::byte* left, std::size_t stride, const std::byte* panel, std::size_t depth,
                               typename V::Int (&low)[kRows], typename V::Int (&high)[kRows]) {
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  constexpr std::size_t kVector = sizeof(typename V::Int);
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA { low[row] = high[row] = V::zero_int(); });
  for (std::size_t k = 0; k < depth; k += 4) {
    const auto right_low = V::load_int(panel);
    const auto right_high = V::load_int(panel + kVector);
    V::prefetch(panel + 32 * kVector);
    V::prefetch(panel + 33 * kVector);
    panel += 2 * kVector;
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      const auto value = V::broadcast_int(left + row * stride + k);
      V::dot_bytes(low[row], value, right_low);
      V::dot_bytes(high[row], value, right_high);
    });
  }
}

template <class V, std::size_t kRows, Epilogue kEpilogue, bool kExact>
void multiply_byte_tile(const Multiplication& m, std::size_t first_row, std::size_t column) {
  using Float = typename V::Float;
  typename V::Int low[kRows];
  typename V::Int high[kRows];
  byte_tile<V, kRows>(m.left.values + first_row * m.left.row_bytes, m.left.row_bytes, m.matrix.panels + column * m.matrix.depth,
                      m.matrix.depth, low, high);
  const Float scale_low = V::load(m.matrix.scale + column), scale_high = V::load(m.matrix.scale + column + V::kLanes);
  const Float sum_low = V::load(m.matrix.sum + column), sum_high = V::load(m.matrix.sum + column + V::kLanes);
  const Float bias_low = V::load(m.matrix.bias + column), bias_high = V::load(m.matrix.bias + column + V::kLanes);
  float* out = m.out + first_row * m.out_stride + column;
  const float* exact_weight = m.matrix.exact + column;
  const float* exact = m.left.exact + first_row * kExactChannels;
  unroll(std::make_index_sequence<kRows>{}, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    const Float scale = V::broadcast(m.left.scale[first_row + row]);
    const Float offset = V::broadcast(m.left.offset[first_row + row]);
    Float first = V::multiply_add(V::to_float(low[row]) * scale, scale_low, V::multiply_add(offset, sum_low, bias_low));
    Float second = V::multiply_add(V::to_float(high[row]) * scale, scale_high, V::multiply_add(offset, sum_high, bias_high));
    if constexpr (kExact) {
      for (std::size_t i = 0; i < kExactChannels; ++i) {
        const Float value = V::broadcast(exact[row * kExactChannels + i]);
        first = V::multiply_add(value, V::load(exact_weight + i * m.matrix.columns), first);
        second = V::multiply_add(value, V::load(exact_weight + i * m.matrix.columns + V::kLanes), second);
      }
    }
    float* results = out + row * m.out_stride;
    if constexpr (kEpilogue == Epilogue::kGelu) {
      first = quick_gelu<V>(first);
      second = quick_gelu<V>(second);
    }
    if constexpr (kEpilogue == Epilogue::kAdd) {
      first = V::load(results) + first;
      second = V::load(results + V::kLanes) + second;
    }
    V::store(results, first);
    V::store(results + V::kLanes, second);
  });
}

template <class V, Epilogue kEpilogue, bool kExact>
void multiply_int8_as(const Multiplication& m) {
  for (std::size_t column = m.first_column; column < m.end_column; column += 2 * V::kLanes) {
    for_row_blocks<V::kTileRows>(m.rows,
                                 [&](std::size_t first, auto rows) { multiply_byte_tile<V, rows, kEpilogue, kExact>(m, first, column); });
  }
}

template <class V>
void multiply_int8(const Multiplication& m) {
  switch (m.epilogue) {
    case Epilogue::kStore: return multiply_int8_as<V, Epilogue::kStore, true>(m);
    case Epilogue::kAdd:
      return m.matrix.exact == nullptr ? multiply_int8_as<V, Epilogue::kAdd, false>(m) : multiply_int8_as<V, Epilogue::kAdd, true>(m);
    case Epilogue::kGelu: return multiply_int8_as<V, Epilogue::kGelu, true>(m);
    case Epilogue::kRows:
    case Epilogue::kGeluRows: __builtin_unreachable();
  }
}

// What makes bytes of a row's numbers: x * factor + shift.
template <class V>
struct ByteScale {
  typename V::Float factor;
  typename V::Float shift;
};

// For numbers between `least` and `most`; what undoes it goes to the row.
template <class V>
FOOTNOTE_INLINE ByteScale<V> set_byte_scale(float least, float most, const Rows& rows, std::size_t row) {
  const float span = most - least > 1e-8F ? most - least : 1e-8F;
  const float inverse = V::kBytesMax / span;
  rows.scale[row] = span / V::kBytesMax;
  rows.offset[row] = least;
  return {V::broadcast(inverse), V::broadcast(-least * inverse)};
}

template <class V>
void normalise_int8(const Normalisation& n) {
  using Float = typename V::Float;
  for (std::size_t i = 0; i < n.count; ++i) {
    float* row = n.hidden + i * n.width;
    Float mean, factor;
    measure_row<V>(row, n.width, n.norm.epsilon, mean, factor);
    Float least = V::broadcast(1e30F), most = V::broadcast(-1e30F);
    for (std::size_t k = 0; k < n.width; k += V::kLanes) {
      const Float normal = (V::load(row + k) - mean) * factor;
      const Float next = V::multiply_add(normal, V::load(n.norm.rows_gain + k), V::load(n.norm.rows_shift + k));
      V::store(row + k, normal);
      least = V::minimum(least, next);
      most = V::maximum(most, next);
    }
    for (std::size_t j = 0; j < kExactChannels; ++j) n.rows.exact[i * kExactChannels + j] = row[n.norm.exact_channels[j]];
    const ByteScale<V> scale = set_byte_scale<V>(V::smallest(least), V::largest(most), n.rows, i);
    std::byte* bytes = n.rows.values + i * n.rows.row_bytes;
    for (std::size_t k = 0; k < n.width; k += V::kLanes) {
      const Float normal = V::load(row + k);
      const Float next = V::multiply_add(normal, V::load(n.norm.rows_gain + k), V::load(n.norm.rows_shift + k));
      V::store_bytes(bytes + k, V::multiply_add(next, scale.factor, scale.shift));
      V::store(row + k, V::multiply_add(normal, V::load(n.norm.gain + k), V::load(n.norm.shift + k)));
    }
  }
}

template <class V>
void prepare_int8(const Preparation& p) {
  using Float = typename V::Float;
  for (std::size_t i = 0; i < p.count; ++i) {
    float* in = p.in + i * p.in_stride;
    if (p.exact_channels != nullptr) {
      for (std::size_t j = 0; j < kExactChannels; ++j) {
        p.rows.exact[i * kExactChannels + j] = in[p.exact_channels[j]];
        in[p.exact_channels[j]] = 0;
      }
    }
    // Two of each, so that one comparison need not wait for the last.
    Float most = V::load(in), more = V::load(in + V::kLanes);
    Float least = most, less = more;
    for (std::size_t k = 2 * V::kLanes; k < p.width; k += 2 * V::kLanes) {
      const Float first = V::load(in + k), second = V::load(in + k + V::kLanes);
      most = V::maximum(most, first);
      more = V::maximum(more, second);
      if (p.after_gelu) continue;
      least = V::minimum(least, first);
      less = V::minimum(less, second);
    }
    const float low = p.after_gelu ? kGeluMinimum : V::smallest(V::minimum(least, less));
    const ByteScale<V> scale = set_byte_scale<V>(low, V::largest(V::maximum(most, more)), p.rows, i);
    std::byte* bytes = p.rows.values + i * p.rows.row_bytes;
    for (std::size_t k = 0; k < p.width; k += V::kLanes)
      V::store_bytes(bytes + k, V::multiply_add(V::load(in + k), scale.factor, scale.shift));
  }
}

template <class V>
void split_heads_int8(const HeadSplit& s) {
  using Float = typename V::Float;
  const std::size_t hidden = s.heads * s.head_size;
  for (std::size_t i = 0; i < s.count; ++i) {
    for (std::size_t part = 0; part < 3; ++part) {
      const float* in = s.in + i * s.in_stride + part * hidden;
      Float most = V::magnitude(V::load(in)), more = V::magnitude(V::load(in + V::kLanes));
      for (std::size_t k = 2 * V::kLanes; k < hidden; k += 2 * V::kLanes) {
        most = V::maximum(most, V::magnitude(V::load(in + k)));
        more = V::maximum(more, V::magnitude(V::load(in + k + V::kLanes)));
      }
      const float largest = V::largest(V::maximum(most, more));
      const float scale = (largest > 1e-8F ? largest : 1e-8F) / kWordMax;
      s.projected.scale[part * s.capacity + i] = scale;
      const Float factor = V::broadcast(1.0F / scale);
      for (std::size_t head = 0; head < s.heads; ++head) {
        std::byte* out = s.projected.values + (part * s.heads + head) * s.projected.block_bytes + i * s.projected.row_bytes;
        for (std::size_t k = 0; k < s.head_size; k += V::kLanes) {
          V::store_words(out + k * sizeof(std::int16_t), V::load(in + head * s.head_size + k) * factor);
        }
      }
    }
  }
}

// kRows rows of words by a panel, two products at a time: panel is [pairs][2 * kLanes][2].
template <class V, std::size_t kRows>
FOOTNOTE_INLINE void word_tile(const std::byte* left, std::size_t stride, const std::byte* panel, std::size_t pairs,
                               typename V::Int (&low)[kRows], typename V::Int (&high)[kRows]) {
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  constexpr std::size_t kVector = sizeof(typename V::Int);
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA { low[row] = high[row] = V::zero_int(); });
  for (std::size_t k = 0; k < pairs; ++k) {
    const auto right_low = V::load_int(panel);
    const auto right_high = V::load_int(panel + kVector);
    panel += 2 * kVector;
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      const auto value = V::broadcast_int(left + row * stride + 4 * k);
      V::dot_words(low[row], value, right_low);
      V::dot_words(high[row], value, right_high);
    });
  }
}

// The memory of one attend_int8 call, cut out of its scratch.
struct WordScratch {
  float* key_scale;    // [padded], 0 past the sequence
  float* value_share;  // [padded]: each value's scale over the largest, 0 past the sequence
  float* scores;       // [rows of a tile][padded]
  std::byte* shares;   // [rows of a tile][padded] words
  std::byte* keys;     // [padded / panel][head size / 2][panel][2] words
  std::byte* values;   // [head size / panel][pairs][panel][2] words
};

// Scores of one row, already times the keys' scales, become words: shares times value_share. Returns what undoes both.
template <class V>
FOOTNOTE_INLINE float softmax_words(float* scores, std::byte* words, std::size_t length, std::size_t padded, float query_scale,
                                    const float* value_share, float value_scale) {
  using Float = typename V::Float;
  const std::size_t full = length / V::kLanes * V::kLanes;
  Float top = V::broadcast(-1e30F);
  for (std::size_t k = 0; k < full; k += V::kLanes) top = V::maximum(top, V::load(scores + k));
  for (std::size_t k = full; k < padded; k += V::kLanes) {
    const Float kept = V::keep_first(length > k ? length - k : 0, V::load(scores + k), -1e30F);
    V::store(scores + k, kept);
    top = V::maximum(top, kept);
  }
  const Float factor = V::broadcast(query_scale);
  const Float shift = V::broadcast(-V::largest(top)) * factor;
  Float sum = V::broadcast(0.0F);
  for (std::size_t k = 0; k < padded; k += V::kLanes) {
    const Float share = exp2_of_negative<V>(V::multiply_add(V::load(scores + k), factor, shift), kExp2FewTerms);
    V::store(scores + k, share);
    sum = sum + share;
  }
  const float total = V::sum(sum);
  const float amplification = kShareWordSum / total < 32767.0F ? kShareWordSum / total : 32767.0F;
  const Float amplify = V::broadcast(amplification);
  for (std::size_t k = 0; k < padded; k += V::kLanes) {
    V::store_words(words + k * sizeof(std::int16_t), V::load(scores + k) * amplify * V::load(value_share + k));
  }
  return value_scale / (amplification * total);
}

template <class V>
void attend_int8(const Attention& a) {
  constexpr std::size_t kPanel = 2 * V::kLanes;
  constexpr std::size_t kWord = sizeof(std::int16_t);
  const std::size_t padded = (a.length + kPanel - 1) / kPanel * kPanel;
  const std::size_t pairs = (a.length + 1) / 2;
  const Rows& p = a.projected;
  const std::byte* queries = p.values + a.head * p.block_bytes;
  const std::byte* keys = queries + a.heads * p.block_bytes;
  const std::byte* values = keys + a.heads * p.block_bytes;
  const float* query_scale = p.scale;
  WordScratch s;
  s.key_scale = reinterpret_cast<float*>(a.scratch);
  s.value_share = s.key_scale + padded;
  s.scores = s.value_share + padded;
  s.shares = reinterpret_cast<std::byte*>(s.scores + V::kTileRows * padded);
  s.keys = s.shares + V::kTileRows * padded * kWord;
  s.values = s.keys + padded * a.head_size * kWord;

  const float* value_scale = p.scale + 2 * a.capacity;
  float largest = 0;
  for (std::size_t token = 0; token < a.length; ++token) largest = value_scale[token] > largest ? value_scale[token] : largest;
  const auto inverse = V::broadcast(1.0F / largest);
  for (std::size_t token = 0; token < padded; token += V::kLanes) {
    const std::size_t left = a.length > token ? a.length - token : 0;
    V::store(s.key_scale + token, V::keep_first(left, V::load(p.scale + a.capacity + token), 0.0F));
    V::store(s.value_share + token, V::keep_first(left, V::load(value_scale + token) * inverse, 0.0F));
  }
  // Keys and values past the sequence are whatever comes next: their scales are 0. Pairs of words move as one number.
  for (std::size_t token = 0; token < padded; token += V::kLanes) {
    std::byte* panel = s.keys + (token / kPanel * kPanel * a.head_size + token % kPanel * 2) * kWord;
    for (std::size_t k = 0; k < a.head_size; k += 2 * V::kLanes) {
      V::transpose_int(keys + token * p.row_bytes + k * kWord, p.row_bytes, panel + k * kPanel * kWord, kPanel * 2 * kWord);
    }
  }
  for (std::size_t token = 0; token < a.length; token += 2) {
    for (std::size_t k = 0; k < a.head_size; k += kPanel) {
      const std::byte* even = values + token * p.row_bytes + k * kWord;
      std::byte* out = s.values + (k * pairs + token / 2 * kPanel) * 2 * kWord;
      V::interleave_words(even, even + p.row_bytes, out, out + kPanel * kWord);
    }
  }
  for_row_blocks<V::kTileRows>(a.length, [&](std::size_t first, auto rows) {
    constexpr auto kEach = std::make_index_sequence<rows>{};
    typename V::Int low[rows];
    typename V::Int high[rows];
    for (std::size_t token = 0; token < padded; token += kPanel) {
      word_tile<V, rows>(queries + first * p.row_bytes, p.row_bytes, s.keys + token * a.head_size * kWord, a.head_size / 2, low, high);
      const auto scale_low = V::load(s.key_scale + token), scale_high = V::load(s.key_scale + token + V::kLanes);
      unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
        V::store(s.scores + row * padded + token, V::to_float(low[row]) * scale_low);
        V::store(s.scores + row * padded + token + V::kLanes, V::to_float(high[row]) * scale_high);
      });
    }
    float factor[rows];
    for (std::size_t row = 0; row < rows; ++row) {
      factor[row] = softmax_words<V>(s.scores + row * padded, s.shares + row * padded * kWord, a.length, padded, query_scale[first + row],
                                     s.value_share, largest);
    }
    for (std::size_t k = 0; k < a.head_size; k += kPanel) {
      word_tile<V, rows>(s.shares, padded * kWord, s.values + k * pairs * 2 * kWord, pairs, low, high);
      unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
        float* out = a.out + (first + row) * a.out_stride + a.head * a.head_size + k;
        const auto undo = V::broadcast(factor[row]);
        V::store(out, V::to_float(low[row]) * undo);
        V::store(out + V::kLanes, V::to_float(high[row]) * undo);
      });
    }
  });
}

template <class V>
const Kernels* int8_kernels() {
  static constexpr Kernels kTable{Format::kInt8,       2 * V::kLanes, 24, multiply_int8<V>, normalise_int8<V>, prepare_int8<V>,
                                  split_heads_int8<V>, attend_int8<V>};
  return &kTable;
}

}  // namespace
}  // namespace footnote::nn
