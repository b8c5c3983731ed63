#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "domain/judgement.h"

namespace footnote {

/// A first line up to this length names what the passage is about (its headings or title) and is always read.
inline constexpr std::size_t kExcerptHeadBytesMax = 160;

/// The part of a passage that a judge reads: its first line if that is short, then the sentences that share most words with the question.
struct JudgeExcerpt {
  std::string text;
  std::size_t head = 0;  ///< How many bytes of `text` are the passage's beginning.
  std::size_t at = 0;    ///< Offset in the passage of the rest of `text`.

  /// Converts a range of `text` to a range of the passage. REQUIRES: it does not span the end of the head; callers drop such answers.
  TextRange in_passage(const TextRange& range) const;
  bool spans_head(const TextRange& range) const { return range.begin < head && range.end > head; }
};

/// `asked`: the question's content terms (bm25::Analyzer::content_terms). The whole passage if it has at most `bytes_max` bytes. Ends
/// between words; a word longer than that is cut between characters.
JudgeExcerpt judge_excerpt(std::span<const std::string> asked, std::string_view passage, std::size_t bytes_max);

}  // namespace footnote
