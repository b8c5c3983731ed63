#include "engine/nn/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "engine/nn/memory_block.h"
#include "engine/nn/pack.h"

namespace footnote::nn {
namespace {

/// The kernels under test, and their tolerance.
struct Subject {
  std::string name;
  const Kernels* kernels;
};

void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) {
    std::string name(to_string(level));
    std::erase(name, '-');
    out.push_back({name, kernels_of(level)});
  }
  out.push_back({"vnni_model", vnni_model()});
  if (amx_model() != nullptr) out.push_back({"amx_model", amx_model()});
  return out;
}

class Numbers {
 public:
  std::vector<float> normal(std::size_t count, float scale) {
    std::normal_distribution<float> distribution(0, scale);
    std::vector<float> out(count);
    for (float& value : out) value = distribution(random_);
    return out;
  }

 private:
  std::mt19937 random_{5};
};

float bf16_at(const std::byte* place) {
  std::uint16_t half;
  std::memcpy(&half, place, sizeof(half));
  return std::bit_cast<float>(std::uint32_t{half} << 16);
}

std::size_t capacity_of(std::size_t rows) { return rows + 96; }

/// Rows in the format of some kernels, with their memory.
struct OwnedRows {
  MemoryBlock memory;
  Rows rows;
};

OwnedRows make_rows(Format format, std::size_t rows, std::size_t width) {
  const std::size_t capacity = capacity_of(rows);
  OwnedRows out;
  const std::size_t bytes = capacity * width * sizeof(float);
  out.memory = *MemoryBlock::allocate(bytes + 8 * capacity * sizeof(float));
  out.rows.values = out.memory.data();
  float* rest = reinterpret_cast<float*>(out.memory.data() + bytes);
  switch (format) {
    case Format::kFloat: out.rows.row_bytes = width * sizeof(float); break;
    case Format::kInt8:
      out.rows.row_bytes = width;
      out.rows.scale = rest;
      out.rows.offset = rest + capacity;
      out.rows.exact = rest + 2 * capacity;
      break;
    case Format::kBf16:
      out.rows.row_bytes = 64;
      out.rows.block_bytes = 64 * capacity;
      break;
  }
  return out;
}

/// Converts values to rows that can be multiplied. Channels 1 and 3 are the exact ones.
constexpr std::uint32_t kChannels[kExactChannels] = {1, 3};

OwnedRows rows_of(const Kernels& kernels, std::vector<float> numbers, std::size_t rows, std::size_t width, bool exact = true) {
  OwnedRows out = make_rows(kernels.format, rows, width);
  switch (kernels.format) {
    case Format::kFloat: std::memcpy(out.rows.values, numbers.data(), numbers.size() * sizeof(float)); break;
    case Format::kInt8:
      kernels.prepare({.in = numbers.data(),
                       .in_stride = width,
                       .count = rows,
                       .width = width,
                       .after_gelu = false,
                       .exact_channels = exact ? kChannels : nullptr,
                       .rows = out.rows});
      break;
    case Format::kBf16:
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t k = 0; k < width; ++k) {
          const std::uint16_t value = to_bf16(numbers[row * width + k]);
          std::memcpy(out.rows.values + k / 32 * out.rows.block_bytes + row * 64 + k % 32 * 2, &value, 2);
        }
      }
      break;
  }
  return out;
}

struct OwnedMatrix {
  MemoryBlock memory;
  Matrix matrix;
};

OwnedMatrix matrix_of(const Kernels& kernels, DenseMatrix dense) {
  OwnedMatrix out;
  Layout counted;
  lay_out_matrix(kernels, dense.depth(), dense.columns(), true, counted);
  out.memory = *MemoryBlock::allocate(counted.used());
  Layout layout(out.memory.data());
  out.matrix = lay_out_matrix(kernels, dense.depth(), dense.columns(), true, layout);
  if (kernels.format == Format::kInt8) {
    take_exact_channels(dense, {kChannels[0], kChannels[1]}, std::vector<float>(kExactChannels, 1.0F), out.matrix);
  }
  pack_matrix(kernels, dense, out.matrix);
  return out;
}

