// Files of every format that is read in this process, detected by content or by a suffix that the second byte selects: the result has the
// properties of every document. PDF is read by a child process, so not here.
#include "formats/read.h"

#include <array>

#include "formats/encoding.h"
#include "formats/magic.h"
#include "targets/document_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  constexpr std::array<std::string_view, 16> kNames = {"a.csv",  "a.tsv", "a.json", "a.jsonl", "a.yaml", "a.toml", "a.ipynb", "a.rst",
                                                       "a.adoc", "a.cpp", "a.py",   "a.sql",   "a.txt",  "a.html", "a.xyz",   "a"};
  if (size > fuzz::kInputBytesMax || size < 2) return 0;
  fuzz::Input input(data, size);
  const chunk::ChunkOptions options = fuzz::chunk_options(input.byte());
  const std::string_view name = kNames[input.byte() % kNames.size()];
  const std::string_view bytes = input.rest();
  FOOTNOTE_ASSERT(is_valid_utf8(formats::decode(bytes).text));
  const auto format = formats::detect(name, bytes);
  if (format && *format == formats::Format::kPdf) return 0;
  const auto document = formats::read_document(name, {}, bytes);
  if (!document) {
    const ErrorCode code = document.error().code;
    FOOTNOTE_ASSERT(code == ErrorCode::kUnsupported || code == ErrorCode::kTooLarge);
    FOOTNOTE_ASSERT(!document.error().message.empty() && is_valid_utf8(document.error().message));
    return 0;
  }
  fuzz::check_document(*document, options);
  return 0;
}
