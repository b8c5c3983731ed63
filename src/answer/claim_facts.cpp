#include "answer/claim_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace footnote::answer {

namespace {

constexpr std::array<std::pair<std::string_view, int>, 27> kNumberWords = {
    {{"two", 2},      {"three", 3},      {"four", 4},      {"five", 5},      {"six", 6},       {"seven", 7},     {"eight", 8},
     {"nine", 9},     {"ten", 10},       {"eleven", 11},   {"twelve", 12},   {"thirteen", 13}, {"fourteen", 14}, {"fifteen", 15},
     {"sixteen", 16}, {"seventeen", 17}, {"eighteen", 18}, {"nineteen", 19}, {"twenty", 20},   {"thirty", 30},   {"forty", 40},
     {"fifty", 50},   {"sixty", 60},     {"seventy", 70},  {"eighty", 80},   {"ninety", 90},   {"one", 1}}};
constexpr std::array<std::pair<std::string_view, int>, 4> kMagnitudes = {{{"hundred", 2}, {"thousand", 3}, {"million", 6}, {"billion", 9}}};
constexpr std::array<std::string_view, 12> kMonths = {"january", "february", "march",     "april",   "may",      "june",
                                                      "july",    "august",   "september", "october", "november", "december"};
constexpr std::array<std::string_view, 14> kDenials = {"not",     "no",      "never",   "none",   "nor",   "neither", "nobody",
                                                       "nothing", "nowhere", "without", "cannot", "can't", "won't",   "don't"};
/// Words that can express a negation in other terms. Matched as prefixes: "fail" matches "failed".
constexpr std::array<std::string_view, 26> kDenialKin = {
    "only",   "except", "fail", "lack", "forbid", "prohibit", "exclu",   "refus", "deni",  "deny",   "absen",    "unlike", "instead",
    "rather", "hardly", "less", "few",  "avoid",  "reject",   "prevent", "stop",  "cease", "unable", "impossib", "ban",    "illegal"};
constexpr std::size_t kPrefixBytesMin = 4;

bool is_letter(char c) { return is_ascii_upper(c) || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0xC3; }
bool is_inner(char c) { return is_letter(c) || is_ascii_digit(c) || (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Words and numbers in text order. An apostrophe, typographic or not, is kept in its word as '.
std::vector<std::string> tokens_of(std::string_view text) {
  constexpr std::string_view kCurlyApostrophe = "\u2019";
  std::vector<std::string> out;
  std::string token;
  const auto end_token = [&] {
    while (!token.empty() && (token.back() == '.' || token.back() == ',' || token.back() == '\'')) token.pop_back();
    if (!token.empty()) out.push_back(std::move(token));
    token.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(kCurlyApostrophe)) {
      if (!token.empty()) token.push_back('\'');
      at += kCurlyApostrophe.size();
      continue;
    }
    const char c = text[at++];
    const char next = at < text.size() ? text[at] : ' ';
    const bool joins_digits = (c == '.' || c == ',') && !token.empty() && is_ascii_digit(token.back()) && is_ascii_digit(next);
    const bool apostrophe = c == '\'' && !token.empty() && is_letter(token.back());
    const bool typographic = static_cast<unsigned char>(c) == 0xE2 || static_cast<unsigned char>(c) == 0xC2;
    if ((is_inner(c) && !typographic) || joins_digits || apostrophe) {
      token.push_back(c);
    } else {
      if (typographic) at += static_cast<unsigned char>(c) == 0xE2 ? 2 : 1;
      at = std::min(at, text.size());
      end_token();
    }
  }
  end_token();
  return out;
}

std::string without_possessive(std::string word) {
  if (word.ends_with("'s")) word.resize(word.size() - 2);
  return word;
}

/// Normalizes the number that a token starts with: "1,240" 1240, "0.50" 0.5, "08" 8, "4th" 4; empty if there is none. Tokens with leading
/// letters ("B2") or several points ("2.3.1") are names, not numbers.
std::string number_of(std::string_view token) {
  if (token.empty() || !is_ascii_digit(token.front())) return {};
  std::string out;
  int points = 0;
  for (const char c : token) {
    if (c == '.') ++points;
    if (is_ascii_digit(c) || c == '.') out.push_back(c);
    if (is_letter(c)) break;
  }
  if (points > 1) return {};
  if (points == 1) {
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
  }
  const std::size_t first = std::min(out.find_first_not_of('0'), out.size() - 1);
  out.erase(0, out[first] == '.' ? first - 1 : first);
  return out;
}

int word_number(std::string_view lower) {
  const auto found = std::ranges::find(kNumberWords, lower, &std::pair<std::string_view, int>::first);
  return found == kNumberWords.end() ? 0 : found->second;
}

/// Multiplies by a power of ten: "3.5" with 6 zeros is 3500000.
std::string scaled(const std::string& number, int zeros) {
  const std::size_t point = number.find('.');
  std::string digits = number;
  if (point != std::string::npos) {
    digits.erase(point, 1);
    zeros -= static_cast<int>(digits.size() - point);
  }
  if (zeros < 0) return number;
  digits.append(static_cast<std::size_t>(zeros), '0');
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

int month_of(std::string_view lower) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (lower == kMonths[i] || lower == kMonths[i].substr(0, 3) || (i == 8 && lower == "sept")) return static_cast<int>(i) + 1;
  }
  return 0;
}

/// A number and its two possible readings: without and with the magnitude that follows it.
struct Number {
  std::string plain;
  std::string scaled;  ///< Equals plain if there is no magnitude.
  bool demanded = true;
};

struct Facts {
  std::vector<Number> numbers;
  std::set<int> months;
  std::vector<std::string> names;  ///< Lower case.
};

class FactReader {
 public:
  explicit FactReader(std::string_view text) : tokens_(tokens_of(text)) {
    for (const std::string& token : tokens_) lower_.push_back(to_lower_ascii(token));
  }