/// The allowed error of a sum of `depth` products of numbers of magnitude 1 and `weight`.
double tolerance(Format format, std::size_t depth, double weight) {
  const double size = weight * std::sqrt(static_cast<double>(depth));
  switch (format) {
    case Format::kFloat: return 1e-5 * size;
    case Format::kInt8: return 0.08 * size;
    case Format::kBf16: return 0.02 * size;
  }
  return 0;
}

double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

class EveryKernel : public ::testing::TestWithParam<Subject> {
 protected:
  const Kernels& kernels() const { return *GetParam().kernels; }
  Format format() const { return kernels().format; }

  DenseMatrix random_matrix(std::size_t depth, std::size_t columns, float scale) {
    return {numbers_.normal(depth * columns, scale), numbers_.normal(columns, 1)};
  }

  Numbers numbers_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, ::testing::ValuesIn(subjects()), [](const auto& test) { return test.param.name; });

TEST_P(EveryKernel, MultipliesAnyNumberOfRows) {
  constexpr std::size_t kDepth = 96;
  constexpr std::size_t kColumns = 128;
  const DenseMatrix dense = random_matrix(kDepth, kColumns, 0.3F);
  const OwnedMatrix matrix = matrix_of(kernels(), dense);
  for (std::size_t rows = 1; rows <= 40; ++rows) {
    const auto left = numbers_.normal(rows * kDepth, 1);
    const OwnedRows operand = rows_of(kernels(), left, rows, kDepth);
    std::vector<float> out(rows * (kColumns + 3), 2);
    kernels().multiply({.left = operand.rows,
                        .matrix = matrix.matrix,
                        .rows = rows,
                        .first_column = 32,
                        .end_column = 96,
                        .epilogue = Epilogue::kAdd,
                        .out = out.data(),
                        .out_stride = kColumns + 3,
                        .out_rows = {}});
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        double expected = 2;
        if (column >= 32 && column < 96) {
          expected += dense.bias[column];
          for (std::size_t k = 0; k < kDepth; ++k)
            expected += static_cast<double>(left[row * kDepth + k]) * dense.weight[column * kDepth + k];
        }
        ASSERT_NEAR(out[row * (kColumns + 3) + column], expected, tolerance(format(), kDepth, 0.3)) << rows << " rows";
      }
      ASSERT_EQ(out[row * (kColumns + 3) + kColumns], 2) << "wrote past the row";
    }
  }
}

TEST_P(EveryKernel, ARowIsTheSameInAnyCompany) {
  constexpr std::size_t kDepth = 64;
  constexpr std::size_t kColumns = 64;
  const OwnedMatrix matrix = matrix_of(kernels(), random_matrix(kDepth, kColumns, 0.3F));
  const OwnedRows operand = rows_of(kernels(), numbers_.normal(40 * kDepth, 1), 40, kDepth);
  const auto run = [&](std::size_t first, std::size_t rows, std::size_t first_column, std::size_t end_column) {
    std::vector<float> out(rows * kColumns);
    kernels().multiply({.left = operand.rows.from(first),
                        .matrix = matrix.matrix,
                        .rows = rows,
                        .first_column = first_column,
                        .end_column = end_column,
                        .epilogue = Epilogue::kAdd,
                        .out = out.data(),
                        .out_stride = kColumns,
                        .out_rows = {}});
    return out;
  };
  const auto all = run(0, 40, 0, kColumns);
  for (std::size_t first = 0; first < 40; ++first) {
    for (const std::size_t rows : {1, 2, 3, 5, 7, 11, 12, 13, 31, 33}) {
      if (first + rows > 40) continue;
      auto some = run(first, rows, 0, 32);
      const auto rest = run(first, rows, 32, kColumns);
      for (std::size_t i = 0; i < some.size(); ++i) some[i] += rest[i];
      ASSERT_EQ(std::memcmp(some.data(), all.data() + first * kColumns, some.size() * sizeof(float)), 0);
    }
  }
}

