#include "retrieve/language.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/utf8.h"

namespace footnote::retrieve {
namespace {

struct Script {
  char32_t first, last;
  std::string_view language;
};
// Each script maps to the language most used in it. Kana and Hangul take precedence over Han characters in the same text.
constexpr Script kScripts[] = {
    {0x3040, 0x30FF, "ja"}, {0xAC00, 0xD7AF, "ko"}, {0x1100, 0x11FF, "ko"}, {0x0370, 0x03FF, "el"}, {0x0400, 0x04FF, "ru"},
    {0x0530, 0x058F, "hy"}, {0x0590, 0x05FF, "he"}, {0x0600, 0x06FF, "ar"}, {0x0900, 0x097F, "hi"}, {0x0980, 0x09FF, "bn"},
    {0x0B80, 0x0BFF, "ta"}, {0x0E00, 0x0E7F, "th"}, {0x10A0, 0x10FF, "ka"}, {0x4E00, 0x9FFF, "zh"}, {0x3400, 0x4DBF, "zh"},
};

struct SmallWords {
  std::string_view language;
  std::string_view words;  // space-separated
};
// Question words, articles, pronouns and prepositions; words that several languages share are mostly left out.
constexpr SmallWords kSmallWords[] = {
    {"en",
     " the of and to is are was were what how which who when where why does do did can with for from this that it its my your has have "
     "be by on at as i we you they not there than into should would could will "},
    {"de",
     " der das den dem des ein eine einen einem einer ist sind war wie wer wo wann warum welche welcher welches kann mit von zu und "
     "oder nicht ich wir sie es auf bei aus nach werden wird hat haben im zum zur gibt wurde "},
    {"fr",
     " le la les un une des du de est sont était quel quelle quels quelles comment qui où quand pourquoi avec dans pour par et ou ne "
     "pas je nous vous il elle sur au aux ce cette ces peut a été que quoi "},
    {"es",
     " el la de los las un una unos unas es son era qué cómo quién dónde cuándo cuál cuáles por para con del al y o no en se su sus lo "
     "está están fue hay como que puede "},
    {"it",
     " il lo la gli le un una è sono era che come chi dove quando perché quale quali con di del della dei delle nel nella per e o non "
     "si può cosa quanto quanti al alla da "},
    {"pt",
     " o os as de um uma é são era que como quem onde quando qual quais por para com do da dos das no na nos nas e ou não se ao pode foi "
     "está há em seu sua "},
    {"nl",
     " de het een is zijn was wat hoe wie waar wanneer waarom welke met van en of niet ik wij ze er op bij uit naar wordt worden "
     "heeft hebben kan voor dit dat aan "},
    {"sv", " den det en ett är var vad hur vem när varför vilken vilka med av och eller inte jag vi på från till som kan har finns för "},
    {"da",
     " den det en et er var hvad hvordan hvem hvor hvornår hvorfor hvilken hvilke med af og eller ikke jeg vi på fra til som kan har "
     "for blev "},
    {"no",
     " den det en et er var hva hvordan hvem hvor når hvorfor hvilken hvilke med av og eller ikke jeg vi på fra til som kan har for "
     "ble "},
    {"fi", " on oli mitä mikä miten kuka missä milloin miksi mikä ja tai ei minä me he kanssa että ovat voi kuinka "},
    {"pl", " jest są był była co jak kto gdzie kiedy dlaczego który która które z ze do na i lub nie się w od dla czy to przez ile "},
    {"cs", " je jsou byl byla co jak kdo kde kdy proč který která které s se do na a nebo ne v od pro z ve kolik "},
    {"tr", " bir bu ne nasıl kim nerede hangi neden ve veya ile için mi mı mu mü değil olan kaç var "},
    {"hu", " a az egy és vagy nem mi hogyan ki hol mikor miért melyik van volt hogy milyen mennyi "},
    {"ro", " un o de este sunt era ce cum cine unde când care cu de la și sau nu în pe din pentru cât "},
    {"id", " apa bagaimana siapa mana kapan mengapa yang dan atau tidak dengan untuk dari di ke adalah ini itu pada berapa "},
};

std::string_view language_of_script(std::string_view text) {
  std::array<std::size_t, std::size(kScripts)> counts{};
  std::size_t letters = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char32_t point = next_code_point(text, at);
    const bool ascii_letter = (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z');
    letters += ascii_letter || point >= 0xC0;
    for (std::size_t i = 0; i < std::size(kScripts); ++i) counts[i] += point >= kScripts[i].first && point <= kScripts[i].last;
  }
  for (std::size_t i = 0; i < std::size(kScripts); ++i) {
    // A third of the letters is enough: questions in other scripts contain Latin names and terms.
    if (counts[i] > 0 && 3 * counts[i] >= letters) return kScripts[i].language;
  }
  return {};
}

bool is_letter(char32_t point) {
  if (point < 0x80) return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z');
  return point >= 0xC0 && !(point >= 0x2000 && point <= 0x206F);
}

/// Lower-cased as far as the words below need it: ASCII and Latin-1.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool open = false;
  for (std::size_t at = 0; at < text.size();) {
    char32_t point = next_code_point(text, at);
    if (!is_letter(point)) {
      open = false;
      continue;
    }
    if (!open) out.emplace_back();
    open = true;
    if ((point >= 'A' && point <= 'Z') || (point >= 0xC0 && point <= 0xDE)) point += 0x20;
    append_utf8(out.back(), point);
  }
  return out;
}

/// The languages that share a function word: bit i stands for kSmallWords[i].
using LanguageBits = std::uint32_t;
static_assert(std::size(kSmallWords) <= 32);

std::unordered_map<std::string_view, LanguageBits> index_small_words() {
  std::unordered_map<std::string_view, LanguageBits> out;
  for (std::size_t i = 0; i < std::size(kSmallWords); ++i) {
    const std::string_view words = kSmallWords[i].words;
    for (std::size_t begin = 1; begin < words.size();) {
      const std::size_t end = words.find(' ', begin);
      out[words.substr(begin, end - begin)] |= LanguageBits{1} << i;
      begin = end + 1;
    }
  }
  return out;
}

std::string_view language_of_words(std::string_view text) {
  static const auto languages_of = index_small_words();
  std::array<int, std::size(kSmallWords)> counts{};
  for (const std::string& word : words_of(text)) {
    const auto found = languages_of.find(word);
    if (found == languages_of.end()) continue;
    for (std::size_t i = 0; i < std::size(kSmallWords); ++i) counts[i] += static_cast<int>(found->second >> i & 1);
  }
  const auto best = std::ranges::max_element(counts);
  const bool alone = std::ranges::count(counts, *best) == 1;
  if (*best == 0 || (!alone && *best < 2)) return {};
  // Ties go to the first language: English before the others.
  return kSmallWords[static_cast<std::size_t>(best - counts.begin())].language;
}

}  // namespace

std::string_view detect_language(std::string_view text) {
  const std::string_view by_script = language_of_script(text);
  return by_script.empty() ? language_of_words(text) : by_script;
}

std::string_view language_of(std::span<const Hit> hits) {
  constexpr std::size_t kHitsMax = 3;
  std::string text;
  for (const Hit& hit : hits.first(std::min(hits.size(), kHitsMax))) text += hit.chunk.text + "\n";
  return detect_language(text);
}

std::string_view foreign_language(std::string_view question, std::span<const std::string> languages) {
  if (languages.empty()) return {};
  const std::string_view language = detect_language(question);
  return std::ranges::find(languages, language) == languages.end() ? language : std::string_view();
}

}  // namespace footnote::retrieve
