#include "answer/failure_phrases.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/fold_words.h"
#include "base/text.h"
#include "chunk/sentences.h"

namespace footnote::answer {

namespace {

/// Comma-separated, in natural spelling; compared after fold_words.
struct PhraseList {
  std::string_view language;
  std::string_view phrases;
};

constexpr PhraseList kLists[] = {
    {"en",
     "don't know, do not know, doesn't say, does not say, not sure, couldn't find, could not find, can't find, cannot find, wasn't able to "
     "find, "
     "unable to find, no information, don't have information, do not have information, don't have any information, "
     "do not have any information, don't have enough information, do not have enough information, not mentioned in the sources, "
     "sources do not mention, sources don't mention, not in the sources"},
    {"de",
     "weiß nicht, weiß ich nicht, weiß ich leider nicht, weiß es nicht, keine Antwort, nicht sicher, konnte nicht finden, nicht finden "
     "können, konnte nichts finden, "
     "konnte dazu nichts finden, konnte keine, nichts gefunden, nicht gefunden, keine Information, keine Informationen, keine Angaben, "
     "liegen mir nicht vor, liegen nicht vor, in den Quellen nicht"},
    {"fr",
     "ne sais pas, ne sait pas, pas sûr, pas sûre, pas certain, pas certaine, n'ai pas trouvé, n'ai pas pu trouver, ne trouve pas, "
     "pas réussi à trouver, impossible de trouver, aucune information, pas d'information, pas d'informations, ne mentionnent pas"},
    {"es",
     "no sé, no lo sé, no sabemos, no estoy seguro, no estoy segura, no encontré, no he encontrado, no pude encontrar, no he podido "
     "encontrar, "
     "no se encontró, ninguna información, no hay información, no tengo información, sin información, no mencionan"},
    {"it",
     "non lo so, non so, non sono sicuro, non sono sicura, non sono certo, non ho trovato, non trovo, non sono riuscito a trovare, "
     "non è stato possibile trovare, impossibile trovare, nessuna informazione, non ho informazioni, non ci sono informazioni, "
     "non menzionano"},
    {"pt",
     "não sei, não tenho certeza, não tenho a certeza, não encontrei, não consegui encontrar, não foi possível encontrar, "
     "nenhuma informação, não há informação, não há informações, não tenho informação, não tenho informações, sem informação, "
     "não mencionam"},
    {"nl",
     "weet het niet, weet ik niet, weet niet, niet zeker, kon niet vinden, niet vinden, kon niets vinden, niets gevonden, niet gevonden, "
     "geen informatie, geen gegevens"},
    {"sv",
     "vet inte, vet jag inte, inte säker, inte säkert, hittade inte, hittar inte, kunde inte hitta, kunde inte hittas, hittade ingen, "
     "hittade inget, ingen information, inga uppgifter"},
    {"da",
     "ved ikke, ved jeg ikke, ikke sikker, fandt ikke, kunne ikke finde, kan ikke finde, fandt ingen, fandt intet, ingen information, "
     "ingen oplysninger"},
    {"nb",
     "vet ikke, vet jeg ikke, ikke sikker, fant ikke, kunne ikke finne, kan ikke finne, fant ingen, fant ingenting, ingen informasjon, "
     "ingen opplysninger"},
    {"fi",
     "en tiedä, emme tiedä, en ole varma, en löytänyt, en löydä, ei löytynyt, en pystynyt löytämään, ei tietoa, ei ole tietoa, "
     "minulla ei ole tietoa"},
    {"pl",
     "nie wiem, nie jestem pewien, nie jestem pewna, nie znalazłem, nie znalazłam, nie udało się znaleźć, nie udało mi się znaleźć, "
     "nie mogę znaleźć, brak informacji, nie mam informacji, nie ma informacji"},
    {"lt",
     "nežinau, nežinome, nesu tikras, nesu tikra, neradau, neradome, nepavyko rasti, negaliu rasti, negalėjau rasti, informacijos nėra, "
     "nėra informacijos, neturiu informacijos, jokios informacijos"},
    {"ru",
     "не знаю, не знаем, не уверен, не уверена, не нашёл, не нашел, не нашла, не удалось найти, не могу найти, не смог найти, "
     "нет информации, нет сведений, нет данных"},
    {"cs",
     "nevím, nevíme, nejsem si jistý, nejsem si jistá, nenašel, nenašla, nenašli, nepodařilo se najít, nepodařilo se mi najít, nemohu "
     "najít, "
     "žádné informace, nemám informace, nejsou informace"},
    {"tr",
     "bilmiyorum, bilmiyoruz, emin değilim, emin değiliz, bulamadım, bulamadık, bulunamadı, bilgi yok, bilgim yok, bilgi bulunmuyor, "
     "bilgiye sahip değilim"},
    {"uk",
     "не знаю, не знаємо, не впевнений, не впевнена, не знайшов, не знайшла, не знайшлося, не вдалося знайти, не можу знайти, "
     "не зміг знайти, немає інформації, інформації немає, немає даних"},
    {"ar",
     "لا أعرف, لا أعلم, لا نعرف, لست متأكدًا, لست متأكدة, لم أجد, لم نجد, لم أتمكن من العثور, لا توجد معلومات, لا تتوفر معلومات, "
     "ليس لدي معلومات, ليست لدي معلومات"},
    {"ja", "わかりません, 分かりません, 確かではありません, 見つかりません, 見つけられません, 情報がありません, 情報はありません"},
    {"zh", "不知道, 不确定, 不清楚, 找不到, 未找到, 没有找到, 没有相关信息, 没有信息, 無法找到, 无法找到"},
};

constexpr auto kLanguages = [] {
  std::array<std::string_view, std::size(kLists)> out{};
  std::ranges::transform(kLists, out.begin(), &PhraseList::language);
  return out;
}();

/// One space at each end, so that a substring search for padded words matches whole words only.
std::string padded_words(std::string_view text) { return " " + fold_words(text) + " "; }

std::string primary_language(std::string_view language) { return to_lower_ascii(language.substr(0, language.find_first_of("-_"))); }

std::vector<std::string> phrases_for(std::string_view language) {
  const std::string wanted = primary_language(language);
  const bool known = std::ranges::find(kLanguages, wanted) != kLanguages.end();
  std::vector<std::string> out;
  for (const PhraseList& list : kLists) {
    if (known && list.language != wanted && list.language != "en") continue;
    for (const std::string_view phrase : split(list.phrases, ',')) out.push_back(padded_words(phrase));
  }
  return out;
}

bool holds_any(std::string_view padded, const std::vector<std::string>& phrases) {
  return std::ranges::any_of(phrases, [&](const std::string& phrase) { return padded.find(phrase) != std::string_view::npos; });
}

/// Removes our own markers such as "[1]" and "[1, 2]".
std::string without_markers(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    const std::size_t close = open == std::string_view::npos ? open : text.find(']', open);
    if (close == std::string_view::npos) break;
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const bool marker = !inside.empty() && inside.find_first_not_of("0123456789, ") == std::string_view::npos;
    out += text.substr(0, marker ? open : close + 1);
    // Also removes the space before it, so that the full stop after the marker still ends the sentence.
    while (marker && out.ends_with(' ')) out.pop_back();
    text.remove_prefix(close + 1);
  }
  return out += text;
}

constexpr std::pair<std::string_view, std::string_view> kQuotes[] = {
    {"\"", "\""}, {"\u201C", "\u201D"}, {"\u201E", "\u201C"}, {"\u00AB", "\u00BB"}, {"\u300C", "\u300D"}};

/// The sentence without quoted parts that occur in a source.
std::string without_quotes(std::string_view sentence, const std::vector<std::string>& sources) {
  std::string out(sentence);
  for (const auto& [open, close] : kQuotes) {
    std::size_t from = 0;
    while (true) {
      const std::size_t begin = out.find(open, from);
      const std::size_t end = begin == std::string::npos ? begin : out.find(close, begin + open.size());
      if (end == std::string::npos) break;
      const std::string inside = padded_words(std::string_view(out).substr(begin + open.size(), end - begin - open.size()));
      const bool quoted = std::ranges::any_of(sources, [&](const std::string& source) { return source.find(inside) != std::string::npos; });
      if (quoted) out.replace(begin, end + close.size() - begin, " | ");
      from = quoted ? begin : end;
    }
  }
  return out;
}

}  // namespace

bool holds_failure_phrase(std::string_view answer, std::string_view language, std::span<const std::string_view> cited) {
  const std::vector<std::string> phrases = phrases_for(language);
  const std::string plain = without_markers(answer);
  // Fast path: most answers contain no such phrase.
  if (!holds_any(padded_words(plain), phrases)) return false;
  std::vector<std::string> sources;
  for (const std::string_view source : cited) sources.push_back(padded_words(source));
  return std::ranges::any_of(chunk::split_sentences(plain), [&](const TextRange& range) {
    const std::string_view sentence = std::string_view(plain).substr(range.begin, range.size());
    const std::string padded = padded_words(sentence);
    if (!holds_any(padded, phrases)) return false;
    const bool quoted = std::ranges::any_of(sources, [&](const std::string& source) { return source.find(padded) != std::string::npos; });
    return !quoted && holds_any(padded_words(without_quotes(sentence, sources)), phrases);
  });
}

std::span<const std::string_view> failure_phrase_languages() { return kLanguages; }

}  // namespace footnote::answer