/// A row with a single one times a matrix with a single value: the value passes through the activation.
TEST_P(EveryKernel, GeluIsAsExactAsTheLevel) {
  constexpr std::size_t kColumns = 32 * 200;
  DenseMatrix dense{std::vector<float>(32 * kColumns, 0.0F), std::vector<float>(kColumns)};
  for (std::size_t i = 0; i < kColumns; ++i) dense.bias[i] = -20 + 40 * static_cast<float>(i) / kColumns;
  dense.bias[0] = -1e30F;
  dense.bias[1] = 1e30F;
  dense.bias[2] = 0;
  const OwnedMatrix matrix = matrix_of(kernels(), dense);
  const OwnedRows operand = rows_of(kernels(), std::vector<float>(32, 1.0F), 1, 32);
  const OwnedRows out_rows = make_rows(format(), 1, kColumns);
  std::vector<float> out(kColumns);
  const bool to_rows = format() == Format::kBf16;
  kernels().multiply({.left = operand.rows,
                      .matrix = matrix.matrix,
                      .rows = 1,
                      .first_column = 0,
                      .end_column = kColumns,
                      .epilogue = to_rows ? Epilogue::kGeluRows : Epilogue::kGelu,
                      .out = out.data(),
                      .out_stride = kColumns,
                      .out_rows = out_rows.rows});
  double worst = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    double found = out[i];
    if (to_rows) {
      found = bf16_at(out_rows.rows.values + i / 32 * out_rows.rows.block_bytes + i % 32 * 2);
    }
    const double expected = gelu_of(dense.bias[i]);
    worst = std::max(worst, std::abs(found - expected) / std::max(1.0, std::abs(expected)));
  }
  EXPECT_LT(worst, format() == Format::kFloat ? 1e-6 : format() == Format::kInt8 ? 3e-4 : 4e-3);
}

TEST_P(EveryKernel, NormalisesTheHiddenState) {
  constexpr std::size_t kWidth = 384;
  auto hidden = numbers_.normal(2 * kWidth, 3);
  const auto before = hidden;
  const auto gain = numbers_.normal(kWidth, 1);
  const auto shift = numbers_.normal(kWidth, 1);
  const OwnedRows rows = make_rows(format(), 2, kWidth);
  kernels().normalise({.hidden = hidden.data(),
                       .norm = {.gain = gain.data(),
                                .shift = shift.data(),
                                .rows_gain = gain.data(),
                                .rows_shift = shift.data(),
                                .exact_channels = kChannels,
                                .epsilon = 1e-12F},
                       .count = 2,
                       .width = kWidth,
                       .rows = rows.rows});
  for (std::size_t row = 0; row < 2; ++row) {
    double mean = 0;
    for (std::size_t k = 0; k < kWidth; ++k) mean += before[row * kWidth + k] / static_cast<double>(kWidth);
    double variance = 0;
    for (std::size_t k = 0; k < kWidth; ++k) variance += std::pow(before[row * kWidth + k] - mean, 2) / static_cast<double>(kWidth);
    for (std::size_t k = 0; k < kWidth; ++k) {
      const double normal = (before[row * kWidth + k] - mean) / std::sqrt(variance);
      ASSERT_NEAR(hidden[row * kWidth + k], normal * gain[k] + shift[k], 1e-5);
      if (format() == Format::kInt8) {
        const auto byte = std::to_integer<int>(rows.rows.values[row * kWidth + k]);
        const double held = rows.rows.scale[row] * byte + rows.rows.offset[row];
        ASSERT_NEAR(held, normal * gain[k] + shift[k], 0.51 * rows.rows.scale[row]);
      }
    }
  }
}

