#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/late/late_model.h"

namespace footnote::late {

/// Fits a LateModel to the token vectors of many texts: their mean, their principal axes (randomly rotated, so that every bit carries a
/// similar share of the variance), and the most frequent tokens. No gradients, no labels; deterministic.
class ModelFit {
 public:
  static constexpr std::size_t kFrequentPieces = 120;

  explicit ModelFit(std::size_t hidden) : hidden_(hidden), sums_(hidden, 0.0), products_(hidden * hidden, 0.0) {}

  /// REQUIRES: tokens x hidden values and one id per token. Id 0 marks the special tokens around a text; they do not count as frequent.
  void add(std::span<const float> token_vectors, std::span<const std::uint32_t> ids);
  std::size_t tokens() const { return tokens_; }

  /// A model with `projected` axes. REQUIRES: some tokens were added; projected <= hidden, a multiple of 8.
  LateModel model(std::size_t projected) const;

 private:
  const std::size_t hidden_;
  std::size_t tokens_ = 0;
  std::vector<double> sums_;
  std::vector<double> products_;  // Upper triangle of the sum of outer products.
  std::unordered_map<std::uint32_t, std::size_t> counts_;
};

}  // namespace footnote::late
