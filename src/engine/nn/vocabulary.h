#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace footnote::nn {

/// The pieces of a WordPiece vocabulary (one per line of vocab.txt; the line number is the id) in a flat hash table. A piece that starts
/// with "##" continues a word and is looked up without that mark. Immutable and thread-safe.
class Vocabulary {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  enum class Place { kWordStart, kInsideWord };

  struct Match {
    std::uint32_t id = kNone;
    std::size_t bytes = 0;
  };

  /// kCorrupted: empty, not UTF-8, or more than 2^24 lines.
  static Result<Vocabulary> parse(std::string_view text);

  /// The same from pieces in the order of their ids. An empty piece is an unused id.
  static Result<Vocabulary> from_pieces(std::span<const std::string_view> pieces);

  /// The longest piece that is a prefix of `rest`; kNone when there is none.
  Match longest_prefix(std::string_view rest, Place place) const;

  /// The id of a whole line of the file, "##" included; kNone when it does not exist. Of equal lines the last wins.
  std::uint32_t find(std::string_view line) const;

  /// REQUIRES: id < size(). A view into this object.
  std::string_view piece(std::uint32_t id) const { return std::string_view(text_).substr(offsets_[id], offsets_[id + 1] - offsets_[id]); }
  std::size_t size() const { return offsets_.size() - 1; }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t id = kNone;
  };

  Vocabulary() = default;
  void insert(std::uint32_t id);
  std::uint32_t probe(std::uint64_t hash, std::string_view bytes, Place place) const;

  std::string text_;                    // All lines, concatenated.
  std::vector<std::uint32_t> offsets_;  // The start of each line, and the end of the last one.
  std::vector<Slot> slots_;             // Linear probing, at most half full.
  std::size_t piece_bytes_max_ = 0;
};

}  // namespace footnote::nn
