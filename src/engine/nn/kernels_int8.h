// 8-bit arithmetic over a vector type `V`: see kernels_common.h for how it is included.
// V also has:
//   kTileRows; kBytesMax, the largest left-hand byte whose products can be summed exactly;
//   load_int, store_int, broadcast_int (four bytes everywhere), everywhere, zero_int, add, subtract, maximum, keep_first, sum and largest
//   of Int; dot_bytes_of, dot_words_of: four or two left-hand numbers times those of two right-hand vectors, added to two sums; dot_centre:
//   the same for the byte that stands for a query's 0; to_float, to_int (rounding), store_bytes (rounding) and store_words, both
//   saturating, store_low_words, store_bytes_of_words (the low ones); add_words, larger_words (of magnitudes), largest_word; bits_of,
//   exponent_alone, with_exponent_of_one: parts of a float's bits; both_words (a word into both halves), scale_words (by a ratio of 2^15),
//   magnitude, first, transpose_bytes, interleave_words; kLooksUp, and if so pick (one of 16 numbers, by the lowest bits of a float).
//
// A row of values x is stored as bytes q with x = scale * q + offset, and a column of weights as w = column_scale * p, so
//   sum(x * w) = scale * column_scale * sum(q * p) + offset * column_scale * sum(p).
// The integer sum is exact, so it does not depend on how it is split.
#include "engine/nn/kernels_common.h"

namespace footnote::nn {
namespace {

// Range of the 16-bit queries, keys and values: +-kWordMax.
constexpr float kWordMax = 4095.0F;
// For their product, queries and keys become bytes: keys in +-kKeyMax, queries in +-kQueryMax around a centre.
constexpr float kKeyMax = 127.0F;
template <class V>
constexpr float kQueryMax = (V::kBytesMax - 1) / 2;
// The largest softmax weight of a row is 2^share_bits, so that weights times values fit 32 bits: 2^19 * 4095 does.
constexpr int share_bits(std::size_t length) {
  int bits = 14;
  while (bits > 0 && length << bits > std::size_t{1} << 19) --bits;
  return bits;
}

// gelu(x) - x / 2 is even in x. Approximated by 16 quadratic pieces around 0, 1/4, 1/2 and so on; |x| / 2 from 3.625 on. The
// error is below 3e-4.
constexpr float kGeluStart[16] = {-1.02542288e-06F, -0.00063654728F, -0.0105225183F, -0.0465586148F,  -0.119179323F, -0.220564052F,
                                  -0.325264722F,    -0.402379721F,   -0.430750847F,  -0.406295687F,   -0.342764199F, -0.260972857F,
                                  -0.180591136F,    -0.114187062F,   -0.0662457272F, -0.000260000001F};
constexpr float kGeluSlope[16] = {0.000121444435F, 0.00789998006F, 0.0588137917F, 0.173189521F, 0.339145571F, 0.520023942F,
                                  0.673264027F,    0.769093394F,   0.800018787F,  0.777365685F, 0.72398901F,  0.661637783F,
                                  0.605618954F,    0.563013017F,   0.534518421F,  0.5F};
constexpr float kGeluSquare[16] = {
    0.397065461F,   0.373465866F,   0.307395667F,   0.216348901F,   0.121377274F,   0.0406206734F,   -0.0154863773F, -0.0452698693F,
    -0.0536968932F, -0.0484508798F, -0.0372372083F, -0.0253520906F, -0.0155905783F, -0.00875553954F, -0.0045210449F, 0.0F};

template <class V>
FOOTNOTE_INLINE typename V::Float gelu_for_bytes(typename V::Float x) {
  if constexpr (V::kLooksUp) {
    using Float = typename V::Float;
    const Float size = V::magnitude(x);
    const Float piece = V::minimum(size, V::broadcast(3.7F)) + V::broadcast(3145728.0F);  // 1.5 * 2^21: rounds to quarters.
    const Float slope = V::multiply_add(V::pick(kGeluSquare, piece), size, V::pick(kGeluSlope, piece));
    return V::multiply_add(V::broadcast(0.5F), x, V::multiply_add(slope, size, V::pick(kGeluStart, piece)));
  } else {
    return quick_gelu<V>(x);
  }
}

enum class Operands { kBytes, kWords };

// Sums of products of kRows rows and a panel [steps][2 * kLanes][4 bytes]; each step reads four bytes of a row.
template <class V, Operands kOperands, std::size_t kRows>
FOOTNOTE_INLINE void sum_tile(const std::byte* left, std::size_t stride, const std::byte* panel, std::size_t steps,
                              typename V::Int start_low, typename V::Int start_high, typename V::Int (&low)[kRows],
                              typename V::Int (&high)[kRows]) {
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  constexpr auto kThirds = std::make_index_sequence<(kRows + 2) / 3>{};
  constexpr std::size_t kVector = sizeof(typename V::Int);
  // Prefetch distance, about 400 cycles ahead: fewer rows take less time per step, so look more steps ahead.
  constexpr std::size_t kAhead = 2 * kVector * (kRows < 4 ? 48 : 192 / kRows);
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    low[row] = start_low;
    high[row] = start_high;
  });
  // Keep a pointer to every third row only: one per row would not fit in the registers.
  const std::byte* rows[(kRows + 2) / 3];
  unroll(kThirds, [&](auto i) FOOTNOTE_INLINE_LAMBDA { rows[i] = left + 3 * i * stride; });
  for (std::size_t step = 0; step < steps; ++step) {
    const auto right_low = V::load_int(panel);
    const auto right_high = V::load_int(panel + kVector);
    V::prefetch(panel + kAhead);
    V::prefetch(panel + kAhead + kVector);
    panel += 2 * kVector;
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      const std::byte* at = rows[row / 3] + row % 3 * stride;
      if constexpr (kOperands == Operands::kBytes) {
        V::dot_bytes_of(at, low[row], high[row], right_low, right_high);
      } else {
        V::dot_words_of(at, low[row], high[row], right_low, right_high);
      }
    });
    unroll(kThirds, [&](auto i) FOOTNOTE_INLINE_LAMBDA { rows[i] += 4; });
  }
}

