// Markdown files: front matter, cmark, the line splitter that replaces it, wiki links, chunks.
#include "chunk/blocks.h"
#include "targets/document_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  fuzz::Input input(data, size);
  fuzz::check_format(chunk::Format::kMarkdown, "guides/a.md", input);
  input.byte();
  const std::string text = chunk::normalise_text(input.rest());
  fuzz::check_blocks(text, 7, chunk::markdown_blocks_by_lines(text, 7));
  fuzz::check_blocks(text, 7, *chunk::markdown_blocks(text, 7));
  return 0;
}
