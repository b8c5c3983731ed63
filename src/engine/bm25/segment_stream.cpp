#include "engine/bm25/segment_stream.h"

#include <algorithm>
#include <functional>

namespace footnote::bm25 {

namespace {

std::unexpected<Error> cant_be(std::string_view what) { return fail(ErrorCode::kCorrupted, "invalid {} in a segment", what); }

Result<TermTable> read_terms(ByteSource& source, std::uint32_t count) {
  FOOTNOTE_TRY(std::string text, source.take_text());
  FOOTNOTE_TRY(auto ends, source.take_all<std::uint32_t>(count));
  std::string_view last;
  std::size_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end <= begin || end > text.size()) return cant_be("terms");
    const std::string_view term = std::string_view(text).substr(begin, end - begin);
    if (term <= last) return cant_be("order of terms");
    last = term;
    begin = end;
  }
  if (begin != text.size()) return cant_be("terms");
  return TermTable(std::move(text), std::move(ends));
}

bool are_lists(const Segment& segment) {
  for (std::size_t term = 0; term < segment.terms.size(); ++term) {
    const auto bytes = std::span(segment.lists).subspan(segment.begins[term], segment.begins[term + 1] - segment.begins[term]);
    if (!check_list(bytes, segment.lengths)) return false;
  }
  return true;
}

}  // namespace

Result<void> write_segment(ByteSink& sink, const Segment& segment) {
  FOOTNOTE_CHECK(rows::write_rows(sink, segment.rows));
  FOOTNOTE_CHECK(sink.put_all<LengthCode>(segment.lengths));
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(segment.terms.size())));
  FOOTNOTE_CHECK(sink.put_text(segment.terms.text()));
  FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment.terms.ends()));
  FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment.begins));
  return sink.put_all<std::uint8_t>(segment.lists);
}

Result<std::shared_ptr<Segment>> read_segment(ByteSource& source, const rows::RowLimits& limits) {
  FOOTNOTE_TRY(const auto rows, rows::read_rows(source, limits));
  auto segment = std::make_shared<Segment>(rows);
  FOOTNOTE_TRY(segment->lengths, source.take_all<LengthCode>(rows.size()));
  FOOTNOTE_TRY(const auto terms, source.take<std::uint32_t>());
  FOOTNOTE_TRY(segment->terms, read_terms(source, terms));
  FOOTNOTE_TRY(segment->begins, source.take_all<std::uint32_t>(std::uint64_t{terms} + 1));
  const bool ascending = std::ranges::adjacent_find(segment->begins, std::greater_equal{}) == segment->begins.end();
  if (segment->begins.front() != 0 || !ascending) return cant_be("lists");
  FOOTNOTE_TRY(segment->lists, source.take_all<std::uint8_t>(segment->begins.back()));
  if (!are_lists(*segment)) return cant_be("lists");
  return segment;
}

}  // namespace footnote::bm25
