#pragma once

#include <memory>

#include "engine/bm25/segment.h"
#include "engine/rows/row_stream.h"

namespace footnote::bm25 {

/// See Bm25Index::save.
Result<void> write_segment(ByteSink& sink, const Segment& segment);
/// kCorrupted: not what write_segment() wrote. Every number is validated, so that a search of the result stays in bounds.
Result<std::shared_ptr<Segment>> read_segment(ByteSource& source, const rows::RowLimits& limits);

}  // namespace footnote::bm25
