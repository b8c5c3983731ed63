#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace footnote::nn {

/// Zeroed floats aligned for every vector width; large ones ask the system for huge pages.
class FloatBuffer {
 public:
  FloatBuffer() = default;

  /// kResourceExhausted when there is no memory for it.
  static Result<FloatBuffer> allocate(std::size_t count);

  float* data() { return floats_.get(); }
  const float* data() const { return floats_.get(); }
  std::size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(float* floats) const;
  };

  FloatBuffer(float* floats, std::size_t count) : floats_(floats), count_(count) {}

  std::unique_ptr<float[], Free> floats_;
  std::size_t count_ = 0;
};

/// A right-hand matrix in panels, [columns / panel][depth][panel], with its bias: packed once, multiplied often.
/// Immutable after packing, so safe from any thread.
class PackedMatrix {
 public:
  PackedMatrix() = default;

  /// One or more weight tensors in PyTorch's [out][in] layout, put side by side: their out-features become columns in
  /// order. REQUIRES: each weight holds a whole number of rows of `depth`, its bias one number a row, and each number
  /// of rows is a multiple of `panel_columns`.
  struct Part {
    std::span<const float> weight;
    std::span<const float> bias;
  };
  static Result<PackedMatrix> pack(std::span<const Part> parts, std::size_t depth, std::size_t panel_columns);

  const float* panels() const { return panels_.data(); }
  const float* bias() const { return bias_.data(); }
  std::size_t columns() const { return columns_; }
  std::size_t depth() const { return depth_; }

 private:
  FloatBuffer panels_;
  FloatBuffer bias_;
  std::size_t columns_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace footnote::nn
