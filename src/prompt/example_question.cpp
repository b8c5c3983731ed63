#include "prompt/example_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"

namespace footnote::prompt {

namespace {

constexpr std::size_t kHeadingCharsMin = 4;
constexpr std::size_t kHeadingCharsMax = 60;
constexpr std::size_t kTitleCharsMax = 60;

struct Form {
  std::string_view language;
  std::string_view text;
  bool lower_first;  ///< Nouns of the others keep their capitals.
};

constexpr std::array<Form, 6> kForms{{{"en", "What does “{}” say about {}?", true},
                                      {"de", "Was steht in „{}“ über {}?", false},
                                      {"fr", "Que dit « {} » sur {} ?", true},
                                      {"es", "¿Qué dice «{}» sobre {}?", true},
                                      {"it", "Che cosa dice «{}» su {}?", true},
                                      {"sv", "Vad säger ”{}” om {}?", true}}};

constexpr std::array<std::string_view, 22> kEmptyHeadings{
    "introduction", "overview",  "summary",    "contents", "table of contents", "appendix",  "references", "see also",
    "conclusion",   "changelog", "background", "notes",    "einleitung",        "übersicht", "inhalt",     "zusammenfassung",
    "résumé",       "sommaire",  "resumen",    "indice",   "inledning",         "license"};

/// "2.1 Carrying days over:" -> "Carrying days over"
std::string_view without_number(std::string_view heading) {
  heading = trim(heading);
  const std::size_t digits = heading.find_first_not_of("0123456789.)§ \t");
  heading = digits == std::string_view::npos ? std::string_view{} : heading.substr(digits);
  while (!heading.empty() && std::string_view(".:;,").find(heading.back()) != std::string_view::npos) heading.remove_suffix(1);
  return heading;
}

/// "Carrying days over" -> "carrying days over"; "VPN access" and "O'Neill" stay.
std::string lower_first(std::string_view heading) {
  std::string out(heading);
  const bool is_name = out.size() < 2 || out[1] < 'a' || out[1] > 'z';
  if (!is_name && out[0] >= 'A' && out[0] <= 'Z') out[0] = static_cast<char>(out[0] - 'A' + 'a');
  return out;
}

bool says_something(std::string_view heading) {
  const std::size_t length = count_code_points(heading);
  if (length < kHeadingCharsMin || length > kHeadingCharsMax) return false;
  if (heading.find_first_of("<>{}[]|`*\\\"\n\r\t=/") != std::string_view::npos) return false;
  return std::ranges::find(kEmptyHeadings, to_lower_ascii(heading)) == kEmptyHeadings.end();
}

}  // namespace

std::optional<std::string> example_question(std::string_view title, std::string_view heading, std::string_view language) {
  heading = without_number(heading);
  title = trim(title);
  if (!says_something(heading) || to_lower_ascii(heading) == to_lower_ascii(title)) return std::nullopt;
  if (heading.ends_with('?') && heading.find(' ') != std::string_view::npos) return std::string(heading);
  if (title.empty() || count_code_points(title) > kTitleCharsMax || title.find_first_of("“”„«»\n") != std::string_view::npos)
    return std::nullopt;
  while (heading.ends_with('?') || heading.ends_with('!')) heading.remove_suffix(1);
  const auto known = std::ranges::find(kForms, language, &Form::language);
  const Form& form = known == kForms.end() ? kForms.front() : *known;
  return fmt::format(fmt::runtime(form.text), title, form.lower_first ? lower_first(heading) : std::string(heading));
}

}  // namespace footnote::prompt
