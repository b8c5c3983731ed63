// A multipart/form-data body: the same parts come out whatever the pieces in which it arrives, in bounded memory.
#include "api/multipart.h"
#include "base/utf8.h"
#include "target.h"

namespace footnote {
namespace {

/// Everything that the parser says about a body, fed in pieces of this size.
std::string told(std::string_view body, std::size_t piece) {
  std::string out;
  std::size_t parts = 0;
  api::MultipartParser parser("XBX", {.begin = [&](const api::PartHead& head) -> Result<void> {
                                        FOOTNOTE_ASSERT(++parts <= api::kMultipartPartsMax);
                                        FOOTNOTE_ASSERT(is_valid_utf8(head.name) && is_valid_utf8(head.file_name));
                                        out += "(" + head.name + "|" + head.file_name + "|" + head.media_type + "|";
                                        return {};
                                      },
                                      .data = [&](std::string_view bytes) -> Result<void> {
                                        FOOTNOTE_ASSERT(!bytes.empty());
                                        out += bytes;
                                        return {};
                                      },
                                      .end = [&]() -> Result<void> {
                                        out += ")";
                                        return {};
                                      }});
  for (std::size_t at = 0; at < body.size(); at += piece) {
    if (const auto fed = parser.feed(body.substr(at, piece)); !fed) return out + "!" + std::string(to_string(fed.error().code));
  }
  return out + (parser.finish() ? "." : "?");
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string_view text = fuzz::as_text(data, size);
  const std::string whole = told(text, text.size() + 1);
  // An error may come earlier or later with the pieces, never another one; without one all is the same.
  if (whole.ends_with('.') || whole.ends_with('?')) {
    for (const std::size_t piece : {1U, 2U, 7U, 64U}) FOOTNOTE_ASSERT(told(text, piece) == whole);
  }
  const auto boundary = api::multipart_boundary(text);
  if (boundary) FOOTNOTE_ASSERT(!boundary->empty() && boundary->size() <= api::kMultipartBoundaryBytesMax);
  return 0;
}
