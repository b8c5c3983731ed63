#include "http/sse_parser.h"

#include <utility>

namespace footnote::http {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Result<std::vector<SseEvent>> SseParser::feed(std::string_view bytes) {
  std::vector<SseEvent> events;
  while (!bytes.empty()) {
    if (failed_) return fail(ErrorCode::kTooLarge, "the event stream was abandoned: a line or event is too long");
    if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_cr_ = false;
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() > kSseLineBytesMax) {
      failed_ = true;
      return fail(ErrorCode::kTooLarge, "a line of the event stream is longer than {} bytes", kSseLineBytesMax);
    }
    line_ += piece;
    if (end == std::string_view::npos) break;
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    FOOTNOTE_CHECK(take_line(line_, events));
    line_.clear();
  }
  return events;
}

Result<void> SseParser::take_line(std::string_view line, std::vector<SseEvent>& events) {
  if (std::exchange(first_line_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    if (has_data_) {
      event_.data.pop_back();
      if (event_.event.empty()) event_.event = "message";
      events.push_back(event_);
    }
    event_.event.clear();
    event_.data.clear();
    has_data_ = false;
    return {};
  }
  const std::size_t colon = line.find(':');
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
  if (event_.data.size() > kSseEventBytesMax) {
    failed_ = true;
    return fail(ErrorCode::kTooLarge, "an event of the stream is longer than {} bytes", kSseEventBytesMax);
  }
  return {};
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    event_.data += value;
    event_.data += '\n';
    has_data_ = true;
  } else if (name == "event") {
    event_.event = value;
  } else if (name == "id" && value.size() <= kSseIdBytesMax && value.find('\0') == std::string_view::npos) {
    event_.id = value;
  }
}

}  // namespace footnote::http
