// HTML pages: what a reader would see, whatever the markup.
#include "engine/html/extract.h"
#include "engine/html/guard.h"
#include "targets/document_properties.h"

namespace footnote {
namespace {

void check_page(std::string_view bytes, html::Region region) {
  const auto page = html::extract(bytes, {.region = region});
  FOOTNOTE_ASSERT(page.has_value());
  for (const std::string* text : {&page->text, &page->title, &page->language, &page->canonical_url, &page->description}) {
    FOOTNOTE_ASSERT(is_valid_utf8(*text) && text->find_first_of(std::string_view("\r\0", 2)) == std::string::npos);
  }
  FOOTNOTE_ASSERT(page->language.size() <= html::kLanguageBytesMax);
  FOOTNOTE_ASSERT(page->canonical_url.find_first_of(" \t\n") == std::string::npos);
  // A malformed byte becomes three, and each block may add its marks.
  FOOTNOTE_ASSERT(page->text.size() <= 4 * bytes.size() + 64);
  std::size_t last = 0;
  for (const html::Block& block : page->blocks) {
    FOOTNOTE_ASSERT(fuzz::is_range_of({block.begin, block.end}, page->text) && block.begin >= last && block.begin < block.end);
    FOOTNOTE_ASSERT(fuzz::only_spaces(page->text, last, block.begin));
    last = block.end;
  }
  FOOTNOTE_ASSERT(fuzz::only_spaces(page->text, last, page->text.size()));
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  fuzz::Input input(data, size);
  fuzz::check_format(chunk::Format::kHtml, "page.html", input);
  input.byte();
  check_page(input.rest(), html::Region::kContent);
  check_page(input.rest(), html::Region::kBody);
  const std::string safe = html::guarded(input.rest()).html;
  FOOTNOTE_ASSERT(is_valid_utf8(safe) && html::guarded(safe).html == safe);
  return 0;
}
