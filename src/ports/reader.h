#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/ids.h"
#include "domain/judgement.h"

namespace footnote {

/// A part of a passage that answers: whole sentences. `range` counts bytes in that passage.
struct ReadSpan {
  std::size_t passage = 0;
  TextRange range;
  double score = 0;  ///< 0..1, comparable within one reading.
  /// The few words of it that answer by themselves ("16 weeks"), where the question asks for such and they are clear.
  std::optional<TextRange> answer = {};
};

/// What a reader found: spans best first, possibly none.
struct Reading {
  std::vector<ReadSpan> spans;
};

/// Finds the parts of passages that answer a question. It quotes: it has no words of its own. Thread-safe.
/// Borrows its arguments for the call only. Spans of one passage do not overlap. `answers` is empty, or has for each passage what a judge
/// found in it, which the reader may lean on.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<Reading> read(const CallContext& call, std::string_view question, std::span<const std::string_view> passages,
                               std::span<const std::optional<FoundAnswer>> answers = {}) = 0;
};

}  // namespace footnote