/// Two heads of a sequence compared with the textbook formula. `numbers`: queries, keys and values of each token, adjacent in a row.
void expect_textbook_attention(const Kernels& kernels, const std::vector<float>& numbers, std::size_t length, std::size_t head_size) {
  constexpr std::size_t kHeads = 2;
  const Format format = kernels.format;
  const std::size_t hidden = kHeads * head_size;
  const std::size_t capacity = capacity_of(length);
  OwnedRows projected = make_rows(format == Format::kInt8 ? Format::kFloat : format, length, 3 * hidden);
  if (format == Format::kInt8) {
    projected.memory = *MemoryBlock::allocate(capacity * (3 * hidden * 2 + 3 * sizeof(float)));
    projected.rows = {.values = projected.memory.data(),
                      .row_bytes = head_size * 2,
                      .block_bytes = capacity * head_size * 2,
                      .scale = reinterpret_cast<float*>(projected.memory.data() + capacity * 3 * hidden * 2)};
    kernels.split_heads({.in = numbers.data(),
                         .in_stride = 3 * hidden,
                         .count = length,
                         .heads = kHeads,
                         .head_size = head_size,
                         .capacity = capacity,
                         .projected = projected.rows});
  } else {
    projected = rows_of(kernels, numbers, length, 3 * hidden);
  }
  std::vector<float> out(length * hidden);
  const OwnedRows out_rows = make_rows(format, length, hidden);
  MemoryBlock scratch = *MemoryBlock::allocate(attention_scratch_bytes(length, head_size));
  for (std::size_t head = 0; head < kHeads; ++head) {
    kernels.attend({.projected = projected.rows,
                    .length = length,
                    .head = head,
                    .heads = kHeads,
                    .head_size = head_size,
                    .capacity = capacity,
                    .out = out.data(),
                    .out_stride = hidden,
                    .out_rows = out_rows.rows,
                    .scratch = scratch.data()});
  }
  const auto at = [&](std::size_t row, std::size_t part, std::size_t k) -> double { return numbers[row * 3 * hidden + part * hidden + k]; };
  for (std::size_t row = 0; row < length; ++row) {
    for (std::size_t head = 0; head < kHeads; ++head) {
      std::vector<double> scores(length);
      for (std::size_t j = 0; j < length; ++j) {
        for (std::size_t k = head * head_size; k < (head + 1) * head_size; ++k) scores[j] += at(row, 0, k) * at(j, 1, k);
      }
      const double top = std::ranges::max(scores);
      double sum = 0;
      for (const double score : scores) sum += std::exp2(score - top);
      for (std::size_t k = head * head_size; k < (head + 1) * head_size; ++k) {
        double expected = 0;
        for (std::size_t j = 0; j < length; ++j) expected += std::exp2(scores[j] - top) / sum * at(j, 2, k);
        double found = out[row * hidden + k];
        if (format == Format::kBf16) found = bf16_at(out_rows.rows.values + k / 32 * out_rows.rows.block_bytes + row * 64 + k % 32 * 2);
        ASSERT_NEAR(found, expected, format == Format::kFloat ? 1e-5 : 1e-2) << "length " << length << ", row " << row << ", column " << k;
      }
    }
  }
}

/// At lengths around the tiles and panels, with queries of realistic size.
TEST_P(EveryKernel, AttendsAsTheTextbookSays) {
  for (const std::size_t head_size : {32, 64}) {
    for (const std::size_t length : {1, 2, 15, 16, 17, 31, 32, 33, 65, 300}) {
      auto numbers = numbers_.normal(length * 6 * head_size, 0.7F);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (i / (2 * head_size) % 3 == 0) numbers[i] /= std::sqrt(static_cast<float>(head_size));
      }
      expect_textbook_attention(kernels(), numbers, length, head_size);
    }
  }
}

/// A zero query attends to all keys equally; a query of a thousand times a key attends to that key only.
TEST_P(EveryKernel, AttendsAtTheExtremes) {
  constexpr std::size_t kHidden = 64;
  constexpr std::size_t kLength = 40;
  for (const float size : {0.0F, 1e-20F, 1000.0F}) {
    auto numbers = numbers_.normal(kLength * 3 * kHidden, 0.7F);
    for (std::size_t row = 0; row < kLength; ++row) {
      float* token = numbers.data() + row * 3 * kHidden;
      for (std::size_t k = 0; k < kHidden; ++k) token[k] = size * token[kHidden + k];
    }
    SCOPED_TRACE(size);
    expect_textbook_attention(kernels(), numbers, kLength, kHidden / 2);
  }
}

/// bf16 values in the rows' memory.
void append_bf16(const OwnedRows& from, std::vector<float>& out) {
  for (std::size_t i = 0; i + 2 <= from.memory.size(); i += 2) {
    out.push_back(bf16_at(from.memory.data() + i));
  }
}

