#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/nn/chars_map.h"
#include "engine/nn/mapped_text.h"

namespace footnote::nn {

/// Applies a character map to part of a text, step by step, exactly as the reference does. A grapheme cluster of fewer than 6 bytes is
/// replaced as a whole if the map has a key that it starts with (the shortest one); otherwise each of its characters is replaced. Positions
/// also match the reference, including its bug: characters removed before anything was written shift all later positions. Borrows the map
/// and the text.
class Normaliser {
 public:
  /// Normalises the bytes [begin, end) of `text`, as if nothing surrounded them.
  Normaliser(const CharsMap& map, std::string_view text, std::size_t begin, std::size_t end)
      : map_(map), text_(text.substr(0, end)), at_(begin), aligned_(begin) {}

  /// Appends to `out` until it has `bytes_wanted` or the text ends. May change the position of the last character in `out`, so do not
  /// remove that before.
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
  std::size_t at_;              // Everything before this is read.
  std::size_t aligned_;         // Everything before this has been assigned a position.
  ByteRange previous_;          // The last assigned position.
  bool written_ = false;        // True once a character was written.
  bool last_is_extra_ = false;  // The last character written has the same position as the one before it.
  std::size_t last_bytes_ = 0;  // Size of the last character written.
};

}  // namespace footnote::nn
