#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/nn/chars_map.h"
#include "engine/nn/mapped_text.h"

namespace footnote::nn {

/// Applies a character map to part of a text, step by step, exactly as the reference does: a grapheme cluster of fewer than 6 bytes is
/// replaced as a whole by the replacement of the shortest key that it starts with; otherwise each of its characters is. Positions also
/// match the reference, including its flaw: characters removed before anything was written shift everything after them. Borrows the map and
/// the text.
class Normaliser {
 public:
  /// Normalises the bytes [begin, end) of `text`, as if nothing surrounded them.
  Normaliser(const CharsMap& map, std::string_view text, std::size_t begin, std::size_t end)
      : map_(map), text_(text.substr(0, end)), at_(begin), aligned_(begin) {}

  /// Appends to `out` until it has `bytes_wanted` or the text ends. It may change the position of the last character in `out`, so that must
  /// still be there.
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
  std::size_t aligned_;         // Everything before this has been used as a position.
  ByteRange previous_;          // The last position used.
  bool written_ = false;        // Something was written.
  bool last_is_extra_ = false;  // The last character written shares the position of the one before.
  std::size_t last_bytes_ = 0;  // Its size in bytes.
};

}  // namespace footnote::nn
