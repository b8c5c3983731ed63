#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/cpu_level.h"

namespace footnote::nn {

/// The numbers that a level multiplies.
enum class Format { kFloat, kInt8, kBf16 };

/// kInt8 multiplies so many channels of a row as they are: in these models a few are huge for some tokens, and the bytes of
/// all others would be coarse for their sake.
inline constexpr std::size_t kExactChannels = 2;

/// Numbers of many tokens, a row each, in memory of the caller. How they lie depends on the format:
///   kFloat  fp32, `row_bytes` from row to row.
///   kInt8   bytes q that stand for scale * q + offset, with one scale and one offset a row.
///   kBf16   [columns / 32][capacity][32]: what one tile takes of a row lies together; `block_bytes` from block to block.
/// Queries, keys and values of kInt8 are words instead: [3 * heads][capacity][head size], a block a head, one scale a
/// row for each of the three, `capacity` apart.
struct Rows {
  std::byte* values = nullptr;
  std::size_t row_bytes = 0;
  std::size_t block_bytes = 0;
  float* scale = nullptr;
  float* offset = nullptr;
  float* exact = nullptr;  ///< kInt8, where the matrix has such: kExactChannels a row.

  Rows from(std::size_t row) const {
    Rows out = *this;
    out.values += row * row_bytes;
    if (scale != nullptr) out.scale += row;
    if (offset != nullptr) out.offset += row;
    if (exact != nullptr) out.exact += row * kExactChannels;
    return out;
  }
};

/// A right-hand matrix, packed for a level by pack_matrix(). Views into memory of the model.
struct Matrix {
  const std::byte* panels = nullptr;
  const float* bias = nullptr;
  const float* scale = nullptr;  ///< kInt8: of each column.
  const float* sum = nullptr;    ///< kInt8: of each column's weights.
  const float* exact = nullptr;  ///< kInt8, or null: [kExactChannels][columns], weights of the exact channels.
  const std::uint32_t* exact_channels = nullptr;
  std::size_t depth = 0;
  std::size_t columns = 0;
};

enum class Epilogue {
  kStore,     ///< out = x
  kAdd,       ///< out += x
  kGelu,      ///< out = gelu(x)
  kRows,      ///< kBf16 alone: out_rows = x
  kGeluRows,  ///< kBf16 alone: out_rows = gelu(x)
};

/// x = left * matrix + bias for some of its columns, and what becomes of x. REQUIRES: first and end are multiples of
/// the level's panel.
struct Multiplication {
  Rows left;
  Matrix matrix;
  std::size_t rows = 0;
  std::size_t first_column = 0;
  std::size_t end_column = 0;
  Epilogue epilogue = Epilogue::kStore;
  float* out = nullptr;  ///< Column 0 of the first row.
  std::size_t out_stride = 0;
  Rows out_rows;
};

/// A layer norm. The rows that go on to a multiplication may have a gain and shift of their own, when the matrix they
/// meet has been scaled the other way.
struct Norm {
  const float* gain = nullptr;
  const float* shift = nullptr;
  const float* rows_gain = nullptr;
  const float* rows_shift = nullptr;
  const std::uint32_t* exact_channels = nullptr;  ///< kInt8: which normal numbers go on as they are.
  float epsilon = 0;
};

/// hidden = norm(hidden), row by row, and the same for the next multiplication in `rows` (but for kFloat, which
/// multiplies `hidden` itself). REQUIRES: width is a multiple of 32.
struct Normalisation {
  float* hidden = nullptr;
  Norm norm;
  std::size_t count = 0;
  std::size_t width = 0;
  Rows rows;
};

/// fp32 rows for the next multiplication; kInt8 alone. Exact channels are taken out of `in`.
struct Preparation {
  float* in = nullptr;
  std::size_t in_stride = 0;
  std::size_t count = 0;
  std::size_t width = 0;
  bool after_gelu = false;  ///< No number is below gelu's minimum.
  const std::uint32_t* exact_channels = nullptr;
  Rows rows;
};

/// fp32 queries, keys and values, side by side in a row, as words by heads; kInt8 alone.
struct HeadSplit {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  std::size_t count = 0;
  std::size_t heads = 0;
  std::size_t head_size = 0;
  std::size_t capacity = 0;
  Rows projected;
};

/// softmax2(queries * keys') * values of one head of one sequence. The logarithm's base and the scale of scores are in
/// the queries already. REQUIRES: head_size is a multiple of 32; 64 rows past the sequence's last can be read; scratch
/// has attention_scratch_bytes() and is aligned to 64.
struct Attention {
  Rows projected;  ///< From the sequence's first row on.
  std::size_t length = 0;
  std::size_t head = 0;
  std::size_t heads = 0;
  std::size_t head_size = 0;
  std::size_t capacity = 0;
  float* out = nullptr;  ///< kFloat, kInt8: column 0 of the first row.
  std::size_t out_stride = 0;
  Rows out_rows;  ///< kBf16
  std::byte* scratch = nullptr;
};

std::size_t attention_scratch_bytes(std::size_t length_max, std::size_t head_size);

/// The arithmetic of one level. Every result of a row depends on that row's inputs alone, never on how many rows
/// are computed together, where the row stands among them, or which columns are asked for at once: that is what makes
/// batches byte-stable. Pure functions over the caller's memory: safe from any thread.
struct Kernels {
  Format format = Format::kFloat;
  std::size_t panel_columns = 0;
  std::size_t block_rows = 0;  ///< So many rows at a time keep weights in the nearer caches and results not too far off.
  void (*multiply)(const Multiplication&) = nullptr;
  void (*normalise)(const Normalisation&) = nullptr;
  void (*prepare)(const Preparation&) = nullptr;
  void (*split_heads)(const HeadSplit&) = nullptr;
  void (*attend)(const Attention&) = nullptr;
};

/// Null when this build has no such level. Whether the machine can run it: cpu::usable_cpu_levels.
const Kernels* kernels_of(cpu::CpuLevel level);

/// Whether a small product of the level's kernels agrees with its model in plain code: the last part of the self-test, for an
/// instruction that is there but gives other numbers would be worse than one that is not. True where there is no model.
bool kernels_agree(cpu::CpuLevel level);

// One per source file kernels_*.cpp; null where the processor family has none.
const Kernels* portable_kernels();
const Kernels* avx2_kernels();
const Kernels* avx2_int8_kernels();
const Kernels* avx512_kernels();
const Kernels* vnni_kernels();
const Kernels* amx_kernels();

/// The arithmetic of kVnni and kAmx, instruction by instruction, without their instructions. Slow: what the levels are
/// tested against, also where the machine lacks them.
const Kernels* vnni_model();
const Kernels* amx_model();

}  // namespace footnote::nn
