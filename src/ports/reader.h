#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/ids.h"
#include "domain/judgement.h"

namespace footnote {

/// A question, and the number of candidates from which its passages were chosen. The best of many candidates look good by chance, so
/// readers correct for it. 0: unknown.
struct ReaderQuestion {
  // Implicit, so that a plain text can be passed as a question.
  ReaderQuestion(std::string_view question, std::size_t passages_searched = 0) : text(question), searched(passages_searched) {}
  ReaderQuestion(const char* question) : text(question) {}

  std::string_view text;
  std::size_t searched = 0;
};

/// A passage to read. Borrows everything.
struct ReaderPassage {
  std::string_view text;
  std::string_view header = {};            ///< Its headings: "Manual > Backups > Schedule".
  std::span<const TextRange> blocks = {};  ///< Parts that can be quoted on their own: in ascending order, without overlap.
  std::optional<FoundAnswer> found = {};   ///< The answer that a judge found in it, as a hint.
  double rank_score = 0;                   ///< Its score in the ranking: see Hit::score.
  double coverage = 0;                     ///< Share of the question's content words that it contains: see Hit::coverage.
};

/// A part of a passage that answers the question: whole sentences or blocks. `range` counts bytes in that passage.
struct ReadSpan {
  std::size_t passage = 0;
  TextRange range;
  double score = 0;  ///< 0..1, comparable only within one reading.
  /// The few words inside it that answer.
  std::optional<TextRange> answer = {};
  bool answers_alone = false;  ///< The words in `answer` are a complete answer ("16 weeks"), and the question asks for such an answer.
};

/// A reader's result: spans best first, possibly none.
struct Reading {
  std::vector<ReadSpan> spans;
  /// How likely the spans answer the question, 0..1, calibrated; nullopt if this reader cannot estimate it.
  std::optional<double> probability = {};
};

/// Finds the parts of passages that answer a question. It only quotes, it never generates text. Thread-safe. Borrows its arguments during
/// the call. Spans of one passage do not overlap.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<Reading> read(const CallContext& call, const ReaderQuestion& question, std::span<const ReaderPassage> passages) = 0;
};

}  // namespace footnote