  Facts read() {
    Facts facts;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      read_number(i, facts);
      if (const int month = month_of(lower_[i]); month != 0 && (has_digit(i + 1) || (i > 0 && has_digit(i - 1))))
        facts.months.insert(month);
      if (is_name(i)) facts.names.push_back(without_possessive(lower_[i]));
    }
    if (2 * facts.names.size() > tokens_.size()) facts.names.clear();  // a headline: its capitals do not mark names
    return facts;
  }

 private:
  bool has_digit(std::size_t i) const { return i < tokens_.size() && is_ascii_digit(tokens_[i].front()); }

  void read_number(std::size_t i, Facts& facts) const {
    Number number{.plain = number_of(tokens_[i]), .scaled = {}};
    if (number.plain.empty()) {
      int value = word_number(lower_[i]);
      if (value == 0) return;
      number.demanded = value != 1;  // "one" is a pronoun as often as a number
      const int unit = value >= 20 && i + 1 < lower_.size() ? word_number(lower_[i + 1]) : 0;
      if (unit > 0 && unit < 10) value += unit;
      number.plain = std::to_string(value);
    }
    number.scaled = number.plain;
    if (i + 1 < lower_.size()) {
      const auto magnitude = std::ranges::find(kMagnitudes, lower_[i + 1], &std::pair<std::string_view, int>::first);
      if (magnitude != kMagnitudes.end()) number.scaled = scaled(number.plain, magnitude->second);
    }
    // The unit of "twenty-one" was already read with the tens.
    if (i > 0 && word_number(lower_[i]) > 0 && word_number(lower_[i]) < 10 && word_number(lower_[i - 1]) >= 20) number.demanded = false;
    facts.numbers.push_back(std::move(number));
  }

  bool is_name(std::size_t i) const {
    const std::string& token = tokens_[i];
    if (!is_ascii_upper(token.front()) || token.size() < 2 || month_of(lower_[i]) != 0) return false;
    const auto capitals = std::ranges::count_if(token, is_ascii_upper);
    const bool all_capitals = capitals >= 2 && static_cast<std::size_t>(capitals) + 1 >= token.size();
    return i > 0 || all_capitals;
  }

  std::vector<std::string> tokens_;
  std::vector<std::string> lower_;
};

bool alike(std::string_view name, std::string_view word) {
  if (name == word) return true;
  const std::size_t shorter = std::min(name.size(), word.size());
  return shorter >= kPrefixBytesMin && (name.starts_with(word) || word.starts_with(name));
}

bool denies_in_other_words(const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [](std::string_view word) {
    return std::ranges::any_of(kDenialKin, [&](std::string_view kin) { return word.starts_with(kin); }) ||
           (word.size() > 5 && (word.starts_with("un") || word.starts_with("non")));
  });
}

bool denies_by_word(const std::vector<std::string>& words) {
  return std::ranges::any_of(
      words, [](std::string_view word) { return word.ends_with("n't") || std::ranges::find(kDenials, word) != kDenials.end(); });
}

std::vector<std::string> lower_words(std::string_view text) {
  std::vector<std::string> out = tokens_of(text);
  for (std::string& word : out) word = to_lower_ascii(word);
  return out;
}

bool names_missing(const Facts& claim, const std::vector<std::string>& words) {
  return std::ranges::any_of(claim.names, [&](const std::string& name) {
    return std::ranges::none_of(words, [&](const std::string& word) { return alike(name, without_possessive(word)); });
  });
}

bool numbers_missing(const Facts& claim, const Facts& evidence) {
  std::set<std::string_view> said;
  for (const Number& number : evidence.numbers) said.insert(number.scaled);
  return std::ranges::any_of(claim.numbers, [&](const Number& number) {
    return number.demanded && !said.contains(number.plain) && !said.contains(number.scaled);
  });
}

/// Dates such as 2016-08-24 give the month as a number, so a bare number also matches, which is lenient on purpose.
bool months_missing(const Facts& claim, const Facts& evidence) {
  return std::ranges::any_of(claim.months, [&](int month) {
    const std::string number = std::to_string(month);
    return !evidence.months.contains(month) &&
           std::ranges::none_of(evidence.numbers, [&](const Number& said) { return said.plain == number; });
  });
}

}  // namespace

std::optional<Breach> first_breach(std::string_view claim, std::string_view evidence) {
  const Facts wanted = FactReader(claim).read();
  const Facts said = FactReader(evidence).read();
  if (numbers_missing(wanted, said)) return Breach::kNumber;
  if (months_missing(wanted, said)) return Breach::kDate;
  const std::vector<std::string> words = lower_words(evidence);
  if (names_missing(wanted, words)) return Breach::kName;
  if (denies(claim) && !denies_by_word(words) && !denies_in_other_words(words)) return Breach::kNegation;
  return std::nullopt;
}

bool denies(std::string_view sentence) { return denies_by_word(lower_words(sentence)); }

}  // namespace footnote::answer
