#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/cpu_level.h"

namespace footnote::ann {

/// Rows of floats are zero-padded to a multiple of this many.
inline constexpr std::size_t kFloatPadding = 16;
/// Rows of codes are zero-padded to a multiple of this many bytes.
inline constexpr std::size_t kCodePadding = 64;
/// Signs are stored in blocks of this many rows, transposed: the first byte (eight signs) of each row, then the second byte of each, and so
/// on.
inline constexpr std::size_t kSignBlockRows = 32;
/// The bytes of a row in such a block are padded to a multiple of this many.
inline constexpr std::size_t kSignBytePadding = 4;
/// The largest table entry for sign_sums: the sum of four fits a byte.
inline constexpr std::uint8_t kSignEntryMax = 63;

/// Converts a sum of sign_sums to an estimate: norm * (slope * sum + offset + bend * norm).
struct SignLine {
  float slope = 0;
  float offset = 0;
  float bend = 0;

  float at(std::uint16_t sum, float norm) const { return norm * (slope * static_cast<float>(sum) + (offset + bend * norm)); }
};

/// The inner loops of a search at one SIMD level. Consecutive `rows` are `stride` apart; `count` results are written. A row's result
/// depends on that row alone. Between levels, float results differ by rounding only and integer results not at all.
struct Kernels {
  using Floats = void (*)(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out);

  /// REQUIRES, for these three: stride is a multiple of kFloatPadding; `query` holds `stride` floats; the padding of both is zero.
  Floats dot;
  Floats squared_distance;
  Floats manhattan;
  /// REQUIRES: stride is a multiple of kCodePadding and at most 2^16; no code is -128; the padding of both is zero.
  void (*dot_codes)(const std::int8_t* query, const std::int8_t* rows, std::size_t stride, std::size_t count, std::int32_t* out);
  /// sum(row) = sum over the row's half-bytes h of tables[h][row[h]], for every row of `count` blocks. `tables` has 16 entries per
  /// half-byte, low half first, byte by byte.
  /// REQUIRES: row_bytes is a multiple of kSignBytePadding; entries are at most kSignEntryMax and their sums fit 16 bits.
  void (*sign_sums)(const std::uint8_t* tables, const std::uint8_t* blocks, std::size_t row_bytes, std::size_t count, std::uint16_t* out);
  /// A bit for each of the kSignBlockRows rows of a block whose estimate is at least `least`.
  std::uint32_t (*reaching)(const std::uint16_t* sums, const float* norms, const SignLine& line, float least);
};

/// REQUIRES: the CPU supports the level.
const Kernels& kernels_of(cpu::CpuLevel level);

// One implementation per file; null on other architectures.
const Kernels* portable_kernels();
const Kernels* avx2_kernels();
const Kernels* avx512_kernels();
const Kernels* vnni_kernels();

}  // namespace footnote::ann
