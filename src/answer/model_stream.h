#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer/answer_verdict.h"
#include "answer/citation_filter.h"
#include "answer/sentence_checker.h"
#include "answer/sentence_cutter.h"
#include "answer/turn_listener.h"
#include "base/call_context.h"
#include "domain/answer.h"

namespace footnote::answer {

/// What happens to a sentence that its sources do not support. kMark: text streams at once and the verdict follows. kDrop, kStop: a
/// sentence is held back until it is checked; if unsupported, it is left out (kDrop) or the answer ends before it (kStop).
enum class CheckPolicy { kOff, kMark, kDrop, kStop };
std::string_view to_string(CheckPolicy policy);

/// Results of the citation check for one answer, in sentences.
struct CheckCounts {
  std::size_t supported = 0;
  std::size_t unsupported = 0;
  std::size_t uncited = 0;        ///< Statements without a marker that no source clearly carries.
  std::size_t bound = 0;          ///< Statements without a marker that a source carries; counted as supported, too.
  std::size_t unchecked = 0;      ///< Cited, but the check failed, timed out or its queue was full.
  std::size_t dropped = 0;        ///< Unsupported sentences that were not shown.
  bool without_reranker = false;  ///< Checked by word share and cosine only.
};

/// The check binds a statement without a marker to a source only if the log odds that this source alone supports it are at least this.
inline constexpr double kBoundScoreMin = 1;

/// Streams a model's answer to the listener: holds back text that may be the refusal sentinel, announces the sources before the first text,
/// normalizes the markers, and binds and checks each sentence as soon as it is complete. A statement without a marker is checked against
/// the source that shares the most words with it, and bound to it if that clearly carries it; the text stays as it is. If a check fails,
/// its sentence stays unchecked; the stream continues. Used by one thread; borrows its arguments.
class ModelStream {
 public:
  struct Options {
    const CitationCheck* check = nullptr;  ///< Null: no checks.
    CheckPolicy policy = CheckPolicy::kMark;
    CheckLane* lane = nullptr;  ///< Where kMark runs its checks; null: its sentences stay unchecked.
  };
  ModelStream(const CallContext& call, const std::vector<SourceBlock>& sources, TurnListener& listener, Options options);

  /// kCancelled, with `stopped()` true from then on, if the policy ended the answer; other errors come from the listener.
  Result<void> take(std::string_view piece);
  /// The model's text is complete: shows and checks the rest. Waits for pending checks, at most as long as one check may take.
  Result<void> finish();

  /// True if the model's whole answer was the sentinel.
  bool refused() const;
  /// True if the policy ended the answer.
  bool stopped() const { return stopped_; }

  /// The text shown to the listener.
  const std::string& text() const { return shown_; }
  const std::vector<Citation>& citations() const { return citations_; }
  const std::vector<TextRange>& uncited() const { return uncited_; }
  /// The sentences shown, in the order of the text. Complete after finish().
  std::vector<SaidSentence> said() const;
  /// None if checks are off.
  std::optional<CheckCounts> counts() const { return checks() ? std::optional(counts_) : std::nullopt; }

 private:
  struct Sentence {
    TextRange range;
    std::size_t first_citation = 0;
    std::size_t citation_count = 0;
    bool in_code = false;
    bool is_open = false;      ///< Its verdict is pending.
    bool is_unmarked = false;  ///< It states something without a marker.
    Support support = Support::kUnchecked;
  };

  bool holds() const {
    return options_.check != nullptr && (options_.policy == CheckPolicy::kDrop || options_.policy == CheckPolicy::kStop);
  }
  bool checks() const { return options_.check != nullptr && options_.policy != CheckPolicy::kOff; }
  Result<void> advance(const std::string& fresh);
  Result<void> take_unit(const SentenceUnit& unit);
  Result<void> take_held_unit(const SentenceUnit& unit, const CheckTask& task);
  Result<void> show(std::string_view text);
  CheckTask task_of(const SentenceUnit& unit) const;
  std::string_view text_of(const SentenceUnit& unit) const;
  /// The source that shares the most words with the claim; 0 if none shares enough.
  int likely_source(std::string_view claim);
  Citation citation_of(int number, const Sentence& sentence) const;
  std::size_t bind(const SentenceUnit& unit, std::size_t shown_at);
  Result<void> take_unmarked(const SentenceUnit& unit, std::size_t sentence);
  Result<void> note_uncited(Sentence& sentence);
  Result<void> apply_bound(const CheckOutcome& outcome);
  Result<void> apply(const CheckOutcome& outcome);
  Result<void> apply_all(const std::vector<CheckOutcome>& outcomes);
  Result<void> tell(const Sentence& sentence, Support support, const std::vector<int>& numbers);

  const CallContext& call_;
  const std::vector<SourceBlock>& sources_;
  TurnListener& listener_;
  const Options options_;
  CitationFilter filter_;
  SentenceCutter cutter_;
  std::string opening_;
  bool started_ = false;
  bool announced_ = false;  // the sources
  bool stopped_ = false;

  std::string shown_;
  std::vector<Sentence> sentences_;
  std::vector<Citation> citations_;
  std::vector<TextRange> uncited_;
  CheckCounts counts_;
  std::vector<std::vector<std::string>> source_words_;  // made when first needed
  std::unique_ptr<SentenceChecker> checker_;            // only for kMark with a lane; last member, so that it is destroyed first
};

}  // namespace footnote::answer
