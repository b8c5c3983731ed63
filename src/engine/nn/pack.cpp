#include "engine/nn/pack.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/assert.h"

namespace footnote::nn {
namespace {

constexpr float kWeightMax = 127.0F;
// The share of channels that are not scaled.
constexpr double kMigrationQuantile = 0.95;

struct Quantised {
  std::vector<float> whole;  // Integers from -127 to 127.
  float scale = 1;
};

float rounded(float value, float scale) { return std::clamp(std::nearbyint(value / scale), -kWeightMax, kWeightMax); }

/// Tries clipping the largest weights a little, which gives the rest a finer scale.
Quantised quantise(std::span<const float> column) {
  float largest = 1e-12F;
  for (const float value : column) largest = std::max(largest, std::fabs(value));
  double best_error = 1e300;
  Quantised out{std::vector<float>(column.size()), largest / kWeightMax};
  for (int percent = 100; percent >= 70; percent -= 2) {
    const float scale = largest * static_cast<float>(percent) / 100.0F / kWeightMax;
    double error = 0;
    for (const float value : column) {
      const double off = static_cast<double>(rounded(value, scale)) * scale - value;
      error += off * off;
    }
    if (error < best_error) {
      best_error = error;
      out.scale = scale;
    }
  }
  std::ranges::transform(column, out.whole.begin(), [&](float value) { return rounded(value, out.scale); });
  return out;
}

std::span<const float> column_of(const DenseMatrix& dense, std::size_t column) {
  return std::span(dense.weight).subspan(column * dense.depth(), dense.depth());
}

// Kernels read packed weights through const pointers; here the memory is still writable.
template <class Number, class From>
Number* writable(const From* memory) {
  return reinterpret_cast<Number*>(const_cast<From*>(memory));
}

void pack_float(const DenseMatrix& dense, std::size_t panel, const Matrix& out) {
  float* to = writable<float>(out.panels);
  for (std::size_t first = 0; first < dense.columns(); first += panel) {
    for (std::size_t k = 0; k < dense.depth(); ++k) {
      for (std::size_t column = first; column < first + panel; ++column) *to++ = dense.weight[column * dense.depth() + k];
    }
  }
}

void pack_int8(const DenseMatrix& dense, std::size_t panel, const Matrix& out) {
  float* scales = writable<float>(out.scale);
  float* sums = writable<float>(out.sum);
  auto* panels = writable<std::int8_t>(out.panels);
  for (std::size_t column = 0; column < dense.columns(); ++column) {
    const Quantised quantised = quantise(column_of(dense, column));
    scales[column] = quantised.scale;
    double sum = 0;
    std::int8_t* to = panels + column / panel * panel * dense.depth() + column % panel * 4;
    for (std::size_t k = 0; k < dense.depth(); ++k) {
      sum += quantised.whole[k];
      to[k / 4 * 4 * panel + k % 4] = static_cast<std::int8_t>(quantised.whole[k]);
    }
    sums[column] = static_cast<float>(sum * quantised.scale);
  }
}

void pack_bf16(const DenseMatrix& dense, const Matrix& out) {
  auto* to = writable<std::uint16_t>(out.panels);
  for (std::size_t first = 0; first < dense.columns(); first += 32) {
    for (std::size_t k = 0; k < dense.depth(); k += 32) {
      for (std::size_t column = first; column < first + 32; column += 16) {
        for (std::size_t pair = k; pair < k + 32; pair += 2) {
          for (std::size_t c = column; c < column + 16; ++c) {
            *to++ = to_bf16(dense.weight[c * dense.depth() + pair]);
            *to++ = to_bf16(dense.weight[c * dense.depth() + pair + 1]);
          }
        }
      }
    }
  }
}

std::size_t bytes_of(Format format) {
  switch (format) {
    case Format::kFloat: return 4;
    case Format::kInt8: return 1;
    case Format::kBf16: return 2;
  }
  return 0;
}

}  // namespace

std::uint16_t to_bf16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

Matrix lay_out_matrix(const Kernels& kernels, std::size_t depth, std::size_t columns, bool exact_channels, Layout& layout) {
  Matrix out;
  out.depth = depth;
  out.columns = columns;
  out.bias = layout.take_floats(columns);
  if (kernels.format == Format::kInt8) {
    out.scale = layout.take_floats(columns);
    out.sum = layout.take_floats(columns);
    if (exact_channels) {
      out.exact = layout.take_floats(kExactChannels * columns);
      out.exact_channels = reinterpret_cast<const std::uint32_t*>(layout.take(kExactChannels * sizeof(std::uint32_t)));
    }
  }
  out.panels = layout.take(depth * columns * bytes_of(kernels.format));
  return out;
}

void pack_matrix(const Kernels& kernels, const DenseMatrix& dense, const Matrix& out) {
  FOOTNOTE_ASSERT(dense.columns() == out.columns && dense.depth() == out.depth && out.columns % 32 == 0 && out.depth % 32 == 0);
  std::ranges::copy(dense.bias, writable<float>(out.bias));
  switch (kernels.format) {
    case Format::kFloat: return pack_float(dense, kernels.panel_columns, out);
    case Format::kInt8: return pack_int8(dense, kernels.panel_columns, out);
    case Format::kBf16: return pack_bf16(dense, out);
  }
}

std::array<std::uint32_t, kExactChannels> largest_channels(std::span<const float> strength) {
  std::vector<std::uint32_t> order(strength.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order,
                    [&](std::uint32_t a, std::uint32_t b) { return strength[a] != strength[b] ? strength[a] > strength[b] : a < b; });
  std::array<std::uint32_t, kExactChannels> out;
  std::copy_n(order.begin(), kExactChannels, out.begin());
  return out;
}

void take_exact_channels(DenseMatrix& dense, const std::array<std::uint32_t, kExactChannels>& channels, std::span<const float> factors,
                         const Matrix& out) {
  float* exact = writable<float>(out.exact);
  for (std::size_t i = 0; i < kExactChannels; ++i) {
    for (std::size_t column = 0; column < dense.columns(); ++column) {
      float& weight = dense.weight[column * dense.depth() + channels[i]];
      exact[i * dense.columns() + column] = weight * factors[i];
      weight = 0;
    }
  }
  std::ranges::copy(channels, writable<std::uint32_t>(out.exact_channels));
}

Migrated migrate_channels(std::span<const float> gain, std::span<const float> shift, DenseMatrix& next) {
  const std::size_t depth = gain.size();
  std::vector<float> reach(depth);
  std::ranges::transform(gain, reach.begin(), [](float value) { return std::fabs(value); });
  std::vector<float> order = reach;
  std::ranges::sort(order);
  const float limit =
      std::max(order[std::min(depth - 1, static_cast<std::size_t>(kMigrationQuantile * static_cast<double>(depth)))], 1e-12F);
  Migrated out{{gain.begin(), gain.end()}, std::vector<float>(depth, 0.0F)};
  std::vector<float> factor(depth);
  for (std::size_t k = 0; k < depth; ++k) {
    factor[k] = std::max(1.0F, reach[k] / limit);
    out.gain[k] /= factor[k];
  }
  for (std::size_t column = 0; column < next.columns(); ++column) {
    float* weight = next.weight.data() + column * depth;
    double moved = 0;
    for (std::size_t k = 0; k < depth; ++k) {
      moved += static_cast<double>(shift[k]) * weight[k];
      weight[k] *= factor[k];
    }
    next.bias[column] += static_cast<float>(moved);
  }
  return out;
}

}  // namespace footnote::nn
