#include "prompt/refusal_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "prompt/language_name.h"

namespace footnote::prompt {

namespace {

struct Text {
  std::string_view language;
  std::string_view text;
};

constexpr Text kNotCovered[] = {
    {"en", "I can't answer in this language: the documents are in another one. Please ask in the language of the documents."},
    {"de", "In dieser Sprache kann ich nicht antworten: Die Dokumente sind in einer anderen. Bitte frage in der Sprache der Dokumente."},
    {"fr",
     "Je ne peux pas répondre dans cette langue : les documents sont dans une autre. Posez la question dans la langue des documents."},
    {"es", "No puedo responder en este idioma: los documentos están en otro. Pregunte en el idioma de los documentos."},
    {"it", "Non posso rispondere in questa lingua: i documenti sono in un'altra. Faccia la domanda nella lingua dei documenti."},
    {"pt", "Não posso responder nesta língua: os documentos estão noutra. Faça a pergunta na língua dos documentos."},
    {"nl", "Ik kan in deze taal niet antwoorden: de documenten zijn in een andere taal. Stel de vraag in de taal van de documenten."},
    {"sv", "Jag kan inte svara på det här språket: dokumenten är på ett annat. Ställ frågan på dokumentens språk."},
    {"da", "Jeg kan ikke svare på dette sprog: dokumenterne er på et andet. Stil spørgsmålet på dokumenternes sprog."},
    {"no", "Jeg kan ikke svare på dette språket: dokumentene er på et annet. Still spørsmålet på dokumentenes språk."},
    {"fi", "En voi vastata tällä kielellä: asiakirjat ovat toisella kielellä. Kysy asiakirjojen kielellä."},
    {"pl", "Nie mogę odpowiedzieć w tym języku: dokumenty są w innym. Zadaj pytanie w języku dokumentów."},
    {"cs", "V tomto jazyce odpovědět nemohu: dokumenty jsou v jiném. Zeptejte se v jazyce dokumentů."},
    {"tr", "Bu dilde yanıt veremiyorum: belgeler başka bir dilde. Lütfen belgelerin dilinde sorun."},
    {"hu", "Ezen a nyelven nem tudok válaszolni: a dokumentumok más nyelvűek. Kérem, a dokumentumok nyelvén kérdezzen."},
    {"ro", "Nu pot răspunde în această limbă: documentele sunt în alta. Întrebați în limba documentelor."},
    {"id", "Saya tidak dapat menjawab dalam bahasa ini: dokumennya dalam bahasa lain. Silakan bertanya dalam bahasa dokumen."},
    {"ru", "Я не могу ответить на этом языке: документы на другом. Задайте вопрос на языке документов."},
    {"uk", "Я не можу відповісти цією мовою: документи іншою. Поставте запитання мовою документів."},
    {"ar", "لا يمكنني الإجابة بهذه اللغة: المستندات بلغة أخرى. يُرجى طرح السؤال بلغة المستندات."},
    {"zh", "我无法用这种语言回答：文档使用的是另一种语言。请用文档的语言提问。"},
    {"ja", "この言語ではお答えできません。文書は別の言語で書かれています。文書の言語でお尋ねください。"},
};

}  // namespace

std::string_view language_not_covered_text(std::string_view language) {
  const auto found = std::ranges::find(kNotCovered, language, &Text::language);
  return found == std::ranges::end(kNotCovered) ? kNotCovered[0].text : found->text;
}

std::string_view withdrawn_text() { return "(Withdrawn: the documents do not support this text. What they say follows.)"; }

std::string no_context_text(std::string_view foreign_language) {
  constexpr std::string_view kText = "I could not find an answer to this in the documents.";
  if (foreign_language.empty()) return std::string(kText);
  return fmt::format(
      "{} The question is in {}, a language that the search model does not know: only passages that share its words can be found. Ask in "
      "the language of the documents, or install a multilingual model.",
      kText, language_name(foreign_language));
}

}  // namespace footnote::prompt
