#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/nn/kernels.h"

namespace footnote::nn {

/// A weight matrix in PyTorch's [out][in] layout: out-features are columns, in-features the depth.
struct DenseMatrix {
  std::vector<float> weight;
  std::vector<float> bias;

  std::size_t columns() const { return bias.size(); }
  std::size_t depth() const { return weight.size() / bias.size(); }
};

/// Allocates consecutive, 64-byte aligned parts of one memory block. Without a block, it only adds up the sizes.
class Layout {
 public:
  explicit Layout(std::byte* memory = nullptr) : memory_(memory) {}

  /// Null if there is no block.
  std::byte* take(std::size_t bytes) {
    std::byte* out = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (bytes + 63) / 64 * 64;
    return out;
  }
  float* take_floats(std::size_t count) { return reinterpret_cast<float*>(take(count * sizeof(float))); }
  std::size_t used() const { return used_; }

 private:
  std::byte* const memory_;
  std::size_t used_ = 0;
};

/// Reserves memory for a matrix of this size, in this format and panel.
Matrix lay_out_matrix(const Kernels& kernels, std::size_t depth, std::size_t columns, bool exact_channels, Layout& layout);

/// Packs a matrix into the memory reserved above:
///   kFloat  [columns / panel][depth][panel]
///   kInt8   [columns / panel][depth / 4][panel][4], one scale per column, clipped where that minimises the rounding error
///   kBf16   [columns / 32][depth / 32][2 tiles][16 pairs of depth][16 columns][2]
/// REQUIRES: depth and columns are multiples of 32; `out` is writable memory.
void pack_matrix(const Kernels& kernels, const DenseMatrix& dense, const Matrix& out);

/// Makes all channels use the range of a byte: scales down the largest channels of a layer norm, and scales up the weights that they are
/// multiplied by. The norm's shift moves into the matrix's bias, where it is exact. Needs only the weights: the range of a channel is
/// estimated from its gain.
struct Migrated {
  std::vector<float> gain;
  std::vector<float> shift;
};
Migrated migrate_channels(std::span<const float> gain, std::span<const float> shift, DenseMatrix& next);

/// The kExactChannels channels with the greatest strength. REQUIRES: at least that many channels.
std::array<std::uint32_t, kExactChannels> largest_channels(std::span<const float> strength);

/// Moves the channels out of a matrix into the memory of `out`, each times its factor: see Matrix::exact.
void take_exact_channels(DenseMatrix& dense, const std::array<std::uint32_t, kExactChannels>& channels, std::span<const float> factors,
                         const Matrix& out);

/// Rounds to the nearest bf16, ties to even.
std::uint16_t to_bf16(float value);

}  // namespace footnote::nn
