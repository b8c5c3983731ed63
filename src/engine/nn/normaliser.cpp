#include "engine/nn/normaliser.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace footnote::nn {
namespace {

// The reference looks up whole clusters only up to this size.
constexpr std::size_t kClusterBytesMax = 5;
// ASCII is processed in runs, limited like steps.
constexpr std::size_t kRunBytesMax = 4 << 10;

}  // namespace

Normaliser::Read Normaliser::read(std::size_t at) const {
  const auto byte = static_cast<unsigned char>(text_[at]);
  if (byte < 0x80) return {byte, at + 1};
  const char32_t code_point = next_code_point(text_, at);
  return {code_point, at};
}

void Normaliser::fill(std::size_t bytes_wanted, MappedText& out) {
  while (!done() && out.size() < bytes_wanted) {
    take_plain_ascii(out);
    if (!done()) take_cluster(out);
  }
}

// ASCII between ASCII is a cluster by itself, and most of most texts.
void Normaliser::take_plain_ascii(MappedText& out) {
  if (aligned_ != at_) return;
  const std::size_t stop = std::min(text_.size(), at_ + kRunBytesMax);
  std::size_t end = at_;
  while (end < stop && map_.is_plain_ascii(static_cast<unsigned char>(text_[end]))) ++end;
  // Marks may follow the last one.
  if (end < text_.size() && end > at_) --end;
  if (end == at_) return;
  out.add_one_by_one(text_.substr(at_, end - at_), at_);
  at_ = aligned_ = end;
  previous_ = {static_cast<std::uint32_t>(end - 1), static_cast<std::uint32_t>(end)};
  written_ = true;
  last_is_extra_ = false;
}

void Normaliser::take_cluster(MappedText& out) {
  const std::size_t begin = at_;
  const Read first = read(begin);
  const CharsMap::Entry entry = map_.entry(first.code_point);
  ClusterBreaker breaker(entry.break_class);
  at_ = first.end;
  std::size_t characters = 1;
  std::string_view whole;
  std::array<char, kClusterBytesMax + 4> bytes;
  std::size_t size = 0;
  while (at_ < text_.size()) {
    const Read next = read(at_);
    if (!breaker.joins(map_.entry(next.code_point).break_class)) break;
    if (characters == 1) size = encode_utf8(first.code_point, bytes.data());
    if (size <= kClusterBytesMax) size += encode_utf8(next.code_point, bytes.data() + size);
    ++characters;
    at_ = next.end;
  }
  if (characters == 1) {
    if (entry.mapped) {
      take_characters(begin, at_, out);
    } else {
      keep(begin, at_, first.code_point, out);
    }
    return;
  }
  if (size <= kClusterBytesMax) {
    whole = {bytes.data(), size};
    if (const auto by = map_.replacement_of(whole)) return replace(characters, *by, out);
  }
  take_characters(begin, at_, out);
}

void Normaliser::take_characters(std::size_t begin, std::size_t end, MappedText& out) {
  while (begin < end) {
    const Read next = read(begin);
    std::array<char, 4> bytes;
    if (map_.entry(next.code_point).mapped) {
      const std::size_t size = encode_utf8(next.code_point, bytes.data());
      replace(1, map_.replacement_of({bytes.data(), size}).value_or(std::string_view()), out);
    } else {
      keep(begin, next.end, next.code_point, out);
    }
    begin = next.end;
  }
}

ByteRange Normaliser::next_place() {
  const std::size_t begin = aligned_;
  aligned_ = read(begin).end;
  previous_ = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(aligned_)};
  return previous_;
}

void Normaliser::keep(std::size_t begin, std::size_t end, char32_t code_point, MappedText& out) {
  ByteRange place{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  if (aligned_ == begin) {
    aligned_ = end;
    previous_ = place;
  } else {
    place = next_place();
  }
  std::array<char, 4> bytes;
  if (code_point == kReplacementCharacter) {  // Possibly from a malformed byte.
    out.add({bytes.data(), encode_utf8(code_point, bytes.data())}, place);
  } else {
    out.add(text_.substr(begin, end - begin), place);
  }
  written_ = true;
  last_is_extra_ = false;
}

// Assigns positions like the reference. The new characters get the positions of the replaced ones, one by one. Surplus new characters share
// the last position. Surplus old positions are added to the preceding character, which then covers the first removed position if it had no
// position of its own.
void Normaliser::replace(std::size_t characters, std::string_view by, MappedText& out) {
  while (!by.empty()) {
    const std::size_t size = std::min(utf8_sequence_bytes(by.front()), by.size());
    last_is_extra_ = characters == 0;
    if (characters > 0) --characters;
    out.add(by.substr(0, size), last_is_extra_ ? previous_ : next_place());
    last_bytes_ = size;
    written_ = true;
    by.remove_prefix(size);
  }
  if (characters == 0 || !written_) return;
  const ByteRange removed = next_place();
  if (last_is_extra_) out.move_last(last_bytes_, removed);
  last_is_extra_ = false;
  while (--characters > 0) next_place();
}

}  // namespace footnote::nn
