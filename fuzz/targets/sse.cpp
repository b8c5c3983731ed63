// Event streams from upstreams: any slicing gives the same events, and the output is at most a small multiple of the input.
#include "http/sse_parser.h"

#include "target.h"

namespace footnote {
namespace {

struct Outcome {
  std::vector<http::SseEvent> events;
  bool failed = false;

  bool operator==(const Outcome&) const = default;
};

Outcome read(const std::vector<std::string_view>& pieces) {
  http::SseParser parser;
  Outcome out;
  for (const std::string_view piece : pieces) {
    auto events = parser.feed(piece);
    if (!events) {
      FOOTNOTE_ASSERT(events.error().code == ErrorCode::kTooLarge);
      FOOTNOTE_ASSERT(!parser.feed("data: x\n\n").has_value());
      out.failed = true;
      return out;
    }
    out.events.insert(out.events.end(), events->begin(), events->end());
  }
  return out;
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string_view bytes = fuzz::as_text(data, size);
  const Outcome sliced = read(fuzz::random_pieces(bytes));
  const Outcome whole = read({bytes});
  FOOTNOTE_ASSERT(whole.failed == sliced.failed);
  FOOTNOTE_ASSERT(whole.failed || whole.events == sliced.events);
  std::size_t out_bytes = 0, data_bytes = 0;
  for (const http::SseEvent& event : sliced.events) {
    FOOTNOTE_ASSERT(!event.event.empty() && event.event.find_first_of("\r\n") == std::string::npos);
    FOOTNOTE_ASSERT(event.data.find('\r') == std::string::npos);
    FOOTNOTE_ASSERT(event.id.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
    out_bytes += event.id.size();
    data_bytes += event.data.size();
  }
  FOOTNOTE_ASSERT(data_bytes <= size);
  // "data\n\n" is the shortest event, and each event repeats the stream's last id.
  FOOTNOTE_ASSERT(out_bytes <= (size / 6 + 1) * http::kSseIdBytesMax);
  return 0;
}
