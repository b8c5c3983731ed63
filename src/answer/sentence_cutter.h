#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "domain/ids.h"

namespace footnote::answer {

/// A sentence of an answer with the markers behind it and the white space up to the next one: a text's units, one after the other,
/// are the text.
struct SentenceUnit {
  TextRange range;
  bool in_code = false;  ///< Within a fenced block.
};

/// Cuts a growing text into sentences as soon as they are complete: when the next one has begun with a word of its own. "Three days. [1] It
/// ..." is cut before "It".
class SentenceCutter {
 public:
  /// Units that are cut off one text; what is past them is one last unit.
  static constexpr std::size_t kUnitsMax = 400;

  /// Units of `text` that became complete since the last call. REQUIRES: `text` begins with what was given before.
  std::vector<SentenceUnit> feed(std::string_view text);
  /// The rest; `text` is complete.
  std::vector<SentenceUnit> finish(std::string_view text);

 private:
  std::vector<SentenceUnit> cut(std::string_view text, bool complete);

  std::size_t done_ = 0;   ///< Where the next unit begins.
  std::size_t units_ = 0;  ///< Cut so far.
  bool in_code_ = false;   ///< At done_.
};

/// True when a sentence states something that a source should carry: a few words of content, and no question, lead-in ("..., namely:"),
/// heading or table row.
bool states_something(std::string_view sentence);

}  // namespace footnote::answer
