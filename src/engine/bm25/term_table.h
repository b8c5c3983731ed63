#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace footnote::bm25 {

/// Distinct terms sorted by bytes, concatenated in one string. A term's number is its index.
class TermTable {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  TermTable() = default;
  /// Restores a table from text() and ends(). REQUIRES: terms sorted by bytes, none empty or duplicate.
  TermTable(std::string text, std::vector<std::uint32_t> ends) : text_(std::move(text)), ends_(std::move(ends)) {
    for (std::size_t i = 0; i < ends_.size(); i += kStride) keys_.push_back(key_of((*this)[i]));
  }

  /// REQUIRES: the term sorts after all terms added before.
  void append(std::string_view term) {
    if (ends_.size() % kStride == 0) keys_.push_back(key_of(term));
    text_.append(term);
    ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  }

  /// All terms concatenated, and the end offset of each.
  const std::string& text() const { return text_; }
  const std::vector<std::uint32_t>& ends() const { return ends_; }

  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  /// The first term >= that text, or size().
  std::size_t lower_bound(std::string_view term) const {
    // The keys of every kStride-th term narrow the search to one stride; only there are texts compared.
    const auto [first, last] = std::ranges::equal_range(keys_, key_of(term));
    std::size_t low = first == keys_.begin() ? 0 : static_cast<std::size_t>(first - keys_.begin() - 1) * kStride;
    std::size_t high = std::min(size(), static_cast<std::size_t>(last - keys_.begin()) * kStride);
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if ((*this)[middle] < term) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::size_t find(std::string_view term) const {
    const std::size_t at = lower_bound(term);
    return at < size() && (*this)[at] == term ? at : kNone;
  }

 private:
  static constexpr std::size_t kStride = 32;

  /// The first eight bytes as a big-endian number, zero-padded: it sorts like the text.
  static std::uint64_t key_of(std::string_view term) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, term.data(), std::min(term.size(), sizeof bytes));
    return std::byteswap(bytes);
  }

  std::string text_;
  std::vector<std::uint32_t> ends_;
  std::vector<std::uint64_t> keys_;  // Keys of every kStride-th term.
};

}  // namespace footnote::bm25
