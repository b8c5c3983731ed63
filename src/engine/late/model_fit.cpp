#include "engine/late/model_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/assert.h"

namespace footnote::late {
namespace {

/// Eigenvectors of a symmetric matrix by Jacobi rotations, as columns, largest eigenvalues first.
std::vector<double> main_axes(std::vector<double> matrix, std::size_t n) {
  constexpr int kSweepsMax = 30;
  std::vector<double> axes(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) axes[i * n + i] = 1;
  for (int sweep = 0; sweep < kSweepsMax; ++sweep) {
    double off = 0;
    double diagonal = 0;
    for (std::size_t i = 0; i < n; ++i) {
      diagonal += matrix[i * n + i] * matrix[i * n + i];
      for (std::size_t j = i + 1; j < n; ++j) off += matrix[i * n + j] * matrix[i * n + j];
    }
    if (off <= 1e-20 * diagonal) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double apq = matrix[p * n + q];
        if (apq == 0) continue;
        const double theta = (matrix[q * n + q] - matrix[p * n + p]) / (2 * apq);
        const double t = (theta >= 0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1);
        const double s = t * c;
        const auto turn = [&](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (std::size_t k = 0; k < n; ++k) turn(matrix[k * n + p], matrix[k * n + q]);
        for (std::size_t k = 0; k < n; ++k) turn(matrix[p * n + k], matrix[q * n + k]);
        for (std::size_t k = 0; k < n; ++k) turn(axes[k * n + p], axes[k * n + q]);
      }
    }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return std::pair(matrix[b * n + b], a) < std::pair(matrix[a * n + a], b); });
  std::vector<double> out(n * n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) out[k * n + j] = axes[k * n + order[j]];
  }
  return out;
}

/// A fixed pseudo-random rotation of n axes, as orthogonal columns.
std::vector<double> fixed_rotation(std::size_t n) {
  std::mt19937_64 random(20240601);
  std::vector<double> columns(n * n);
  // Sums of twelve uniform numbers: close enough to normal, and the same in every standard library.
  for (double& value : columns) {
    value = -6;
    for (int i = 0; i < 12; ++i) value += static_cast<double>(random() >> 11) * 0x1.0p-53;
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      double dot = 0;
      for (std::size_t k = 0; k < n; ++k) dot += columns[k * n + i] * columns[k * n + j];
      for (std::size_t k = 0; k < n; ++k) columns[k * n + j] -= dot * columns[k * n + i];
    }
    double square = 0;
    for (std::size_t k = 0; k < n; ++k) square += columns[k * n + j] * columns[k * n + j];
    for (std::size_t k = 0; k < n; ++k) columns[k * n + j] /= std::sqrt(square);
  }
  return columns;
}

}  // namespace

void ModelFit::add(std::span<const float> token_vectors, std::span<const std::uint32_t> ids) {
  FOOTNOTE_ASSERT(token_vectors.size() == ids.size() * hidden_);
  for (std::size_t t = 0; t < ids.size(); ++t) {
    const float* token = token_vectors.data() + t * hidden_;
    for (std::size_t i = 0; i < hidden_; ++i) {
      sums_[i] += token[i];
      const double value = token[i];
      for (std::size_t j = i; j < hidden_; ++j) products_[i * hidden_ + j] += value * token[j];
    }
    if (ids[t] != 0) ++counts_[ids[t]];
  }
  tokens_ += ids.size();
}

LateModel ModelFit::model(std::size_t projected) const {
  FOOTNOTE_ASSERT(tokens_ > 0 && projected <= hidden_ && projected % 8 == 0);
  const auto total = static_cast<double>(tokens_);
  LateModel out;
  out.centre.resize(hidden_);
  for (std::size_t i = 0; i < hidden_; ++i) out.centre[i] = static_cast<float>(sums_[i] / total);
  std::vector<double> covariance(hidden_ * hidden_);
  for (std::size_t i = 0; i < hidden_; ++i) {
    for (std::size_t j = i; j < hidden_; ++j) {
      const double value = products_[i * hidden_ + j] / total - sums_[i] / total * sums_[j] / total;
      covariance[i * hidden_ + j] = covariance[j * hidden_ + i] = value;
    }
  }
  const std::vector<double> axes = main_axes(std::move(covariance), hidden_);
  const std::vector<double> rotation = fixed_rotation(projected);
  out.basis.resize(hidden_ * projected);
  for (std::size_t i = 0; i < hidden_; ++i) {
    for (std::size_t j = 0; j < projected; ++j) {
      double value = 0;
      for (std::size_t k = 0; k < projected; ++k) value += axes[i * hidden_ + k] * rotation[k * projected + j];
      out.basis[i * projected + j] = static_cast<float>(value);
    }
  }
  std::vector<std::pair<std::size_t, std::uint32_t>> ranked;
  for (const auto& [id, count] : counts_) ranked.emplace_back(count, id);
  std::ranges::sort(ranked, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  for (std::size_t i = 0; i < std::min(kFrequentPieces, ranked.size()); ++i) out.frequent.push_back(ranked[i].second);
  std::ranges::sort(out.frequent);
  return out;
}

}  // namespace footnote::late
