// Text and CSV files, and files whose format is found by looking at them.
#include "chunk/blocks.h"
#include "targets/document_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const fuzz::Input input(data, size);
  fuzz::check_format(chunk::Format::kPlainText, "notes.txt", input);
  fuzz::check_format(chunk::Format::kCsv, "table.csv", input);
  const auto format = chunk::detect("README", input.rest());
  if (format) {
    // What counts as text by its look must read as text.
    FOOTNOTE_ASSERT(chunk::parse_document("README", *format, input.rest()).has_value());
    FOOTNOTE_ASSERT(chunk::format_of_media_type(chunk::media_type(*format)) == *format);
  } else {
    FOOTNOTE_ASSERT(format.error().code == ErrorCode::kUnsupported);
  }
  for (const TextRange& line : chunk::split_lines(chunk::normalise_text(input.rest()))) FOOTNOTE_ASSERT(line.size() > 0);
  return 0;
}
