#include "answer/sentence_cutter.h"

#include <algorithm>

#include "answer/quote.h"
#include "base/text.h"
#include "chunk/sentences.h"
#include "retrieve/words.h"

namespace footnote::answer {

namespace {

/// Sentences with fewer content words are greetings, a "yes" or pointers.
constexpr std::size_t kStatementWordsMin = 3;
constexpr std::string_view kFence = "```";

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// The position after any markers and spaces at `at`.
std::size_t past_markers(std::string_view text, std::size_t at) {
  for (;;) {
    std::size_t next = at;
    while (next < text.size() && is_space(text[next])) ++next;
    if (next >= text.size() || text[next] != '[') return at;
    const std::size_t digits = next + 1;
    std::size_t end = digits;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end == digits || end >= text.size() || text[end] != ']') return at;
    at = end + 1;
  }
}

bool toggles_fence(std::string_view unit) {
  std::size_t fences = 0;
  for (const std::string_view line : split(unit, '\n')) {
    if (trim(line).starts_with(kFence)) ++fences;
  }
  return fences % 2 == 1;
}

}  // namespace

std::vector<SentenceUnit> SentenceCutter::cut(std::string_view text, bool complete) {
  std::vector<SentenceUnit> out;
  const auto end_unit = [&](std::size_t end) {
    const std::string_view unit = text.substr(done_, end - done_);
    const bool toggles = toggles_fence(unit);
    out.push_back({{done_, end}, in_code_ || toggles || trim(unit).starts_with(kFence)});
    if (toggles) in_code_ = !in_code_;
    done_ = end;
    ++units_;
  };
  for (const TextRange& sentence : chunk::split_sentences(text)) {
    if (sentence.begin <= done_ || units_ >= kUnitsMax) continue;
    // Markers that open a sentence belong to the previous one, so cut after them.
    std::size_t begin = past_markers(text, sentence.begin);
    while (begin > sentence.begin && begin < text.size() && is_space(text[begin])) ++begin;
    if (begin >= text.size()) break;
    if (!complete && text[begin] == '[') break;  // may be an incomplete marker
    end_unit(begin);
  }
  if (complete && done_ < text.size()) end_unit(text.size());
  return out;
}

std::vector<SentenceUnit> SentenceCutter::feed(std::string_view text) {
  if (units_ >= kUnitsMax) return {};
  // Splitting is linear in the text, so do it only if a sentence may have ended since the last call.
  constexpr std::string_view kEnds = ".!?\n";
  const std::string_view open = text.substr(done_);
  const bool may_end =
      std::ranges::any_of(open, [&](char c) { return kEnds.find(c) != kEnds.npos || static_cast<unsigned char>(c) >= 0xD5; });
  return may_end ? cut(text, false) : std::vector<SentenceUnit>{};
}

std::vector<SentenceUnit> SentenceCutter::finish(std::string_view text) { return cut(text, true); }

bool states_something(std::string_view sentence) {
  const std::string_view raw = trim(sentence);
  if (raw.starts_with('#') || raw.starts_with('|')) return false;
  const std::string plain = plain_quote(raw);
  if (plain.ends_with(':') || plain.ends_with('?')) return false;
  return retrieve::content_words(plain).size() >= kStatementWordsMin;
}

}  // namespace footnote::answer
