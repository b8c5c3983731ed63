#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/ids.h"

namespace footnote {

/// A part of a passage that answers: whole sentences. `range` counts bytes in that passage.
struct ReadSpan {
  std::size_t passage = 0;
  TextRange range;
  double score = 0;  ///< 0..1, comparable within one reading.
};

/// What a reader found: spans best first, possibly none.
struct Reading {
  std::vector<ReadSpan> spans;
};

/// Finds the parts of passages that answer a question. It quotes: it has no words of its own. Thread-safe.
/// Borrows its arguments for the call only. Spans of one passage do not overlap.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<Reading> read(const CallContext& call, std::string_view question, std::span<const std::string_view> passages) = 0;
};

}  // namespace footnote