template <class V, std::size_t kRows, Epilogue kEpilogue, bool kExact>
void multiply_byte_tile(const Multiplication& m, std::size_t first_row, std::size_t column) {
  using Float = typename V::Float;
  typename V::Int low[kRows];
  typename V::Int high[kRows];
  sum_tile<V, Operands::kBytes>(m.left.values + first_row * m.left.row_bytes, m.left.row_bytes, m.matrix.panels + column * m.matrix.depth,
                                m.matrix.depth / 4, V::zero_int(), V::zero_int(), low, high);
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
      first = gelu_for_bytes<V>(first);
      second = gelu_for_bytes<V>(second);
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

// Quantisation of a row: byte = value * factor + shift.
template <class V>
struct ByteScale {
  typename V::Float factor;
  typename V::Float shift;
};

// For values between `least` and `most`; stores the inverse with the row.
template <class V>
FOOTNOTE_INLINE ByteScale<V> set_byte_scale(float least, float most, const Rows& rows, std::size_t row) {
  const float span = most - least > 1e-8F ? most - least : 1e-8F;
  const float inverse = V::kBytesMax / span;
  rows.scale[row] = span / V::kBytesMax;
  rows.offset[row] = least;
  return {V::broadcast(inverse), V::broadcast(-least * inverse)};
}

// kRows rows interleaved, so that one need not wait for another's sums; results are as if each were computed alone.
template <class V, std::size_t kRows>
void normalise_bytes(const Normalisation& n, std::size_t first) {
  using Float = typename V::Float;
  constexpr auto kEach = std::make_index_sequence<kRows>{};
  float* hidden = n.hidden + first * n.width;
  Float factor[kRows], offset[kRows];
  measure_rows<V>(hidden, n.width, n.norm.epsilon, offset, factor);
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    offset[row] = V::broadcast(0.0F) - offset[row] * factor[row];
    for (std::size_t j = 0; j < kExactChannels; ++j) {
      const Float value = V::broadcast(hidden[row * n.width + n.norm.exact_channels[j]]);
      n.rows.exact[(first + row) * kExactChannels + j] = V::first(V::multiply_add(value, factor[row], offset[row]));
    }
  });
  Float least[kRows], most[kRows];
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    least[row] = V::broadcast(1e30F);
    most[row] = V::broadcast(-1e30F);
  });
  for (std::size_t k = 0; k < n.width; k += V::kLanes) {
    const Float gain = V::load(n.norm.rows_gain + k), shift = V::load(n.norm.rows_shift + k);
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      const Float next = V::multiply_add(V::multiply_add(V::load(hidden + row * n.width + k), factor[row], offset[row]), gain, shift);
      least[row] = V::minimum(least[row], next);
      most[row] = V::maximum(most[row], next);
    });
  }
  ByteScale<V> scale[kRows];
  unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
    scale[row] = set_byte_scale<V>(V::smallest(least[row]), V::largest(most[row]), n.rows, first + row);
  });
  std::byte* bytes = n.rows.values + first * n.rows.row_bytes;
  for (std::size_t k = 0; k < n.width; k += V::kLanes) {
    const Float rows_gain = V::load(n.norm.rows_gain + k), rows_shift = V::load(n.norm.rows_shift + k);
    const Float gain = V::load(n.norm.gain + k), shift = V::load(n.norm.shift + k);
    unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
      float* at = hidden + row * n.width + k;
      const Float normal = V::multiply_add(V::load(at), factor[row], offset[row]);
      const Float next = V::multiply_add(normal, rows_gain, rows_shift);
      V::store_bytes(bytes + row * n.rows.row_bytes + k, V::multiply_add(next, scale[row].factor, scale[row].shift));
      V::store(at, V::multiply_add(normal, gain, shift));
    });
  }
}

