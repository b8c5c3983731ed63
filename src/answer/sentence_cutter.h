#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::answer {

/// A sentence of an answer, including its trailing markers and white space. Concatenating all units of a text yields the text.
struct SentenceUnit {
  TextRange range;
  bool in_code = false;  ///< Inside a fenced block.
};

/// Splits a growing text into sentences. A sentence is complete once the next one has begun with a word: "Three days. [1] It ..." is cut
/// before "It".
class SentenceCutter {
 public:
  /// Bound on the units of one text; the remainder is one last unit.
  static constexpr std::size_t kUnitsMax = 400;

  /// Units of `text` that became complete since the last call. REQUIRES: `text` begins with what was given before.
  std::vector<SentenceUnit> feed(std::string_view text);
  /// The remaining units; call when `text` is complete.
  std::vector<SentenceUnit> finish(std::string_view text);

 private:
  std::vector<SentenceUnit> cut(std::string_view text, bool complete);

  std::size_t done_ = 0;   ///< Where the next unit begins.
  std::size_t units_ = 0;  ///< Number cut so far.
  bool in_code_ = false;   ///< State at done_.
};

/// Whether a sentence makes a claim that a source should support: it has a few content words and is not a question, lead-in ("...,
/// namely:"), heading or table row.
bool states_something(std::string_view sentence);

}  // namespace footnote::answer
