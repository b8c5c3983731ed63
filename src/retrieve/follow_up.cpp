#include "retrieve/follow_up.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::retrieve {

namespace {

using Words = std::vector<std::string_view>;

Words words_of(std::string_view text) {
  Words out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    out.push_back(text.substr(begin, at - begin));
  }
  return out;
}

/// Lower-cased, without leading and trailing punctuation.
std::string bare(std::string_view word) {
  constexpr std::string_view kMarks = "\"'`.,;:!?()[]{}*_";
  const std::size_t begin = word.find_first_not_of(kMarks);
  if (begin == std::string_view::npos) return {};
  return to_lower_ascii(word.substr(begin, word.find_last_not_of(kMarks) - begin + 1));
}

bool is_one_of(std::span<const std::string_view> known, std::string_view word) { return std::ranges::find(known, word) != known.end(); }

/// Whether a word refers back, in a few common languages of web sites. Words that often begin complete questions ("es", "il") are not in
/// the list.
bool points_back(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "and",  "or",    "but",   "so",     "also", "then", "it",  "its",  "it's",  "that",    "that's", "this", "these", "those",   "they",
      "them", "their", "he",    "she",    "him",  "her",  "his", "same", "else",  "instead", "und",    "oder", "aber",  "auch",    "dann",
      "das",  "dies",  "diese", "dieser", "sie",  "et",   "ou",  "mais", "aussi", "celui",   "ça",     "y",    "pero",  "también", "eso"};
  return is_one_of(kWords, word);
}

bool asks(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "what",   "which",   "who",   "whom", "whose",    "when",  "where",  "why",     "how",    "is",   "are", "was",
      "were",   "do",      "does",  "did",  "can",      "could", "will",   "would",   "should", "may",  "has", "have",
      "was",    "wer",     "wie",   "wann", "wo",       "warum", "welche", "welcher", "kann",   "gibt", "que", "quel",
      "quelle", "comment", "quand", "où",   "pourquoi", "qué",   "cuándo", "cómo",    "dónde",  "por"};
  return is_one_of(kWords, word);
}

bool is_capital(std::string_view word) {
  std::size_t at = 0;
  const char32_t first = next_code_point(word, at);
  return (first >= 'A' && first <= 'Z') || (first >= 0xC0 && first <= 0xDE && first != 0xD7);
}

bool ends_clause(std::string_view word) { return !word.empty() && std::string_view(".,;:!?").find(word.back()) != std::string_view::npos; }

std::string_view last_sentence(std::string_view text) {
  text = trim(text);
  const std::size_t end = text.find_last_of(".!\n", text.empty() ? 0 : text.size() - 1);
  return end == std::string_view::npos ? text : trim(text.substr(end + 1));
}

/// Runs of capitalised words in a sentence, except a single word at its start.
std::vector<std::string> names_in(std::string_view sentence) {
  std::vector<std::string> out;
  std::string name;
  const auto close = [&] {
    if (!name.empty() && out.size() < kFollowUpNamesMax) out.push_back(name);
    name.clear();
  };
  const Words words = words_of(sentence);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool counts = is_capital(word) && (i > 0 || (words.size() > 1 && is_capital(words[1]) && !asks(bare(word))));
    if (!counts) {
      close();
      continue;
    }
    const std::size_t last = word.find_last_not_of(".,;:!?\"')");
    name += (name.empty() ? "" : " ") + std::string(word.substr(0, last == std::string_view::npos ? 0 : last + 1));
    if (ends_clause(word)) close();
  }
  close();
  return out;
}

std::string without_question_word(std::string_view question) {
  const Words words = words_of(question);
  std::size_t from = 0;
  while (from < words.size() && asks(bare(words[from]))) ++from;
  if (from == words.size()) from = 0;
  std::string out;
  for (std::size_t i = from; i < words.size(); ++i) out += (out.empty() ? "" : " ") + std::string(words[i]);
  return out;
}

}  // namespace

bool leans_on_context(std::string_view message, const TurnBefore& before) {
  if (trim(before.question).empty()) return false;
  const Words words = words_of(message);
  if (words.empty()) return false;
  const std::string first = bare(words.front());
  if (points_back(first) || words.size() <= kFollowUpShortWords) return true;
  const bool was_asked = trim(before.answer).ends_with('?');
  return was_asked && !asks(first);
}

std::string search_text(std::string_view message, const TurnBefore& before) {
  if (!leans_on_context(message, before)) return std::string(trim(message));
  std::vector<std::string> parts;
  if (trim(before.answer).ends_with('?')) parts = names_in(last_sentence(before.answer));
  const std::string carried = without_question_word(before.question);
  parts.emplace_back(first_code_points(carried, kFollowUpCarriedMax));
  parts.emplace_back(trim(message));
  return join(parts, " ");
}

}  // namespace footnote::retrieve
