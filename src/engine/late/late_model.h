#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/byte_stream.h"
#include "base/result.h"

namespace footnote::late {

/// How a token vector is encoded.
enum class Signs {
  kFull,       ///< One sign bit per dimension.
  kProjected,  ///< One sign bit per dimension of its projection: half as many.
};

/// Statistics of one encoder's token vectors: their mean, their principal axes, and the most frequent tokens, which carry little meaning.
/// Fitted once per encoder by ModelFit and used for all texts, so that codes are comparable.
struct LateModel {
  static constexpr std::size_t kHiddenMax = 4096;
  static constexpr std::size_t kFrequentMax = 4096;

  std::vector<float> centre;            ///< The mean token vector, hidden() values.
  std::vector<float> basis;             ///< hidden() x projected(), one row per input dimension.
  std::vector<std::uint32_t> frequent;  ///< The ids of the most frequent tokens, ascending.
  std::vector<float> probe;             ///< Some of the encoder's weights, which identify it.

  std::size_t hidden() const { return centre.size(); }
  std::size_t projected() const { return basis.size() / centre.size(); }

  /// file := magic:byte[8] hidden:u32 projected:u32 frequent:u32 probe:u32 centre:f32[hidden] basis:u16[hidden * projected]
  ///         frequent:u32[frequent] probe:f32[probe] sum:u32
  /// The basis is in bf16; sum is the CRC-32C of everything before it.
  std::string to_bytes() const;
  /// Reads what to_bytes() wrote. kCorrupted: anything else.
  static Result<LateModel> from_bytes(std::span<const std::byte> bytes);
};

}  // namespace footnote::late
