#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/ids.h"
#include "domain/judgement.h"

namespace footnote {

/// A part of a passage that answers the question: whole sentences. `range` counts bytes in that passage.
struct ReadSpan {
  std::size_t passage = 0;
  TextRange range;
  double score = 0;  ///< 0..1, comparable within one reading.
  /// The few words that answer on their own ("16 weeks"), if the question asks for such and they are clear.
  std::optional<TextRange> answer = {};
};

/// A reader's result: spans best first, possibly none.
struct Reading {
  std::vector<ReadSpan> spans;
};

/// Finds the parts of passages that answer a question. It only quotes, it never generates text. Thread-safe. Borrows its arguments during
/// the call. Spans of one passage do not overlap. `answers` is empty, or holds what a judge found in each passage, as a hint.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<Reading> read(const CallContext& call, std::string_view question, std::span<const std::string_view> passages,
                               std::span<const std::optional<FoundAnswer>> answers = {}) = 0;
};

}  // namespace footnote
