#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::bm25 {

/// Distinct terms in byte order, one after the other in one string. The number of a term is its place.
class TermTable {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// REQUIRES: after every term that was added before, in byte order.
  void append(std::string_view term) {
    text_.append(term);
    ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  }

  /// All terms in one, and where in it each ends.
  const std::string& text() const { return text_; }
  const std::vector<std::uint32_t>& ends() const { return ends_; }

  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

  std::size_t find(std::string_view term) const {
    std::size_t low = 0;
    std::size_t high = size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if ((*this)[middle] < term) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < size() && (*this)[low] == term ? low : kNone;
  }

 private:
  std::string text_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace footnote::bm25
