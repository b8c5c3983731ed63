#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "engine/nn/tokenizer.h"

namespace footnote::nn {

/// Text being prepared for a model, with the original position of each byte. Well-formed UTF-8.
class MappedText {
 public:
  std::string_view bytes() const { return {bytes_.get(), size_}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// The original character of a byte. REQUIRES: at < size().
  ByteRange range(std::size_t at) const { return ranges_[at]; }

  void clear() { size_ = 0; }

  void add(std::string_view text, ByteRange range) {
    make_room(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      bytes_[size_ + i] = text[i];
      ranges_[size_ + i] = range;
    }
    size_ += text.size();
  }

  /// Appends bytes that correspond one to one to the original bytes from `place` on.
  void add_one_by_one(std::string_view text, std::size_t place) {
    make_room(text.size());
    std::memcpy(bytes_.get() + size_, text.data(), text.size());
    auto begin = static_cast<std::uint32_t>(place);
    for (std::size_t i = 0; i < text.size(); ++i, ++begin) ranges_[size_ + i] = {begin, begin + 1};
    size_ += text.size();
  }

  /// Appends the bytes [begin, end) of another text.
  void add(const MappedText& other, std::size_t begin, std::size_t end) {
    make_room(end - begin);
    std::memcpy(bytes_.get() + size_, other.bytes_.get() + begin, end - begin);
    std::copy(other.ranges_.get() + begin, other.ranges_.get() + end, ranges_.get() + size_);
    size_ += end - begin;
  }

  void remove_prefix(std::size_t count) {
    if (count == 0) return;
    std::memmove(bytes_.get(), bytes_.get() + count, size_ - count);
    std::move(ranges_.get() + count, ranges_.get() + size_, ranges_.get());
    size_ -= count;
  }

  /// Changes the origin of the last bytes. REQUIRES: count <= size().
  void move_last(std::size_t count, ByteRange range) { std::fill_n(ranges_.get() + (size_ - count), count, range); }

 private:
  static constexpr std::size_t kCapacityLeast = 256;

  void make_room(std::size_t count) {
    if (capacity_ - size_ < count) grow(count);
  }
  void grow(std::size_t count) {
    capacity_ = std::max(kCapacityLeast, (size_ + count) * 2);
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity_);
    auto ranges = std::make_unique_for_overwrite<ByteRange[]>(capacity_);
    std::copy_n(bytes_.get(), size_, bytes.get());
    std::copy_n(ranges_.get(), size_, ranges.get());
    bytes_ = std::move(bytes);
    ranges_ = std::move(ranges);
  }

  // Allocated by hand: a std::vector would initialise every byte before it is written.
  std::unique_ptr<char[]> bytes_;
  std::unique_ptr<ByteRange[]> ranges_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace footnote::nn
