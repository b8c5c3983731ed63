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
  std::string_view about = {};  ///< Title and headings: a name that stands there is not made up.
};

/// What the check reads, on scales that do not depend on the question: see docs/adr/0019-citation-check.md.
struct SupportSignals {
  std::optional<double> relevance;  ///< Best window, on the reranker's own scale; none without one.
  double word_share = 0;            ///< Of the claim's content words, in all passages together.
  double cosine = 0;                ///< Of the claim and the nearest sentence or window.
};

/// Whether the passages carry the claim, and where.
struct SupportVerdict {
  Support support = Support::kUnchecked;  ///< kSupported or kUnsupported once checked.
  double score = 0;                       ///< Log odds; a breach lowers them.
  SupportSignals signals;
  std::optional<Breach> breach;  ///< Unsupported whatever the score.
  std::size_t passage = 0;       ///< The one that carries most of it.
  TextRange range;               ///< Its best sentence, in bytes of that passage; empty when nothing was read.
};

/// The log odds by the signals alone that a claim is supported: above 0 it is, unless a rule says otherwise.
double support_score(const SupportSignals& signals);

/// Tells whether cited passages support a sentence: relevance (reranker), share of words and cosine (embedder) in one sum, and hard
/// rules that no sum outweighs (claim_facts.h, and a best sentence that says the same but for a negation). At most one call of each
/// port for a claim. Without a reranker, or when it fails, the other two decide: less well, and `signals.relevance` is empty.
/// Thread-safe; borrows its ports. Errors: as the embedder gives them; kCancelled and kDeadlineExceeded as the call says.
class CitationCheck {
 public:
  /// Windows that the reranker reads and sentences that are embedded for one claim: those that share most words with it.
  static constexpr std::size_t kWindowsMax = 8;
  static constexpr std::size_t kSentencesMax = 24;
  /// A window is whole sentences of about as many bytes; the next one begins in its midst.
  static constexpr std::size_t kWindowBytes = 700;
  /// Of a claim and of all passages together so much is read.
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
