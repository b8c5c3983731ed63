// The scanner for secrets in a document's text.
#include "ingest/secret_scan.h"

#include "base/utf8.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string text = repair_utf8(fuzz::as_text(data, size));
  const auto found = ingest::find_secrets(text);
  std::size_t end = 0;
  for (const ingest::Secret& secret : found) {
    FOOTNOTE_ASSERT(secret.range.begin >= end && secret.range.begin < secret.range.end && secret.range.end <= text.size());
    end = secret.range.end;
  }
  std::string masked = text;
  ingest::mask(masked, found);
  FOOTNOTE_ASSERT(masked.size() == text.size() && is_valid_utf8(masked));
  return 0;
}
