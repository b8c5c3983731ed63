#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::nn {

/// Byte strings and their ids as a double array: all strings that a text begins with are met in one walk, a step a byte.
/// Immutable, so safe from any thread.
class PieceTrie {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::size_t kPieceBytesMax = 1 << 10;
  static constexpr std::size_t kAllBytesMax = 16 << 20;

  /// The id of a piece is its place. Empty ones are left out; of equal ones the last counts. kCorrupted: past a bound.
  static Result<PieceTrie> build(std::span<const std::string_view> pieces);

  /// The node after one more byte, or kNone.
  std::uint32_t step(std::uint32_t node, unsigned char byte) const {
    const std::uint32_t next = nodes_[node].base ^ byte;
    return nodes_[next].parent == node ? next : kNone;
  }

  /// The piece that ends at a node, or kNone.
  std::uint32_t id_at(std::uint32_t node) const { return nodes_[node].id; }

  /// The id of a whole piece, or kNone.
  std::uint32_t find(std::string_view piece) const;

 private:
  // The children of a node are at `base ^ byte`, all in one block of 256.
  struct Node {
    std::uint32_t base = 0;
    std::uint32_t parent = kNone;
    std::uint32_t id = kNone;
  };
  class Builder;

  std::vector<Node> nodes_;
};

}  // namespace footnote::nn
