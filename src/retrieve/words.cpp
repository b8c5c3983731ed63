#include "retrieve/words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::retrieve {

namespace {

constexpr std::array<std::string_view, 70> kFunctionWords = {
    "about", "after", "all",   "also",   "am",   "an",   "and",  "any",   "are",   "as",    "at",   "be",    "been",  "but",
    "by",    "can",   "could", "did",    "do",   "does", "for",  "from",  "get",   "had",   "has",  "have",  "how",   "if",
    "in",    "into",  "is",    "it",     "its",  "may",  "me",   "much",  "must",  "my",    "no",   "not",   "of",    "on",
    "or",    "our",   "shall", "should", "so",   "such", "than", "that",  "the",   "their", "then", "there", "these", "they",
    "this",  "to",    "was",   "we",     "were", "what", "when", "where", "which", "who",   "why",  "will",  "with",  "you"};

/// ASCII letters and digits, and all other characters except typographic marks and spaces: models write curly quotes and long dashes where
/// documents have plain ones.
bool is_word_character(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return c >= 0xC0 && !(c >= 0x2000 && c <= 0x206F) && !(c >= 0x3000 && c <= 0x303F);
}

/// Skips characters that are (or are not) part of a word.
std::size_t skip(std::string_view text, std::size_t at, bool words) {
  for (std::size_t next = at; at < text.size() && is_word_character(next_code_point(text, next)) == words;) at = next;
  return at;
}

std::string without_ending(std::string word) {
  const auto drop = [&](std::size_t count) { word.resize(word.size() - count); };
  if (word.ends_with("ies") && word.size() > 4) {
    drop(3);
    word += "y";
  } else if (word.ends_with("s") && !word.ends_with("ss") && word.size() > 3) {
    drop(1);
  }
  return word;
}

}  // namespace

std::vector<std::string> content_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = skip(text, at, false);
    at = skip(text, begin, true);
    std::string word = to_lower_ascii(text.substr(begin, at - begin));
    if (word.size() < 2 || std::ranges::find(kFunctionWords, word) != kFunctionWords.end()) continue;
    words.push_back(without_ending(std::move(word)));
  }
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

double share_of(const std::vector<std::string>& wanted, const std::vector<std::string>& found) {
  if (wanted.empty()) return 0;
  const auto count = std::ranges::count_if(wanted, [&](const std::string& word) { return std::ranges::binary_search(found, word); });
  return static_cast<double>(count) / static_cast<double>(wanted.size());
}

}  // namespace footnote::retrieve