template <class V>
void normalise_int8(const Normalisation& n) {
  for_row_blocks<4>(n.count, [&](std::size_t first, auto rows) { normalise_bytes<V, rows>(n, first); });
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
    // Two of each, so that a comparison need not wait for the previous one.
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
  constexpr auto kParts = std::make_index_sequence<3>{};
  const std::size_t hidden = s.heads * s.head_size;
  for (std::size_t i = 0; i < s.count; ++i) {
    const float* in = s.in + i * s.in_stride;
    Float most[3], more[3];
    unroll(kParts, [&](auto part) FOOTNOTE_INLINE_LAMBDA { most[part] = more[part] = V::broadcast(1e-8F); });
    for (std::size_t k = 0; k < hidden; k += 2 * V::kLanes) {
      unroll(kParts, [&](auto part) FOOTNOTE_INLINE_LAMBDA {
        most[part] = V::maximum(most[part], V::magnitude(V::load(in + part * hidden + k)));
        more[part] = V::maximum(more[part], V::magnitude(V::load(in + part * hidden + k + V::kLanes)));
      });
    }
    Float factor[3];
    unroll(kParts, [&](auto part) FOOTNOTE_INLINE_LAMBDA {
      const float scale = V::largest(V::maximum(most[part], more[part])) / kWordMax;
      s.projected.scale[part * s.capacity + i] = scale;
      factor[part] = V::broadcast(1.0F / scale);
    });
    unroll(kParts, [&](auto part) FOOTNOTE_INLINE_LAMBDA {
      const float* numbers = in + part * hidden;
      std::byte* out = s.projected.values + part * s.heads * s.projected.block_bytes + i * s.projected.row_bytes;
      for (std::size_t head = 0; head < s.heads; ++head, numbers += s.head_size, out += s.projected.block_bytes) {
        for (std::size_t k = 0; k < s.head_size; k += V::kLanes) {
          V::store_words(out + k * sizeof(std::int16_t), V::to_int(V::load(numbers + k) * factor[part]));
        }
      }
    });
  }
}

