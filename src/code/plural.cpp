#include "code/plural.h"

#include <array>
#include <utility>

#include "base/text.h"

namespace footnote::code {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kIrregular = {{{"person", "people"},
                                                                                       {"child", "children"},
                                                                                       {"man", "men"},
                                                                                       {"woman", "women"},
                                                                                       {"foot", "feet"},
                                                                                       {"tooth", "teeth"},
                                                                                       {"goose", "geese"},
                                                                                       {"mouse", "mice"},
                                                                                       {"index", "indices"},
                                                                                       {"matrix", "matrices"},
                                                                                       {"criterion", "criteria"},
                                                                                       {"leaf", "leaves"}}};
constexpr std::array<std::string_view, 12> kUncountable = {"equipment", "information", "news", "money",  "series",   "species",
                                                           "sheep",     "fish",        "deer", "police", "feedback", "metadata"};

bool is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

/// What comes before the last "_", with it, and what comes after.
std::pair<std::string_view, std::string_view> split_last(std::string_view word) {
  const std::size_t at = word.find_last_of("_-");
  if (at == std::string_view::npos) return {"", word};
  return {word.substr(0, at + 1), word.substr(at + 1)};
}

std::string plural_word(std::string_view word) {
  for (const std::string_view same : kUncountable) {
    if (word == same) return std::string(word);
  }
  for (const auto& [one, many] : kIrregular) {
    if (word == one) return std::string(many);
  }
  const std::string text(word);
  if (word.ends_with('y') && word.size() > 1 && !is_vowel(word[word.size() - 2])) return text.substr(0, text.size() - 1) + "ies";
  if (word.ends_with("s") || word.ends_with("x") || word.ends_with("z") || word.ends_with("ch") || word.ends_with("sh")) return text + "es";
  return text + "s";
}

std::string singular_word(std::string_view word) {
  for (const std::string_view same : kUncountable) {
    if (word == same) return std::string(word);
  }
  for (const auto& [one, many] : kIrregular) {
    if (word == many) return std::string(one);
  }
  const std::string text(word);
  if (word.ends_with("ies") && word.size() > 4) return text.substr(0, text.size() - 3) + "y";
  for (const std::string_view end : {"sses", "xes", "zes", "ches", "shes", "uses"}) {
    if (word.ends_with(end)) return text.substr(0, text.size() - 2);
  }
  if (word.ends_with("ss") || word.ends_with("us") || !word.ends_with("s") || word.size() < 3) return text;
  return text.substr(0, text.size() - 1);
}

}  // namespace

std::string snake_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    // As Eloquent does it: before each capital, so "APIKey" is "a_p_i_key".
    if (is_ascii_upper(name[i]) && i > 0 && out.back() != '_') out += '_';
    out += ascii_lower(name[i]);
  }
  return out;
}

std::string plural(std::string_view word) {
  const auto [before, last] = split_last(word);
  return last.empty() ? std::string(word) : std::string(before) + plural_word(last);
}

std::string singular(std::string_view word) {
  const auto [before, last] = split_last(word);
  return last.empty() ? std::string(word) : std::string(before) + singular_word(last);
}

}  // namespace footnote::code
