#include "answer/citation_filter.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace footnote::answer {

namespace {

/// Longer numbers are years and the like, not markers.
constexpr int kMarkerMax = 99;
constexpr int kNotAMarker = 1000;

bool may_stand_in_marker(char c) { return is_ascii_digit(c) || c == ',' || c == ';' || c == '-' || c == ' '; }

/// The numbers of "[1, 3-4]", in order; empty if it is not a marker.
std::vector<int> numbers_of(std::string_view marker) {
  std::vector<int> numbers;
  bool range = false;
  for (std::size_t at = 0; at < marker.size();) {
    if (!is_ascii_digit(marker[at])) {
      range = range || marker[at] == '-';
      ++at;
      continue;
    }
    int number = 0;
    while (at < marker.size() && is_ascii_digit(marker[at])) number = std::min(number * 10 + (marker[at++] - '0'), kNotAMarker);
    if (number > kMarkerMax) return {};
    if (range && !numbers.empty()) {
      for (int next = numbers.back() + 1; next < number; ++next) numbers.push_back(next);
    }
    range = false;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

void CitationFilter::emit(std::string_view text, std::string& out) {
  text_ += text;
  out += text;
}

void CitationFilter::release(std::string& out) {
  const std::string held = std::exchange(held_, {});
  const std::size_t shown = std::min(held.find('['), held.size() - 1) + 1;
  depth_ = 0;
  emit(std::string_view(held).substr(0, shown), out);
  // The first bracket did not open a marker, but one may follow it: "[[9] x".
  for (char c : std::string_view(held).substr(shown)) take_any(c, out);
}

void CitationFilter::resolve_marker(std::string& out) {
  const std::vector<int> numbers = numbers_of(held_);
  if (numbers.empty()) return release(out);
  const bool space_before = held_.front() == ' ';
  held_.clear();
  bool first = true;
  for (int number : numbers) {
    if (number < 1 || number > source_count_ || markers_.size() == kMarkersMax) continue;
    if (first && space_before) emit(" ", out);
    first = false;
    markers_.push_back({number, text_.size()});
    emit(fmt::format("[{}]", number), out);
  }
}

void CitationFilter::take_held(char c, std::string& out) {
  if (depth_ == 0) {  // only a space is held
    if (c == '[') {
      held_.push_back(c);
      depth_ = 1;
      return;
    }
    release(out);
    return take_any(c, out);
  }
  const bool has_room = held_.size() < kHeldBytesMax;
  if (c == '[' && held_.back() == '[' && has_room) {
    held_.push_back(c);
    ++depth_;
  } else if (c == ']' && (has_room || depth_ == 1)) {
    held_.push_back(c);
    if (--depth_ == 0) resolve_marker(out);
  } else if (may_stand_in_marker(c) && has_room) {
    held_.push_back(c);
  } else {
    release(out);
    take_any(c, out);
  }
}

void CitationFilter::follow_code(char c) {
  if (c == '`') {
    ++ticks_;
    return;
  }
  if (ticks_ >= 3) {
    in_fence_ = !in_fence_;
    span_ticks_ = 0;
  } else if (ticks_ > 0 && !in_fence_) {
    if (span_ticks_ == 0) {
      span_ticks_ = ticks_;
    } else if (span_ticks_ == ticks_) {
      span_ticks_ = 0;
    }
  }
  ticks_ = 0;
  if (c == '\n') span_ticks_ = 0;
}

void CitationFilter::take(char c, std::string& out) {
  follow_code(c);
  if (!in_fence_ && span_ticks_ == 0 && (c == ' ' || c == '[')) {
    held_.push_back(c);
    depth_ = c == '[' ? 1 : 0;
    return;
  }
  emit(std::string_view(&c, 1), out);
}

void CitationFilter::take_any(char c, std::string& out) { held_.empty() ? take(c, out) : take_held(c, out); }

std::string CitationFilter::feed(std::string_view piece) {
  std::string out;
  for (char c : piece) take_any(c, out);
  return out;
}

std::string CitationFilter::finish() {
  std::string out;
  while (!held_.empty()) release(out);
  return out;
}

}  // namespace footnote::answer
