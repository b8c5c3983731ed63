#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/cpu_level.h"

namespace footnote::ann {

/// Rows of floats are padded with zeros to a multiple of this many.
inline constexpr std::size_t kFloatPadding = 16;
/// Rows of bytes likewise.
inline constexpr std::size_t kCodePadding = 64;
/// Signs lie in blocks of this many rows, transposed: the first byte (eight signs) of each row, then the second of each.
inline constexpr std::size_t kSignBlockRows = 32;
/// The bytes of a row in such a block are padded to a multiple of this many.
inline constexpr std::size_t kSignBytePadding = 4;
/// The largest entry of a table for sign_sums: four of them fit a byte.
inline constexpr std::uint8_t kSignEntryMax = 63;

/// How a sum of sign_sums becomes an estimate: norm * (slope * sum + offset + bend * norm).
struct SignLine {
  float slope = 0;
  float offset = 0;
  float bend = 0;

  float at(std::uint16_t sum, float norm) const { return norm * (slope * static_cast<float>(sum) + (offset + bend * norm)); }
};

/// The inner loops of a search at one level of instructions. `rows` lie `stride` apart, `count` results are written. A row's
/// result depends on its own numbers alone, never on its neighbours. Levels differ in floats by rounding only, in integers not at all.
struct Kernels {
  using Floats = void (*)(const float* query, const float* rows, std::size_t stride, std::size_t count, float* out);

  /// REQUIRES, of these three: stride is a multiple of kFloatPadding; `query` holds `stride` floats; both are zero in the padding.
  Floats dot;
  Floats squared_distance;
  Floats manhattan;
  /// REQUIRES: stride is a multiple of kCodePadding and at most 2^16; no code is -128; both are zero in the padding.
  void (*dot_codes)(const std::int8_t* query, const std::int8_t* rows, std::size_t stride, std::size_t count, std::int32_t* out);
  /// For every row of `count` blocks the sum over its half-bytes of the entry that the half-byte names in that half-byte's
  /// table. `tables` holds 16 entries for each half-byte, low one first, byte after byte.
  /// REQUIRES: row_bytes is a multiple of kSignBytePadding; entries are at most kSignEntryMax and their sums fit 16 bits.
  void (*sign_sums)(const std::uint8_t* tables, const std::uint8_t* blocks, std::size_t row_bytes, std::size_t count, std::uint16_t* out);
  /// Of the kSignBlockRows rows of a block, a bit for each whose estimate reaches `least`.
  std::uint32_t (*reaching)(const std::uint16_t* sums, const float* norms, const SignLine& line, float least);
};

/// REQUIRES: the level is usable here.
const Kernels& kernels_of(cpu::CpuLevel level);

// One file each; null where the machine's architecture is another.
const Kernels* portable_kernels();
const Kernels* avx2_kernels();
const Kernels* avx512_kernels();
const Kernels* vnni_kernels();

}  // namespace footnote::ann