constexpr std::int32_t kScoreMin = -0x7FFFFFFF - 1;

// The memory of one attend_int8() call, carved out of its scratch.
struct WordScratch {
  std::byte* ratios;   // [padded] pairs of words, 0 past the sequence
  std::byte* starts;   // [padded]: initial value of the sum of products with a key
  std::byte* rows;     // [padded][head size] words
  std::byte* queries;  // [padded][head size] bytes; holds the keys until they are packed
  std::byte* scores;   // [rows of a tile][padded]
  std::byte* shares;   // [rows of a tile][padded] words
  std::byte* keys;     // [padded / panel][head size / 4][panel][4] bytes
  std::byte* values;   // [head size / panel][pairs][panel][2] words
};

// Words with one scale per row.
struct WordRows {
  const std::byte* words;
  const float* scales;
  std::size_t length;
  std::size_t padded;  // Rows past the sequence become 0.
  std::size_t row_bytes;
};

// Converts the words to one common scale, into s.rows; returns the scale.
template <class V>
FOOTNOTE_INLINE float share_scale(const WordRows& in, const WordScratch& s) {
  using Float = typename V::Float;
  Float tops = V::broadcast(0.0F);
  for (std::size_t token = 0; token < in.length; token += V::kLanes) {
    tops = V::maximum(tops, V::keep_first(in.length - token, V::load(in.scales + token), 0.0F));
  }
  const float largest = V::largest(tops);
  const Float factor = V::broadcast(32767.0F / largest);
  for (std::size_t token = 0; token < in.padded; token += V::kLanes) {
    const Float ratio = V::keep_first(in.length > token ? in.length - token : 0, V::load(in.scales + token) * factor, 0.0F);
    V::store_int(s.ratios + token * 4, V::both_words(V::to_int(ratio)));
  }
  for (std::size_t token = 0; token < in.padded; ++token) {
    const auto ratio = V::broadcast_int(s.ratios + token * 4);
    for (std::size_t at = token * in.row_bytes; at < (token + 1) * in.row_bytes; at += sizeof(typename V::Int)) {
      V::store_int(s.rows + at, V::scale_words(V::load_int(in.words + at), ratio));
    }
  }
  return largest;
}

// Converts to bytes of one scale, where `most` is the head's maximum, and adds `middle`; returns the scale.
template <class V>
FOOTNOTE_INLINE float share_byte_scale(const WordRows& in, const WordScratch& s, float most, std::int16_t middle, std::byte* out) {
  const float scale = share_scale<V>(in, s);
  const std::size_t bytes = in.padded * in.row_bytes;
  auto tops = V::zero_int();
  for (std::size_t at = 0; at < bytes; at += sizeof(typename V::Int)) tops = V::larger_words(tops, V::load_int(s.rows + at));
  const auto largest = static_cast<float>(V::largest_word(tops));
  const float share = largest > most ? most / largest : 1.0F;
  const auto ratio = V::both_words(V::everywhere(static_cast<std::int32_t>(32767.0F * share)));
  const auto middles = V::both_words(V::everywhere(middle));
  for (std::size_t at = 0; at < bytes; at += sizeof(typename V::Int)) {
    V::store_bytes_of_words(out + at / 2, V::add_words(V::scale_words(V::load_int(s.rows + at), ratio), middles));
  }
  return scale / share;
}

// Conversion of a row's scores to words: 2^(score * factor + shift) for scores from `bottom` on; both are premultiplied by 2^23.
struct ShareScale {
  float factor;
  float shift;
  std::int32_t bottom;
};

