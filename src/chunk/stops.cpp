#include "chunk/stops.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::chunk {

namespace {

/// How far back to search for the word before a stop, and how far ahead for the end of a code span.
constexpr std::size_t kWordBytesMax = 32;
constexpr std::size_t kCodeSpanBytesMax = 300;

/// Abbreviations that never end a sentence. Titles count only when capitalized.
constexpr std::array<std::string_view, 19> kNeverEnd = {"approx", "bzw", "ca", "cf",  "eg", "evtl", "ggf", "ie", "incl", "inkl",
                                                        "mlle",   "mme", "mr", "mrs", "ms", "resp", "viz", "vs", "zzgl"};
constexpr std::array<std::string_view, 19> kTitles = {"adm", "capt", "cmdr", "col",  "dr",  "fr",  "gen", "gov", "hon", "lt",
                                                      "maj", "mt",   "pres", "prof", "rep", "rev", "sen", "sgt", "st"};
/// Abbreviations that do not end a sentence if a number follows.
constexpr std::array<std::string_view, 20> kBeforeNumber = {"abs", "art", "ch", "chap", "eq", "eqs", "fig", "figs", "no",  "nos",
                                                            "nr",  "p",   "pg", "pp",   "pt", "sec", "tab", "v",    "ver", "vol"};
/// Abbreviations that end a sentence only if the next word is a typical sentence start.
constexpr std::array<std::string_view, 37> kMayEnd = {"al",  "apr", "aug", "ave", "blvd", "bros", "co",  "corp", "dec", "dept",
                                                      "ed",  "eds", "est", "etc", "feb",  "fri",  "inc", "jan",  "jr",  "jul",
                                                      "jun", "ltd", "mar", "mon", "nov",  "oct",  "rd",  "sat",  "sep", "sept",
                                                      "sr",  "sun", "thu", "tue", "univ", "usw",  "wed"};
constexpr std::array<std::string_view, 52> kStarters = {
    "a",    "after", "all",  "also",  "an",   "and",   "any",   "as",   "at",      "because", "before", "but",   "by",
    "each", "every", "for",  "from",  "he",   "her",   "his",   "how",  "however", "i",       "if",     "in",    "it",
    "its",  "many",  "most", "no",    "note", "on",    "once",  "our",  "please",  "see",     "she",    "since", "so",
    "some", "that",  "the",  "their", "then", "there", "these", "they", "this",    "to",      "we",     "when",  "you"};
static_assert(std::ranges::is_sorted(kNeverEnd) && std::ranges::is_sorted(kTitles) && std::ranges::is_sorted(kBeforeNumber));
static_assert(std::ranges::is_sorted(kMayEnd) && std::ranges::is_sorted(kStarters));

template <std::size_t N>
bool has(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::binary_search(words, word);
}

/// Full stops that need no following space: CJK, and scripts with their own sign.
bool is_script_stop(char32_t c) {
  constexpr std::array<char32_t, 14> kStops = {0x0589, 0x061F, 0x06D4, 0x0964, 0x0965, 0x1362, 0x1367,
                                               0x17D4, 0x3002, 0xFF01, 0xFF0E, 0xFF1F, 0xFF61, 0x2E3C};
  return std::ranges::find(kStops, c) != kStops.end();
}
bool is_closer(char32_t c) {
  constexpr std::u32string_view kClosers = U")]}\"'*_~`\u2019\u201D\u00BB\u203A\u300D\u300F\uFF09\u3011\u300B\u3009";
  return kClosers.find(c) != std::u32string_view::npos;
}
bool is_opener(char32_t c) {
  constexpr std::u32string_view kOpeners = U"([{\"'*_~\u2018\u201C\u00AB\u2039\u201E\u201A\u00BF\u00A1";
  return kOpeners.find(c) != std::u32string_view::npos;
}

char32_t code_point_at(std::string_view text, std::size_t at) { return next_code_point(text, at); }

class StopFinder {
 public:
  explicit StopFinder(std::string_view text) : text_(text) {}

