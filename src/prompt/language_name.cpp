#include "prompt/language_name.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace footnote::prompt {

std::string primary_language(std::string_view tag) {
  const std::string code = to_lower_ascii(trim(tag.substr(0, tag.find_first_of("-_;"))));
  const bool is_code = (code.size() == 2 || code.size() == 3) && std::ranges::all_of(code, [](char c) { return c >= 'a' && c <= 'z'; });
  return is_code ? code : "";
}

std::string language_name(std::string_view code) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"ar", "Arabic"},     {"bg", "Bulgarian"}, {"bn", "Bengali"},   {"ca", "Catalan"},   {"cs", "Czech"},      {"da", "Danish"},
      {"de", "German"},     {"el", "Greek"},     {"en", "English"},   {"es", "Spanish"},   {"et", "Estonian"},   {"fa", "Persian"},
      {"fi", "Finnish"},    {"fr", "French"},    {"he", "Hebrew"},    {"hi", "Hindi"},     {"hr", "Croatian"},   {"hu", "Hungarian"},
      {"id", "Indonesian"}, {"it", "Italian"},   {"ja", "Japanese"},  {"ko", "Korean"},    {"lt", "Lithuanian"}, {"lv", "Latvian"},
      {"ms", "Malay"},      {"nb", "Norwegian"}, {"nl", "Dutch"},     {"no", "Norwegian"}, {"pl", "Polish"},     {"pt", "Portuguese"},
      {"ro", "Romanian"},   {"ru", "Russian"},   {"sk", "Slovak"},    {"sl", "Slovenian"}, {"sr", "Serbian"},    {"sv", "Swedish"},
      {"th", "Thai"},       {"tr", "Turkish"},   {"uk", "Ukrainian"}, {"zh", "Chinese"}};
  const auto found = std::ranges::find(kNames, code, [](const auto& entry) { return entry.first; });
  return std::string(found == std::ranges::end(kNames) ? code : found->second);
}

}  // namespace footnote::prompt
