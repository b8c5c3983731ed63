#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "answer/claim_facts.h"
#include "base/call_context.h"
#include "domain/answer.h"
#include "ports/embedder.h"
#include "ports/reranker.h"

namespace footnote::answer {

/// A passage that a sentence cites. Borrows.
struct CitedPassage {
  std::string_view text;
  std::string_view about = {};  ///< Title and headings: a name that occurs there is not invented.
};

/// The inputs of the check, on scales that do not depend on the question: see docs/adr/0019-citation-check.md.
struct SupportSignals {
  std::optional<double> relevance;  ///< Score of the best window on the reranker's own scale; nullopt without a reranker.
  double word_share = 0;            ///< Share of the claim's content words that occur in any of the passages.
  double cosine = 0;                ///< Cosine of the claim and the closest sentence or window.
};

/// Whether the passages support the claim, and where.
struct SupportVerdict {
  Support support = Support::kUnchecked;  ///< kSupported or kUnsupported once checked.
  double score = 0;                       ///< Log odds; a breach lowers it.
  SupportSignals signals;
  std::optional<Breach> breach;  ///< If set, unsupported regardless of the score.
  std::size_t passage = 0;       ///< The passage that supports the claim best.
  TextRange range;               ///< Its best sentence, in bytes of that passage; empty if nothing was read.
};

/// Log odds that a claim is supported, from the signals alone: above 0 means supported, unless a hard rule overrides it.
double support_score(const SupportSignals& signals);

/// Decides whether cited passages support a sentence: a weighted sum of relevance (reranker), word share and cosine (embedder), plus hard
/// rules that override the sum (claim_facts.h, and a best sentence that differs from the claim only by a negation). At most one call of
/// each port per claim. Without a reranker, or if it fails, the other two decide, less accurately, and `signals.relevance` is empty.
/// Thread-safe; borrows its ports. Errors: those of the embedder; kCancelled and kDeadlineExceeded from the call.
class CitationCheck {
 public:
  /// Windows reranked and sentences embedded for one claim: those that share the most words with it.
  static constexpr std::size_t kWindowsMax = 8;
  static constexpr std::size_t kSentencesMax = 24;
  /// A window is whole sentences of about this many bytes; consecutive windows overlap by half.
  static constexpr std::size_t kWindowBytes = 700;
  /// Bytes read of a claim, and of all passages together.
  static constexpr std::size_t kClaimBytesMax = 2'000;
  static constexpr std::size_t kPassageBytesMax = 64'000;

  /// `reranker` may be null.
  CitationCheck(Embedder& embedder, Reranker* reranker) : embedder_(embedder), reranker_(reranker) {}

  bool has_reranker() const { return reranker_ != nullptr; }
  /// REQUIRES: `claim` has a word and there is a passage.
  Result<SupportVerdict> check(const CallContext& call, std::string_view claim, std::span<const CitedPassage> passages) const;

 private:
  Embedder& embedder_;
  Reranker* const reranker_;
};

}  // namespace footnote::answer
