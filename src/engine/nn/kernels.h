#pragma once

#include <cstddef>

#include "engine/cpu/cpu_level.h"

namespace footnote::nn {

enum class Activation { kNone, kGelu };

/// out = activation(left x right + bias). `left` is row-major; `right` is packed in panels of `panel_columns`
/// columns, [columns / panel][depth][panel]. `bias` may be null. REQUIRES: columns is a multiple of the panel.
struct Multiplication {
  const float* left = nullptr;
  std::size_t left_stride = 0;
  const float* panels = nullptr;
  const float* bias = nullptr;
  float* out = nullptr;
  std::size_t out_stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
  Activation activation = Activation::kNone;
};

/// rows[i] = layer_norm(addend[i] + rows[i]) * gain + shift, row by row. REQUIRES: width is a multiple of 16.
struct AddNorm {
  float* rows = nullptr;
  const float* addend = nullptr;
  const float* gain = nullptr;
  const float* shift = nullptr;
  std::size_t count = 0;
  std::size_t width = 0;
  float epsilon = 0;
};

/// Each row of `columns` scores becomes softmax(scale * row). REQUIRES: stride is a multiple of 16 and at least
/// `columns`; what lies between `columns` and the next multiple of 16 is overwritten.
struct Softmax {
  float* scores = nullptr;
  std::size_t stride = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  float scale = 1;
};

/// The arithmetic of one level. Every result of a row depends on that row's inputs alone, never on how many rows
/// are computed together or where the row stands among them: that is what makes batches byte-stable.
/// Pure functions over the caller's memory: safe from any thread.
struct Kernels {
  std::size_t panel_columns = 0;
  void (*multiply)(const Multiplication&) = nullptr;
  void (*add_norm)(const AddNorm&) = nullptr;
  void (*softmax)(const Softmax&) = nullptr;
};

/// Null when this build has no such level. Whether the machine can run it: cpu::usable_cpu_levels.
const Kernels* kernels_of(cpu::CpuLevel level);

// One per source file kernels_*.cpp; null where the processor family has none.
const Kernels* portable_kernels();
const Kernels* avx2_kernels();
const Kernels* avx512_kernels();

}  // namespace footnote::nn
