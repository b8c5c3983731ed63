#include "engine/bm25/segment_stream.h"

#include <algorithm>
#include <functional>

namespace footnote::bm25 {

namespace {

std::unexpected<Error> cant_be(std::string_view what) { return fail(ErrorCode::kCorrupted, "the {} of a segment can't be", what); }

Result<TermTable> read_terms(ByteSource& source, std::uint32_t count) {
  FOOTNOTE_TRY(const std::string text, source.take_text());
  FOOTNOTE_TRY(const auto ends, source.take_all<std::uint32_t>(count));
  TermTable terms;
  std::string_view last;
  std::size_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end <= begin || end > text.size()) return cant_be("terms");
    const std::string_view term = std::string_view(text).substr(begin, end - begin);
    if (term <= last) return cant_be("order of terms");
    terms.append(term);
    last = term;
    begin = end;
  }
  if (begin != text.size()) return cant_be("terms");
  return terms;
}

/// Each term's list names rows that there are, in order.
bool are_lists(const Segment& segment) {
  for (std::size_t term = 0; term < segment.terms.size(); ++term) {
    const auto list = segment.postings_of(term);
    const auto in_order = [](Posting a, Posting b) { return row_of(a) >= row_of(b); };
    if (std::ranges::adjacent_find(list, in_order) != list.end() || row_of(list.back()) >= segment.rows.size()) return false;
    if (std::ranges::any_of(list, [](Posting posting) { return count_of(posting) == 0; })) return false;
  }
  return true;
}

}  // namespace

Result<void> write_segment(ByteSink& sink, const Segment& segment) {
  FOOTNOTE_CHECK(ann::write_rows(sink, segment.rows));
  FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment.lengths));
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(segment.terms.size())));
  FOOTNOTE_CHECK(sink.put_text(segment.terms.text()));
  FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment.terms.ends()));
  FOOTNOTE_CHECK(sink.put_all<std::uint32_t>(segment.first));
  return sink.put_all<std::uint32_t>(segment.postings);
}

Result<std::shared_ptr<Segment>> read_segment(ByteSource& source, const ann::RowLimits& limits) {
  FOOTNOTE_TRY(const auto rows, ann::read_rows(source, limits));
  auto segment = std::make_shared<Segment>(rows);
  FOOTNOTE_TRY(segment->lengths, source.take_all<std::uint32_t>(rows.size()));
  FOOTNOTE_TRY(const auto terms, source.take<std::uint32_t>());
  FOOTNOTE_TRY(segment->terms, read_terms(source, terms));
  FOOTNOTE_TRY(segment->first, source.take_all<std::uint32_t>(std::uint64_t{terms} + 1));
  const bool ascending = std::ranges::adjacent_find(segment->first, std::greater_equal{}) == segment->first.end();
  if (segment->first.front() != 0 || !ascending) return cant_be("lists");
  FOOTNOTE_TRY(segment->postings, source.take_all<Posting>(segment->first.back()));
  if (!are_lists(*segment)) return cant_be("lists");
  return segment;
}

}  // namespace footnote::bm25
