// Plain text files and their lines.
#include "chunk/blocks.h"
#include "targets/document_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const fuzz::Input input(data, size);
  fuzz::check_format(chunk::Format::kPlainText, "notes.txt", input);
  for (const TextRange& line : chunk::split_lines(chunk::normalise_text(input.rest()))) FOOTNOTE_ASSERT(line.size() > 0);
  return 0;
}