// For words whose maximum is 2^bits.
template <class V>
FOOTNOTE_INLINE ShareScale share_scale_of(const std::byte* scores, std::size_t length, float factor, float bits) {
  const std::size_t full = length / V::kLanes * V::kLanes;
  auto tops = V::keep_first(length - full, V::load_int(scores + full * 4), kScoreMin);
  for (std::size_t k = 0; k < full; k += V::kLanes) tops = V::maximum(tops, V::load_int(scores + k * 4));
  const std::int32_t top = V::largest(tops);
  constexpr float kOne = 1 << 23;
  const float reach = (bits + 2.0F) / factor;  // Lower scores become 0.
  return {.factor = factor * kOne,
          .shift = (127.0F + bits - static_cast<float>(top) * factor) * kOne,
          .bottom = reach < 1e9F ? top - static_cast<std::int32_t>(reach) : kScoreMin};
}

// Turns the scores of one row into words; returns their sum. A weight is 2^x with a relative error of 1e-4: x is placed in the bits of a
// float, so that its integer part becomes the exponent, and a polynomial turns the fraction into 2^fraction.
template <class V>
FOOTNOTE_INLINE std::int32_t share_words(const std::byte* scores, std::byte* words, std::size_t length, const ShareScale& scale) {
  using Float = typename V::Float;
  using Int = typename V::Int;
  const Int bottom = V::everywhere(scale.bottom);
  const Float factor = V::broadcast(scale.factor), shift = V::broadcast(scale.shift);
  const Float term0 = V::broadcast(0.4521344F), term1 = V::broadcast(0.47777277F);
  const Float term2 = V::broadcast(-0.008006501F), term3 = V::broadcast(0.078024566F);
  const Float whole = V::broadcast(12582912.0F);  // 1.5 * 2^23: adding to it rounds to an integer.
  constexpr std::int32_t kWholeBits = 0x4B400000;
  Int sum = V::zero_int();
  const auto share = [&](std::size_t k) FOOTNOTE_INLINE_LAMBDA {
    const Int power = V::to_int(V::multiply_add(V::to_float(V::maximum(V::load_int(scores + k * 4), bottom)), factor, shift));
    const Float fraction = V::with_exponent_of_one(power);
    Float value = V::multiply_add(term3, fraction, term2);
    value = V::multiply_add(value, fraction, term1);
    value = V::multiply_add(value, fraction, term0);
    return V::bits_of(V::multiply_add(value, V::exponent_alone(power), whole));
  };
  const auto keep = [&](std::size_t k, Int word) FOOTNOTE_INLINE_LAMBDA {
    sum = V::add(sum, word);
    V::store_low_words(words + k * sizeof(std::int16_t), word);
  };
  std::size_t k = 0;
  for (; k + V::kLanes <= length; k += V::kLanes) keep(k, share(k));
  if (k < length) keep(k, V::keep_first(length - k, share(k), kWholeBits));
  // Each summand carries the bits of `whole`; subtract them, in modular arithmetic.
  const auto summed = static_cast<std::uint32_t>((length + V::kLanes - 1) / V::kLanes * V::kLanes);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(V::sum(sum)) - summed * kWholeBits);
}

