#include "chunk/sentences.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "chunk/lines.h"
#include "chunk/stops.h"

namespace footnote::chunk {

namespace {

/// A block whose longest line is shorter than this was not wrapped by an editor.
constexpr std::size_t kWrapColumnMin = 40;
/// Wrapped lines end this close to the wrap column, else the next word would have fitted.
constexpr std::size_t kWrapSlack = 6;
/// A line that starts in lower case continues the previous one, unless that is as short as a label.
constexpr std::size_t kContinuedBytesMin = 20;

struct Line {
  TextRange range;  ///< Trimmed.
  LineKind kind = LineKind::kBlank;
  std::size_t indent = 0;
};

Line read_line(std::string_view text, TextRange whole) {
  const TextRange range = trimmed(text, whole);
  return {range, classify_line(text.substr(whole.begin, whole.size())), range.begin - whole.begin};
}

std::size_t first_word_bytes(std::string_view line) { return std::min(line.find_first_of(" \t"), line.size()); }

/// Groups lines into runs of text, and splits each run into sentences.
class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text), lines_(text, 0) {}

  std::vector<TextRange> run() {
    bool in_fence = false;
    for (int i = 0; i < lines_.count(); ++i) {
      const Line line = read_line(text_, lines_.line(i));
      if (line.kind == LineKind::kFence) in_fence = !in_fence;
      if (line.kind == LineKind::kBlank) {
        end_run();
        wrap_column_ = 0;
      } else if (in_fence || line.kind == LineKind::kFence || is_unit(line.kind)) {
        end_run();
        out_.push_back(line.range);
      } else {
        prose_line(line, i);
      }
    }
    end_run();
    return std::move(out_);
  }

 private:
  static bool is_unit(LineKind kind) { return kind == LineKind::kHeading || kind == LineKind::kTableRow || kind == LineKind::kRule; }

  void prose_line(const Line& line, int index) {
    if (wrap_column_ == 0) wrap_column_ = longest_line(index);
    if (run_.size() != 0 && !continues(line)) end_run();
    if (run_.size() == 0) {
      run_ = line.range;
      run_is_item_ = line.kind == LineKind::kListItem;
    }
    run_.end = line.range.end;
    last_ = line;
  }

  /// The longest line from here to the next blank one: the author's wrap column.
  std::size_t longest_line(int index) const {
    std::size_t longest = 1;
    for (; index < lines_.count(); ++index) {
      const TextRange range = trimmed(text_, lines_.line(index));
      if (range.size() == 0) break;
      longest = std::max(longest, range.end - lines_.line(index).begin);
    }
    return longest;
  }

  /// True if `line` continues the sentence of the line before it.
  bool continues(const Line& line) const {
    if (line.kind == LineKind::kListItem) return false;
    const bool both_quoted = line.kind == LineKind::kQuote && last_.kind == LineKind::kQuote;
    if (line.kind != last_.kind && line.kind == LineKind::kQuote) return false;
    if (run_is_item_ && line.indent >= 2) return true;
    std::string_view next = view(line.range);
    if (both_quoted) next.remove_prefix(std::min(next.find_first_not_of("> "), next.size()));
    const std::string_view before = view(last_.range);
    const char tail = before.back();
    if (tail == ',') return true;
    if (std::string_view(";{}=\\").find(tail) != std::string_view::npos) return false;
    if (starts_in_lower_case(next) && before.size() >= kContinuedBytesMin) return true;
    if (wrap_column_ < kWrapColumnMin) return false;
    return last_.indent + before.size() + 1 + first_word_bytes(next) + kWrapSlack > wrap_column_;
  }

  static bool starts_in_lower_case(std::string_view text) {
    std::size_t at = 0;
    return !text.empty() && u_islower(static_cast<UChar32>(next_code_point(text, at)));
  }

  /// Splits the collected run at its full stops.
  void end_run() {
    if (run_.size() == 0) return;
    const std::string_view run = view(run_);
    std::size_t begin = 0;
    for (const std::size_t end : find_stops(run)) {
      push(run_.begin + begin, run_.begin + end);
      begin = end;
    }
    push(run_.begin + begin, run_.end);
    run_ = {};
  }

  void push(std::size_t begin, std::size_t end) {
    const TextRange range = trimmed(text_, {begin, end});
    if (range.size() != 0) out_.push_back(range);
  }

  std::string_view view(TextRange range) const { return text_.substr(range.begin, range.size()); }

  const std::string_view text_;
  const LineIndex lines_;
  std::vector<TextRange> out_;
  TextRange run_;
  Line last_;
  bool run_is_item_ = false;
  std::size_t wrap_column_ = 0;
};

}  // namespace

std::vector<TextRange> split_sentences(std::string_view text) { return Splitter(text).run(); }

std::vector<TextRange> split_lines(std::string_view text) {
  std::vector<TextRange> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const TextRange range = trimmed(text, {at, end});
    if (range.size() != 0) out.push_back(range);
    at = end + 1;
  }
  return out;
}

}  // namespace footnote::chunk
