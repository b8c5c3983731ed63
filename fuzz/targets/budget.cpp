// Checks memory and time of the parsers, not only crashes. An input is a start and a part that is repeated until the text is as long as the
// smallest bombs; few inputs are that long by themselves.
#include <ctime>

#include <cstdlib>

#include "base/json_size.h"
#include "chunk/blocks.h"
#include "chunk/chunker.h"
#include "chunk/front_matter.h"
#include "chunk/parse.h"
#include "support/heap_meter.h"
#include "target.h"

namespace footnote {
namespace {

/// The goal for every document and request: 64 MB plus 20 bytes per byte of input. cmark's arena is not on the heap.
constexpr std::size_t kBaseBytes = 64u << 20;
constexpr std::size_t kPerByte = 20;
/// CPU seconds per MiB, and how much longer a sanitized parser may take.
constexpr double kSecondsPerMiB = 2;
constexpr double kSlack = 10;

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void parse(std::uint8_t choice, const std::string& text) {
  const auto chunked = [&](std::string_view key, chunk::Format format) {
    const auto document = chunk::parse_document(key, format, text);
    if (document) (void)chunk::chunk_document(*document);
  };
  switch (choice % 6) {
    case 0: return chunked("a.md", chunk::Format::kMarkdown);
    case 1: return chunked("a.html", chunk::Format::kHtml);
    case 2: return chunked("a.txt", chunk::Format::kPlainText);
    case 3: (void)chunk::parse_front_matter(chunk::normalise_text("---\n" + text)); return;
    case 4: (void)parse_request_json(text); return;
    default: (void)parse_json(text); return;
  }
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size < 4 || size > fuzz::kInputBytesMax) return 0;
  fuzz::Input input(data, size);
  const std::uint8_t choice = input.byte();
  const std::size_t bytes = std::size_t{16u << 10} << input.byte() % 7;  // up to 1 MiB
  // The share of the input that occurs only once, at the start.
  const std::size_t once = input.rest().size() * (input.byte() % 16) / 16;
  std::string text(input.rest().substr(0, std::min(once, input.rest().size())));
  const std::string_view repeated = input.rest().substr(text.size());
  if (repeated.empty()) return 0;
  while (text.size() < bytes) text += repeated;

  const double began = processor_seconds();
  const HeapMeter meter;
  parse(choice, text);
  const std::size_t arena = choice % 6 == 0 ? chunk::markdown_memory_max(text.size()) : 0;
  FOOTNOTE_ASSERT(meter.peak_bytes() <= kBaseBytes + kPerByte * text.size());
  FOOTNOTE_ASSERT(arena + 4 * text.size() <= kBaseBytes + kPerByte * text.size());
  // Measure time only on request: the suite does not judge speed.
  static const bool is_timed = std::getenv("FUZZ_TIMED") != nullptr;
  const double limit = kSlack * kSecondsPerMiB * (0.1 + static_cast<double>(text.size()) / (1u << 20));
  FOOTNOTE_ASSERT(!is_timed || processor_seconds() - began <= limit);
  return 0;
}
