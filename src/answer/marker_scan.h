#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace footnote::answer {

/// Finds `[n]` and `[n, m]` in a streamed text without changing it.
class MarkerScan {
 public:
  explicit MarkerScan(std::size_t source_count) : source_count_(source_count) {}

  struct Mark {
    std::size_t source = 0;      ///< Number of the source, from 1.
    std::size_t begin = 0;       ///< Start of the bracket, in code points of the whole text.
    std::size_t end = 0;         ///< End of the bracket, in code points.
    std::size_t byte_begin = 0;  ///< Byte offset of the bracket.
  };
  void feed(std::string_view text);
  const std::vector<Mark>& marks() const { return marks_; }

  /// Markers past this bound are ignored.
  static constexpr std::size_t kMarksMax = 1'000;

 private:
  void take(char c);

  const std::size_t source_count_;
  std::size_t position_ = 0;  // code points before the next byte
  std::size_t bytes_ = 0;     // bytes before the next byte
  Mark open_;                 // only the begin fields are set
  bool is_open_ = false;
  std::string inside_;
  std::vector<Mark> marks_;
};

}  // namespace footnote::answer
