// A .gitignore and a path to decide on.
#include "ingest/ignore_file.h"

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  // The first line is the path.
  const std::string_view input = fuzz::as_text(data, size);
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view path = input.substr(0, end);
  const auto file = ingest::IgnoreFile::parse(input.substr(std::min(end + 1, input.size())));
  if (!file) return 0;
  FOOTNOTE_ASSERT(file->size() <= ingest::kIgnorePatternsMax);
  const auto of_file = file->verdict(path, false);
  const auto of_folder = file->verdict(path, true);
  FOOTNOTE_ASSERT(file->size() > 0 || (!of_file && !of_folder));
  // Folder-only patterns apply in addition to the others: if a file has a verdict, so does a folder.
  FOOTNOTE_ASSERT(!of_file || of_folder);
  return 0;
}
