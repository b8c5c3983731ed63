// A model's text on its way out: any slicing shows the same text, and no marker names a source that is not there.
#include <cstdint>
#include <cstdlib>

#include "answer/citation_filter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr int kSources = 4;
  footnote::answer::CitationFilter whole(kSources), sliced(kSources);
  std::string first = whole.feed(bytes) + whole.finish(), second;
  for (std::size_t at = 0; at < size; ++at) second += sliced.feed(bytes.substr(at, 1));
  second += sliced.finish();
  if (first != second || first != whole.text()) std::abort();
  for (const auto& marker : whole.markers()) {
    if (marker.number < 1 || marker.number > kSources || first[marker.offset] != '[') std::abort();
  }
  return 0;
}