template <class V>
void attend_int8(const Attention& a) {
  constexpr std::size_t kPanel = 2 * V::kLanes;
  constexpr std::size_t kWord = sizeof(std::int16_t);
  const std::size_t padded = (a.length + kPanel - 1) / kPanel * kPanel;
  const std::size_t pairs = (a.length + 1) / 2;
  const Rows& p = a.projected;
  WordScratch s;
  s.ratios = a.scratch;
  s.starts = s.ratios + padded * 2 * kWord;
  s.rows = s.starts + padded * sizeof(std::int32_t);
  s.queries = s.rows + padded * a.head_size * kWord;
  s.scores = s.queries + padded * a.head_size;
  s.shares = s.scores + V::kTileRows * padded * sizeof(std::int32_t);
  s.keys = s.shares + V::kTileRows * padded * kWord;
  s.values = s.keys + padded * a.head_size;

  const auto rows_of = [&](std::size_t part) {
    return WordRows{p.values + (part * a.heads + a.head) * p.block_bytes, p.scale + part * a.capacity, a.length, padded, p.row_bytes};
  };
  constexpr auto kMiddle = static_cast<std::int16_t>(kQueryMax<V> + 1);
  const float key_scale = share_byte_scale<V>(rows_of(1), s, kKeyMax, 0, s.queries);
  for (std::size_t token = 0; token < padded; token += V::kLanes) {
    std::byte* panel = s.keys + token / kPanel * kPanel * a.head_size + token % kPanel * 4;
    for (std::size_t k = 0; k < a.head_size; k += 32) {
      V::transpose_bytes(s.queries + token * a.head_size + k, a.head_size, panel + k * kPanel, kPanel * 4);
    }
    auto start = V::zero_int();
    for (std::size_t k = 0; k < a.head_size; k += 4) V::dot_centre(start, V::load_int(panel + k * kPanel));
    V::store_int(s.starts + token * sizeof(std::int32_t), V::subtract(V::zero_int(), start));
  }
  const float factor = key_scale * share_byte_scale<V>(rows_of(0), s, kQueryMax<V>, kMiddle, s.queries);
  const float value_scale = share_scale<V>(rows_of(2), s);
  for (std::size_t token = 0; token < a.length; token += 2) {
    for (std::size_t k = 0; k < a.head_size; k += kPanel) {
      const std::byte* even = s.rows + token * p.row_bytes + k * kWord;
      std::byte* out = s.values + (k * pairs + token / 2 * kPanel) * 2 * kWord;
      V::interleave_words(even, even + p.row_bytes, out, out + kPanel * kWord);
    }
  }
  const auto bits = static_cast<float>(share_bits(a.length));
  for_row_blocks<V::kTileRows>(a.length, [&](std::size_t first, auto rows) {
    constexpr auto kEach = std::make_index_sequence<rows>{};
    typename V::Int low[rows];
    typename V::Int high[rows];
    for (std::size_t token = 0; token < padded; token += kPanel) {
      const std::byte* start = s.starts + token * sizeof(std::int32_t);
      sum_tile<V, Operands::kBytes>(s.queries + first * a.head_size, a.head_size, s.keys + token * a.head_size, a.head_size / 4,
                                    V::load_int(start), V::load_int(start + sizeof(typename V::Int)), low, high);
      unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
        std::byte* out = s.scores + (row * padded + token) * sizeof(std::int32_t);
        V::store_int(out, low[row]);
        V::store_int(out + sizeof(typename V::Int), high[row]);
      });
    }
    // Do one step for all rows before the next step: the steps of a single row depend on each other and have long latencies.
    ShareScale scales[rows];
    std::int32_t sums[rows];
    float undo[rows];
    for (std::size_t row = 0; row < rows; ++row) {
      scales[row] = share_scale_of<V>(s.scores + row * padded * sizeof(std::int32_t), a.length, factor, bits);
    }
    for (std::size_t row = 0; row < rows; ++row) {
      sums[row] = share_words<V>(s.scores + row * padded * sizeof(std::int32_t), s.shares + row * padded * kWord, a.length, scales[row]);
    }
    for (std::size_t row = 0; row < rows; ++row) undo[row] = value_scale / static_cast<float>(sums[row]);
    for (std::size_t k = 0; k < a.head_size; k += kPanel) {
      sum_tile<V, Operands::kWords>(s.shares, padded * kWord, s.values + k * pairs * 2 * kWord, pairs, V::zero_int(), V::zero_int(), low,
                                    high);
      unroll(kEach, [&](auto row) FOOTNOTE_INLINE_LAMBDA {
        float* out = a.out + (first + row) * a.out_stride + a.head * a.head_size + k;
        const auto scale = V::broadcast(undo[row]);
        V::store(out, V::to_float(low[row]) * scale);
        V::store(out + V::kLanes, V::to_float(high[row]) * scale);
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
