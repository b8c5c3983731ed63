#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace footnote::answer {

/// A marker of the filtered text.
struct Marker {
  int number = 0;
  std::size_t offset = 0;  ///< Offset of its "[" in the filtered text.
};

/// Filters a streamed model answer and normalizes its citation markers: `[2]`, `[1, 2]`, `[[1]]` and `[1-3]` become `[2]`, `[1][2]`, `[1]`,
/// `[1][2][3]`; numbers that no source has are dropped. A marker may be split across pieces. Code between backticks is left alone, and so
/// are brackets that hold anything but small numbers.
class CitationFilter {
 public:
  explicit CitationFilter(int source_count) : source_count_(source_count) {}

  /// Takes the next piece and returns what can be shown now. Holds back at most kHeldBytesMax bytes.
  std::string feed(std::string_view piece);
  /// Returns what was held back; call when the text is complete.
  std::string finish();

  const std::vector<Marker>& markers() const { return markers_; }
  /// The filtered text so far.
  const std::string& text() const { return text_; }

  static constexpr std::size_t kHeldBytesMax = 48;
  /// Markers past this many are dropped.
  static constexpr std::size_t kMarkersMax = 1'000;

 private:
  void take_any(char c, std::string& out);
  void take(char c, std::string& out);
  void follow_code(char c);
  void take_held(char c, std::string& out);
  void resolve_marker(std::string& out);
  void release(std::string& out);
  void emit(std::string_view text, std::string& out);

  const int source_count_;
  std::string text_;
  std::string held_;  ///< A space that may precede a dropped marker, then an unfinished marker.
  int depth_ = 0;     ///< Open brackets of the unfinished marker.
  // Code: a fence of three backticks lasts until the next one; a span ends with as many backticks as it began with, or at the end of its
  // line, so that a stray backtick does not disable the filter for the rest of the text.
  int ticks_ = 0;
  int span_ticks_ = 0;
  bool in_fence_ = false;
  std::vector<Marker> markers_;
};

}  // namespace footnote::answer
