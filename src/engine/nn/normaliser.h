#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/nn/chars_map.h"
#include "engine/nn/mapped_text.h"

namespace footnote::nn {

/// Applies a character map to a part of a text, step by step, as the reference does: a grapheme cluster of fewer than 6
/// bytes is replaced whole by what the shortest key at its head stands for; else its characters are, one by one. Places
/// are the reference's too, with their flaw: characters removed before anything was written shift all that follows.
/// Borrows the map and the text.
class Normaliser {
 public:
  /// Of `text`, the bytes [begin, end) are normalised, as if nothing were around them.
  Normaliser(const CharsMap& map, std::string_view text, std::size_t begin, std::size_t end)
      : map_(map), text_(text.substr(0, end)), at_(begin), aligned_(begin) {}

  /// Appends to `out` until it has `bytes_wanted` or the text is at its end. What was the last character of `out`
  /// before may have moved, so it must still be there.
  void fill(std::size_t bytes_wanted, MappedText& out);
  bool done() const { return at_ >= text_.size(); }

 private:
  struct Read {
    char32_t code_point;
    std::size_t end;
  };

  Read read(std::size_t at) const;
  void take_plain_ascii(MappedText& out);
  void take_cluster(MappedText& out);
  void take_characters(std::size_t begin, std::size_t end, MappedText& out);
  void replace(std::size_t characters, std::string_view by, MappedText& out);
  void keep(std::size_t begin, std::size_t end, char32_t code_point, MappedText& out);
  ByteRange next_place();

  const CharsMap& map_;
  const std::string_view text_;
  std::size_t at_;              // Everything before is read.
  std::size_t aligned_;         // Everything before has been given as a place.
  ByteRange previous_;          // The last place given.
  bool written_ = false;        // Something was.
  bool last_is_extra_ = false;  // The last character written has the place of the one before.
  std::size_t last_bytes_ = 0;  // How many it has.
};

}  // namespace footnote::nn
