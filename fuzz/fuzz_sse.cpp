// Event streams from upstreams: any slicing gives the same events.
#include <cstdint>
#include <cstdlib>

#include "http/sse_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  footnote::http::SseParser whole;
  const auto expected = whole.feed(bytes);
  footnote::http::SseParser sliced;
  std::vector<footnote::http::SseEvent> events;
  for (std::size_t at = 0; at < size; ++at) {
    const auto more = sliced.feed(bytes.substr(at, 1));
    if (!more) return 0;
    events.insert(events.end(), more->begin(), more->end());
  }
  if (expected && events != *expected) std::abort();
  return 0;
}
