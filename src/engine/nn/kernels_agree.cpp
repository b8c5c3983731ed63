#include <cmath>
#include <vector>

#include "engine/nn/kernels.h"
#include "engine/nn/pack.h"

namespace footnote::nn {
namespace {

constexpr std::size_t kRows = 20;
constexpr std::size_t kWidth = 64;

/// A norm and a product of its rows, on distinct values.
std::vector<float> product(const Kernels& kernels) {
  const auto wave = [](std::size_t i) { return std::sin(static_cast<float>(i) * 0.7F); };
  DenseMatrix dense{std::vector<float>(kWidth * kWidth), std::vector<float>(kWidth)};
  for (std::size_t i = 0; i < dense.weight.size(); ++i) dense.weight[i] = wave(i);
  const std::vector<float> gain(kWidth, 1.0F), shift(kWidth, 0.1F);
  Layout counted;
  lay_out_matrix(kernels, kWidth, kWidth, true, counted);
  std::vector<std::byte> memory(counted.used() + 64);
  Layout layout(memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64));
  const Matrix matrix = lay_out_matrix(kernels, kWidth, kWidth, true, layout);
  if (kernels.format == Format::kInt8) take_exact_channels(dense, {0, 1}, std::vector<float>(kExactChannels, 1.0F), matrix);
  pack_matrix(kernels, dense, matrix);

  std::vector<float> hidden(kRows * kWidth);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = wave(3 * i + 1);
  std::vector<std::byte> values(std::size_t{2} * 64 * kWidth);  // Padded: kernels always read complete tiles of 16 rows.
  std::vector<float> scale(kRows), offset(kRows), exact(kRows * kExactChannels);
  const bool tiles = kernels.format == Format::kBf16;
  const Rows rows{.values = values.data(),
                  .row_bytes = tiles ? 64 : kWidth,
                  .block_bytes = tiles ? values.size() / 2 : 0,
                  .scale = scale.data(),
                  .offset = offset.data(),
                  .exact = exact.data()};
  kernels.normalise({.hidden = hidden.data(),
                     .norm = {.gain = gain.data(),
                              .shift = shift.data(),
                              .rows_gain = gain.data(),
                              .rows_shift = shift.data(),
                              .exact_channels = matrix.exact_channels,
                              .epsilon = 1e-12F},
                     .count = kRows,
                     .width = kWidth,
                     .rows = rows});
  kernels.multiply({.left = rows,
                    .matrix = matrix,
                    .rows = kRows,
                    .first_column = 0,
                    .end_column = kWidth,
                    .epilogue = Epilogue::kAdd,
                    .out = hidden.data(),
                    .out_stride = kWidth,
                    .out_rows = {}});
  return hidden;
}

}  // namespace

bool kernels_agree(cpu::CpuLevel level) {
  const Kernels* model = level == cpu::CpuLevel::kVnni ? vnni_model() : level == cpu::CpuLevel::kAmx ? amx_model() : nullptr;
  if (model == nullptr) return true;
  const auto found = product(*kernels_of(level));
  const auto expected = product(*model);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!(std::fabs(found[i] - expected[i]) <= 0.01F)) return false;
  }
  return true;
}

}  // namespace footnote::nn
