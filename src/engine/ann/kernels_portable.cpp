#include <array>
#include <cmath>

#include "engine/ann/kernels.h"

namespace footnote::ann {
namespace {

// As many accumulators as the widest level has lanes, so that the compiler can vectorise them.
using Sums = std::array<float, kFloatPadding>;

float total(Sums& sums) {
  for (std::size_t half = kFloatPadding / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

template <class Term>
void sum_terms(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out, const Term& term) {
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows + r * stride;
    Sums sums{};
    for (std::size_t i = 0; i < stride; i += kFloatPadding) {
      for (std::size_t lane = 0; lane < kFloatPadding; ++lane) sums[lane] += term(query[i + lane], row[i + lane]);
    }
    out[r] = total(sums);
  }
}

void dot(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out) {
  sum_terms(query, rows, stride, count, out, [](float a, float b) { return a * b; });
}

void squared_distance(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out) {
  sum_terms(query, rows, stride, count, out, [](float a, float b) { return (a - b) * (a - b); });
}

void manhattan(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out) {
  sum_terms(query, rows, stride, count, out, [](float a, float b) { return std::fabs(a - b); });
}

void dot_codes(const std::int8_t* query, const std::int8_t* rows, std::size_t stride, std::size_t count, std::int32_t* out) {
  for (std::size_t r = 0; r < count; ++r) {
    const std::int8_t* row = rows + r * stride;
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < stride; ++i) sum += query[i] * row[i];
    out[r] = sum;
  }
}

void sign_sums(const std::uint8_t* tables, const std::uint8_t* blocks, std::size_t row_bytes, std::size_t count, std::uint16_t* out) {
  for (std::size_t b = 0; b < count; ++b, blocks += row_bytes * kSignBlockRows, out += kSignBlockRows) {
    std::array<std::uint16_t, kSignBlockRows> sums{};
    for (std::size_t p = 0; p < row_bytes; ++p) {
      const std::uint8_t* low = tables + p * 32;
      const std::uint8_t* bytes = blocks + p * kSignBlockRows;
      for (std::size_t r = 0; r < kSignBlockRows; ++r) {
        sums[r] = static_cast<std::uint16_t>(sums[r] + low[bytes[r] & 15] + low[16 + (bytes[r] >> 4)]);
      }
    }
    for (std::size_t r = 0; r < kSignBlockRows; ++r) out[r] = sums[r];
  }
}

std::uint32_t reaching(const std::uint16_t* sums, const float* norms, const SignLine& line, float least) {
  std::uint32_t bits = 0;
  for (std::size_t r = 0; r < kSignBlockRows; ++r) bits |= static_cast<std::uint32_t>(line.at(sums[r], norms[r]) >= least) << r;
  return bits;
}

constexpr Kernels kKernels{dot, squared_distance, manhattan, dot_codes, sign_sums, reaching};

}  // namespace

const Kernels* portable_kernels() { return &kKernels; }

}  // namespace footnote::ann
