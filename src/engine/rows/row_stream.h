#pragma once

#include <vector>

#include "base/byte_stream.h"
#include "engine/rows/row_table.h"

namespace footnote::rows {

/// Limits on rows read from a file.
struct RowLimits {
  std::int64_t born_last = 0;     ///< The latest birth.
  std::uint32_t group_count = 0;  ///< Upper bound (exclusive) of group numbers.
  std::uint64_t rows_max = 0;     ///< Maximum rows of one segment.
};

/// rows := count:u64 label:i64[count] born:i64[count] group:u32[count]
/// Deaths are not stored: rows are read back alive.
inline Result<void> write_rows(ByteSink& sink, const RowTable& rows) {
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> born;
  std::vector<std::uint32_t> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row row = rows.row(i);
    labels.push_back(row.label);
    born.push_back(row.born);
    groups.push_back(row.group);
  }
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint64_t>(rows.size())));
  FOOTNOTE_CHECK(sink.put_all<std::int64_t>(labels));
  FOOTNOTE_CHECK(sink.put_all<std::int64_t>(born));
  return sink.put_all<std::uint32_t>(groups);
}

/// kCorrupted: rows are out of order or exceed the limits.
inline Result<std::vector<Row>> read_rows(ByteSource& source, const RowLimits& limits) {
  FOOTNOTE_TRY(const auto count, source.take<std::uint64_t>());
  if (count == 0 || count > limits.rows_max) return fail(ErrorCode::kCorrupted, "a segment has {} rows", count);
  FOOTNOTE_TRY(const auto labels, source.take_all<std::int64_t>(count));
  FOOTNOTE_TRY(const auto born, source.take_all<std::int64_t>(count));
  FOOTNOTE_TRY(const auto groups, source.take_all<std::uint32_t>(count));
  std::vector<Row> rows;
  rows.reserve(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Row row{.label = labels[i], .group = groups[i], .born = born[i]};
    if ((i > 0 && labels[i - 1] > row.label) || row.born > limits.born_last || row.group >= limits.group_count) {
      return fail(ErrorCode::kCorrupted, "row {} of a segment is invalid", i);
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace footnote::rows
