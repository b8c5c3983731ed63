// CSV files of curated answers, page URLs, and folded words.
#include "base/csv.h"
#include "api/curated_routes.h"
#include "base/fold_words.h"
#include "base/page_url.h"
#include "base/utf8.h"
#include "target.h"

namespace footnote {
namespace {

void check_records(std::string_view text) {
  constexpr std::size_t kRecordsMax = 1'000;
  const auto records = parse_csv(text, kRecordsMax);
  if (!records) return;
  std::size_t line = 0;
  for (const CsvRecord& record : *records) {
    FOOTNOTE_ASSERT(record.line > line && !record.fields.empty());
    line = record.line;
  }
}

void check_answers(std::string_view text) {
  const auto answers = api::parse_curated_csv(text);
  if (!answers) return;
  for (const CuratedAnswer& answer : *answers) FOOTNOTE_ASSERT(check_curated_answer(answer).has_value());
}

/// Folding a folded text changes nothing.
void check_folding(std::string_view text) {
  const std::string folded = fold_words(text);
  FOOTNOTE_ASSERT(is_valid_utf8(folded) && fold_words(folded) == folded);
  FOOTNOTE_ASSERT(!folded.starts_with(' ') && !folded.ends_with(' ') && folded.find("  ") == std::string::npos);
  if (const auto page = canonical_url(text)) FOOTNOTE_ASSERT(canonical_url(*page) == page && is_page_under(*page, *page));
}

}  // namespace
}  // namespace footnote

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace footnote;
  if (size > fuzz::kInputBytesMax) return 0;
  const std::string_view text = fuzz::as_text(data, size);
  check_records(text);
  check_answers(text);
  check_folding(text);
  return 0;
}
