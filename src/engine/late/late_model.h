#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/byte_stream.h"
#include "base/result.h"

namespace footnote::late {

/// How a token vector is written down.
enum class Signs {
  kFull,       ///< One sign for each of its numbers.
  kProjected,  ///< One sign for each number of its projection: half as many.
};

/// What is known of one encoder's token vectors: where they lie, along which axes they spread, and which pieces say
/// little. Made once for a model by ModelFit; the same for all texts, so that codes stay comparable.
struct LateModel {
  static constexpr std::size_t kHiddenMax = 4096;
  static constexpr std::size_t kFrequentMax = 4096;

  std::vector<float> centre;            ///< The mean token vector: as many numbers as the encoder's.
  std::vector<float> basis;             ///< hidden() x projected(), one row for each number that goes in.
  std::vector<std::uint32_t> frequent;  ///< The ids of the commonest pieces, ascending.
  std::vector<float> probe;             ///< Some of the encoder's own numbers: whose token vectors these are.

  std::size_t hidden() const { return centre.size(); }
  std::size_t projected() const { return basis.size() / centre.size(); }

  /// file := magic:byte[8] hidden:u32 projected:u32 frequent:u32 probe:u32 centre:f32[hidden] basis:u16[hidden * projected]
  ///         frequent:u32[frequent] probe:f32[probe] sum:u32
  /// The basis in bf16; the sum is the CRC-32C of all before it.
  std::string to_bytes() const;
  /// What to_bytes() gave. kCorrupted: something else.
  static Result<LateModel> from_bytes(std::span<const std::byte> bytes);
};

}  // namespace footnote::late
