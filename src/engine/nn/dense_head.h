#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/nn/safetensors.h"

namespace footnote::nn {

/// A small dense layer on top of an encoder, in the precision of its file: weight[out][in] and bias[out].
struct DenseHead {
  std::vector<float> weight;
  std::vector<float> bias;

  /// Reads the tensors `name`.weight and `name`.bias. kCorrupted: missing, or of another shape.
  static Result<DenseHead> read(const SafeTensors& weights, const std::string& name, std::size_t rows, std::size_t columns) {
    DenseHead out;
    FOOTNOTE_TRY(out.weight, weights.read_floats(name + ".weight", {rows, columns}));
    FOOTNOTE_TRY(out.bias, weights.read_floats(name + ".bias", {rows}));
    return out;
  }

  float row(std::size_t row, std::span<const float> in) const {
    double sum = 0;
    for (std::size_t k = 0; k < in.size(); ++k) sum += static_cast<double>(in[k]) * weight[row * in.size() + k];
    return bias[row] + static_cast<float>(sum);
  }

  std::vector<float> operator()(std::span<const float> in) const {
    std::vector<float> out(bias.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = row(i, in);
    return out;
  }
};

}  // namespace footnote::nn