  std::vector<std::size_t> run() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '`') {
        at = skip_code_span(at);
      } else if (c == '.' || c == '!' || c == '?' || static_cast<unsigned char>(c) >= 0xC2) {
        at = stop_at(at);
      } else {
        ++at;
      }
    }
    return std::move(out_);
  }

 private:
  /// Examines a possible stop; returns where to continue.
  std::size_t stop_at(std::size_t begin) {
    bool needs_no_space = false;
    std::size_t end = begin;
    while (end < text_.size()) {
      std::size_t next = end;
      const char32_t c = next_code_point(text_, next);
      const bool script = is_script_stop(c);
      if (!script && c != '.' && c != '!' && c != '?' && c != 0x2026) break;
      needs_no_space |= script;
      end = next;
    }
    if (end == begin) {
      next_code_point(text_, end);
      return end;
    }
    const std::size_t closed = skip_closers(end);
    if (closed >= text_.size()) return text_.size();
    // 3．5 in full-width digits is a number.
    if (needs_no_space && is_number_inside(begin, end)) return end;
    if (!needs_no_space && !is_ascii_space(text_[closed])) return end;
    if (needs_no_space || ends_sentence(begin, end, closed)) out_.push_back(closed);
    return closed;
  }

  bool is_number_inside(std::size_t begin, std::size_t end) const {
    return begin > 0 && end < text_.size() && code_point_at(text_, begin) == 0xFF0E &&
           u_isdigit(static_cast<UChar32>(code_point_at(text_, end)));
  }

  std::size_t skip_closers(std::size_t at) const {
    while (at < text_.size()) {
      std::size_t next = at;
      if (is_closer(next_code_point(text_, next))) {
        at = next;
      } else if (const std::size_t mark = footnote_mark(at); mark != at) {
        at = mark;
      } else {
        break;
      }
    }
    return at;
  }

  /// "[12]" or "[^a]" right after the stop belongs to the sentence.
  std::size_t footnote_mark(std::size_t at) const {
    if (text_[at] != '[') return at;
    const std::size_t close = text_.substr(at, kWordBytesMax).find(']');
    if (close == std::string_view::npos || close < 2) return at;
    const std::string_view inner = text_.substr(at + 1, close - 1);
    const bool mark = inner[0] == '^' || std::ranges::all_of(inner, [](char c) { return is_ascii_digit(c) || c == ',' || c == ' '; });
    return mark ? at + close + 1 : at;
  }

  bool ends_sentence(std::size_t begin, std::size_t end, std::size_t closed) const {
    std::size_t next = closed;
    while (next < text_.size() && is_ascii_space(text_[next])) ++next;
    while (next < text_.size() && is_opener(code_point_at(text_, next))) next_code_point(text_, next);
    if (next >= text_.size()) return true;
    if (continues_in_lower_case(next)) return false;
    const bool plain_stop = end == begin + 1 && text_[begin] == '.';
    return !plain_stop || !is_abbreviation(begin, next);
  }

  /// "iPhone" can start a sentence just as "The" can.
  bool continues_in_lower_case(std::size_t at) const {
    if (!u_islower(static_cast<UChar32>(next_code_point(text_, at)))) return false;
    return at >= text_.size() || !u_isupper(static_cast<UChar32>(code_point_at(text_, at)));
  }

  bool is_abbreviation(std::size_t stop, std::size_t next) const {
    const std::string_view word = word_before(stop);
    if (word.empty()) return true;
    const bool at_start = word.data() == text_.data();
    if (std::ranges::all_of(word, is_ascii_digit)) return at_start;  // "1. First"
    const bool before_number = is_ascii_digit(text_[next]);
    const bool before_starter = has(kStarters, next_word(next));
    if (count_code_points(word) == 1) return at_start || !before_starter;  // "J. Smith", "a. First"
    if (is_dotted(word)) return word == "e.g" || word == "i.e" || !before_starter;
    const std::string lower = to_lower_ascii(word);
    const bool capital = word[0] != lower[0];
    if (has(kNeverEnd, lower) || (capital && has(kTitles, lower))) return true;
    if (has(kBeforeNumber, lower)) return before_number;
    return has(kMayEnd, lower) && !before_starter;
  }

  /// The letters before the stop, without opening quotes or brackets.
  std::string_view word_before(std::size_t stop) const {
    std::size_t begin = stop;
    while (begin > 0 && stop - begin < kWordBytesMax && !is_ascii_space(text_[begin - 1])) --begin;
    while (begin < stop && !is_utf8_boundary(text_, begin)) ++begin;
    std::string_view word = text_.substr(begin, stop - begin);
    // "(cf", "list/etc", "**Dr": only the letters after the last sign count.
    const std::size_t sign = word.find_last_of("([{\"'*_/-~");
    if (sign != std::string_view::npos) word.remove_prefix(sign + 1);
    return word;
  }

  std::string next_word(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && end - at < kWordBytesMax && u_isalpha(static_cast<unsigned char>(text_[end])) &&
           static_cast<unsigned char>(text_[end]) < 0x80)
      ++end;
    return to_lower_ascii(text_.substr(at, end - at));
  }

  /// "U.S", "a.m", "z.B", "Ph.D": letters in groups of one or two.
  static bool is_dotted(std::string_view word) {
    if (word.find('.') == std::string_view::npos) return false;
    for (std::string_view part : split(word, '.')) {
      const bool letters = std::ranges::all_of(part, [](char c) { return !is_ascii_digit(c); });
      if (part.empty() || !letters || count_code_points(part) > 2) return false;
    }
    return true;
  }

  /// A stop in `code. Like` this does not end a sentence.
  std::size_t skip_code_span(std::size_t at) const {
    const std::size_t open_end = std::min(text_.find_first_not_of('`', at), text_.size());
    const std::string_view ticks = text_.substr(at, open_end - at);
    if (ticks.size() > 8) return open_end;
    const std::size_t close = text_.substr(open_end, kCodeSpanBytesMax).find(ticks);
    return close == std::string_view::npos ? open_end : open_end + close + ticks.size();
  }

  const std::string_view text_;
  std::vector<std::size_t> out_;
};

}  // namespace

std::vector<std::size_t> find_stops(std::string_view paragraph) { return StopFinder(paragraph).run(); }

}  // namespace footnote::chunk
