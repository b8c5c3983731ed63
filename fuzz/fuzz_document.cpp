// Documents of every format: parse, chunk, split into sentences; ranges must hold what the headers promise.
#include <cstdint>
#include <cstdlib>

#include "base/utf8.h"
#include "chunk/chunker.h"
#include "chunk/parse.h"
#include "chunk/sentences.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using footnote::chunk::Format;
  constexpr Format kFormats[] = {Format::kMarkdown, Format::kHtml, Format::kPlainText, Format::kCsv};
  const std::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto document = footnote::chunk::parse_document("fuzz.md", kFormats[data[0] % 4], content);
  if (!document) return 0;
  if (!footnote::is_valid_utf8(document->text)) std::abort();
  for (const auto& piece : footnote::chunk::chunk_document(*document)) {
    if (piece.range.end > document->text.size() || piece.range.begin > piece.range.end) std::abort();
    if (document->text.substr(piece.range.begin, piece.range.size()) != piece.text) std::abort();
    if (!footnote::is_valid_utf8(piece.text)) std::abort();
  }
  std::size_t last = 0;
  for (const auto& sentence : footnote::chunk::split_sentences(document->text)) {
    if (sentence.begin < last || sentence.end <= sentence.begin || sentence.end > document->text.size()) std::abort();
    last = sentence.end;
  }
  return 0;
}
