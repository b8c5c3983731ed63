#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/cpu_level.h"

namespace footnote::nn {

/// The number format that a level multiplies.
enum class Format { kFloat, kInt8, kBf16 };

/// kInt8 multiplies this many channels of a row in fp32: in these models a few channels are huge for some tokens, and would make the
/// quantisation of all others coarse.
inline constexpr std::size_t kExactChannels = 2;

/// The values of many tokens, one row each, in the caller's memory. The layout depends on the format:
///   kFloat  fp32, `row_bytes` from row to row.
///   kInt8   bytes q with value = scale * q + offset, one scale and one offset per row.
///   kBf16   [columns / 32][capacity][32]: the part of a row that one tile reads is contiguous; `block_bytes` from block to block.
/// Queries, keys and values of kInt8 are 16-bit words instead: [3 * heads][capacity][head size], one block per head, and for each of the
/// three one scale per row, `capacity` apart.
struct Rows {
  std::byte* values = nullptr;
  std::size_t row_bytes = 0;
  std::size_t block_bytes = 0;
  float* scale = nullptr;
  float* offset = nullptr;
  float* exact = nullptr;  ///< kInt8, if the matrix has exact channels: kExactChannels per row.

  Rows from(std::size_t row) const {
    Rows out = *this;
    out.values += row * row_bytes;
    if (scale != nullptr) out.scale += row;
    if (offset != nullptr) out.offset += row;
    if (exact != nullptr) out.exact += row * kExactChannels;
    return out;
  }
};

/// The right-hand matrix of a multiplication, packed for a level by pack_matrix(). Views into the model's memory.
struct Matrix {
  const std::byte* panels = nullptr;
  const float* bias = nullptr;
  const float* scale = nullptr;  ///< kInt8: scale of each column.
  const float* sum = nullptr;    ///< kInt8: sum of each column's weights.
  const float* exact = nullptr;  ///< kInt8, or null: [kExactChannels][columns], weights of the exact channels.
  const std::uint32_t* exact_channels = nullptr;
  std::size_t depth = 0;
  std::size_t columns = 0;
};

enum class Epilogue {
  kStore,     ///< out = x
  kAdd,       ///< out += x
  kGelu,      ///< out = gelu(x)
  kRows,      ///< kBf16 only: out_rows = x
  kGeluRows,  ///< kBf16 only: out_rows = gelu(x)
};

/// Computes x = left * matrix + bias for a range of columns, then applies the finish (kStore, kAdd ...). REQUIRES: first and end are
/// multiples of the level's panel.
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

/// A layer norm. Rows that feed a multiplication may use a separate gain and shift, if the matrix was scaled inversely.
struct Norm {
  const float* gain = nullptr;
  const float* shift = nullptr;
  const float* rows_gain = nullptr;
  const float* rows_shift = nullptr;
  const std::uint32_t* exact_channels = nullptr;  ///< kInt8: the channels that stay fp32.
  float epsilon = 0;
};

/// hidden = norm(hidden), row by row; also writes it to `rows` for the next multiplication (except kFloat, which multiplies `hidden`
/// directly). REQUIRES: width is a multiple of 32.
struct Normalisation {
  float* hidden = nullptr;
  Norm norm;
  std::size_t count = 0;
  std::size_t width = 0;
  Rows rows;
};

/// Converts fp32 rows for the next multiplication; kInt8 only. Exact channels are removed from `in`.
struct Preparation {
  float* in = nullptr;
  std::size_t in_stride = 0;
  std::size_t count = 0;
  std::size_t width = 0;
  bool after_gelu = false;  ///< True: the values come from gelu, so none is below gelu's minimum.
  const std::uint32_t* exact_channels = nullptr;
  Rows rows;
};

/// Splits fp32 queries, keys and values, adjacent in a row, into 16-bit words by head; kInt8 only.
struct HeadSplit {
  const float* in = nullptr;
  std::size_t in_stride = 0;
  std::size_t count = 0;
  std::size_t heads = 0;
  std::size_t head_size = 0;
  std::size_t capacity = 0;
  Rows projected;
};

/// softmax2(queries * keys') * values for one head of one sequence. The queries are already scaled for base 2 and by 1 / sqrt(head_size).
/// REQUIRES: head_size is a multiple of 32; 64 rows past the sequence's last are readable; scratch has attention_scratch_bytes() and is
/// aligned to 64.
struct Attention {
  Rows projected;  ///< Starts at the sequence's first row.
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

/// The arithmetic of one level. A row's result depends on that row's inputs alone, not on the other rows, its position among them, or the
/// range of columns: this makes batches byte-stable. Pure functions over the caller's memory, thread-safe.
struct Kernels {
  Format format = Format::kFloat;
  std::size_t panel_columns = 0;
  std::size_t block_rows = 0;  ///< Rows per block, so that weights and results stay in the caches.
  void (*multiply)(const Multiplication&) = nullptr;
  void (*normalise)(const Normalisation&) = nullptr;
  void (*prepare)(const Preparation&) = nullptr;
  void (*split_heads)(const HeadSplit&) = nullptr;
  void (*attend)(const Attention&) = nullptr;
};

/// Null when this build lacks the level. For whether the machine can run it, see cpu::usable_cpu_levels.
const Kernels* kernels_of(cpu::CpuLevel level);

/// Whether the level's kernels compute a small product like the emulation in plain code. This is the last part of the self-test: an
/// instruction that exists but gives wrong results is worse than a missing one. True when there is no emulation.
bool kernels_agree(cpu::CpuLevel level);

// One per source file kernels_*.cpp; null on other CPU families.
const Kernels* portable_kernels();
const Kernels* avx2_kernels();
const Kernels* avx2_int8_kernels();
const Kernels* avx512_kernels();
const Kernels* vnni_kernels();
const Kernels* amx_kernels();

/// Emulates the arithmetic of kVnni and kAmx in plain code, instruction by instruction. Slow: it is the reference for tests of these
/// levels, even on machines that lack them.
const Kernels* vnni_model();
const Kernels* amx_model();

}  // namespace footnote::nn
