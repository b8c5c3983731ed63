#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::nn {

/// Byte strings and their ids as a double-array trie: one walk, a step per byte, finds all strings that are prefixes of a text. Immutable
/// and thread-safe.
class PieceTrie {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::size_t kPieceBytesMax = 1 << 10;
  static constexpr std::size_t kAllBytesMax = 16 << 20;
  static constexpr std::size_t kPiecesMax = (1U << 23) - 1;

  /// The id of a piece is its index. Empty ones are ignored; of equal ones the last wins. kCorrupted: a limit is exceeded.
  static Result<PieceTrie> build(std::span<const std::string_view> pieces);

  /// The node after one more byte, or kNone.
  std::uint32_t step(std::uint32_t node, unsigned char byte) const {
    const std::uint32_t next = nodes_[node].base ^ byte;
    return nodes_[next].label() == byte ? next : kNone;
  }

  /// The piece that ends at a node, or kNone.
  std::uint32_t id_at(std::uint32_t node) const {
    const std::uint32_t id = nodes_[node].label_and_id >> kLabelBits;
    return id == kPiecesMax ? kNone : id;
  }

  /// The id of a whole piece, or kNone.
  std::uint32_t find(std::string_view piece) const;

 private:
  static constexpr unsigned kLabelBits = 9;
  static constexpr std::uint32_t kNoLabel = 0x100;
  // A block without nodes; the base of childless nodes points to it.
  static constexpr std::uint32_t kEmptyBlock = 256;

  // The children of a node are at `base ^ byte`, all in one block of 256. Bases are unique, so the byte alone identifies the parent. 8
  // bytes, because the walk's speed depends on how many nodes fit the cache.
  struct Node {
    std::uint32_t base = kEmptyBlock;
    std::uint32_t label_and_id = kPiecesMax << kLabelBits | kNoLabel;

    std::uint32_t label() const { return label_and_id & ((1U << kLabelBits) - 1); }
    void set_label(std::uint32_t label) { label_and_id = label_and_id >> kLabelBits << kLabelBits | label; }
    void set_id(std::uint32_t id) { label_and_id = id << kLabelBits | label(); }
  };
  class Builder;

  std::vector<Node> nodes_;
};

}  // namespace footnote::nn