/// Compares a level with its emulation on everything that a pass does.
void expect_same_numbers(const Kernels& level, const Kernels& model, float tolerance) {
  constexpr std::size_t kWidth = 128;
  constexpr std::size_t kRows = 37;
  Numbers numbers;
  const DenseMatrix dense{numbers.normal(kWidth * 3 * kWidth, 0.2F), numbers.normal(3 * kWidth, 1)};
  const auto gain = numbers.normal(kWidth, 1);
  const auto shift = numbers.normal(kWidth, 0.2F);
  const auto start = numbers.normal(kRows * kWidth, 2);
  const auto run = [&](const Kernels& k) {
    const OwnedMatrix matrix = matrix_of(k, dense);
    auto hidden = start;
    const OwnedRows rows = make_rows(k.format, kRows, kWidth);
    k.normalise({.hidden = hidden.data(),
                 .norm = {.gain = gain.data(),
                          .shift = shift.data(),
                          .rows_gain = gain.data(),
                          .rows_shift = shift.data(),
                          .exact_channels = kChannels,
                          .epsilon = 1e-12F},
                 .count = kRows,
                 .width = kWidth,
                 .rows = rows.rows});
    std::vector<float> wide(kRows * 3 * kWidth);
    std::vector<float> mixed(kRows * kWidth);
    const bool to_rows = k.format == Format::kBf16;
    OwnedRows projected = make_rows(k.format, kRows, 3 * kWidth);
    if (k.format == Format::kInt8) {
      projected.rows.row_bytes = 64;
      projected.rows.block_bytes = 64 * capacity_of(kRows);
    }
    k.multiply({.left = rows.rows,
                .matrix = matrix.matrix,
                .rows = kRows,
                .first_column = 0,
                .end_column = 3 * kWidth,
                .epilogue = to_rows ? Epilogue::kRows : Epilogue::kStore,
                .out = wide.data(),
                .out_stride = 3 * kWidth,
                .out_rows = projected.rows});
    if (k.split_heads != nullptr) {
      k.split_heads({.in = wide.data(),
                     .in_stride = 3 * kWidth,
                     .count = kRows,
                     .heads = kWidth / 32,
                     .head_size = 32,
                     .capacity = capacity_of(kRows),
                     .projected = projected.rows});
    }
    const OwnedRows out_rows = make_rows(k.format, kRows, kWidth);
    MemoryBlock scratch = *MemoryBlock::allocate(attention_scratch_bytes(kRows, 32));
    for (std::size_t head = 0; head < kWidth / 32; ++head) {
      k.attend({.projected = projected.rows,
                .length = kRows,
                .head = head,
                .heads = kWidth / 32,
                .head_size = 32,
                .capacity = capacity_of(kRows),
                .out = mixed.data(),
                .out_stride = kWidth,
                .out_rows = out_rows.rows,
                .scratch = scratch.data()});
    }
    std::vector<float> fed(kRows * 3 * kWidth);
    const OwnedRows fed_rows = make_rows(k.format, kRows, 3 * kWidth);
    k.multiply({.left = rows.rows,
                .matrix = matrix.matrix,
                .rows = kRows,
                .first_column = 0,
                .end_column = 3 * kWidth,
                .epilogue = to_rows ? Epilogue::kGeluRows : Epilogue::kGelu,
                .out = fed.data(),
                .out_stride = 3 * kWidth,
                .out_rows = fed_rows.rows});
    std::vector<float> all;
    for (const auto* part : {&hidden, &wide, &mixed, &fed}) all.insert(all.end(), part->begin(), part->end());
    if (to_rows) {
      append_bf16(out_rows, all);
      append_bf16(fed_rows, all);
    }
    return all;
  };
  const auto found = run(level);
  const auto expected = run(model);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_LE(std::fabs(found[i] - expected[i]), tolerance) << "number " << i;
}

TEST(KernelModel, EveryUsableLevelAgreesWithIt) {
  for (const cpu::CpuLevel level : cpu::usable_cpu_levels()) EXPECT_TRUE(kernels_agree(level)) << to_string(level);
}

bool is_usable(cpu::CpuLevel level) { return std::ranges::find(cpu::usable_cpu_levels(), level) != cpu::usable_cpu_levels().end(); }

TEST(KernelModel, VnniGivesTheBytesOfItsModel) {
  if (!is_usable(cpu::CpuLevel::kVnni)) GTEST_SKIP() << "the machine has no VNNI; the model alone is tested";
  expect_same_numbers(*vnni_kernels(), *vnni_model(), 0);
}

TEST(KernelModel, AmxGivesTheNumbersOfItsModel) {
  if (!is_usable(cpu::CpuLevel::kAmx)) GTEST_SKIP() << "the machine has no AMX; the model alone is tested";
  // Another order of summation may round to the neighbouring bf16.
  expect_same_numbers(*amx_kernels(), *amx_model(), 0.05F);
}

}  // namespace
}  // namespace footnote::nn
