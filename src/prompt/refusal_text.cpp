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

/// What a refusal says to users of the knowledge base.
struct RefusalTexts {
  std::string_view language;
  std::string_view no_context;
  /// Follows it if the search model does not know the question's language.
  std::string_view unknown_language;
  std::string_view blocked;
  std::string_view hint;
  std::string_view tentative;  ///< Behind an answer whose sources are all weakly backed.
};

constexpr RefusalTexts kRefusals[] = {
    {"en", "I could not find an answer to this in the documents.",
     "The search model does not know the language of the question: only passages that share its words can be found. Ask in the language "
     "of the documents, or install a multilingual model.",
     "I can't answer this question here.", "Try other words, or add a document that covers it.",
     "This is tentative: it rests on weakly backed sources alone."},
    {"de", "Dazu habe ich in den Dokumenten keine Antwort gefunden.",
     "Das Suchmodell kennt die Sprache der Frage nicht: Es werden nur Stellen gefunden, die ihre Wörter enthalten. Frage in der Sprache "
     "der Dokumente, oder installiere ein mehrsprachiges Modell.",
     "Diese Frage kann ich hier nicht beantworten.", "Versuche es mit anderen Wörtern, oder füge ein Dokument hinzu, das es behandelt.",
     "Das ist nicht gesichert: Es stützt sich nur auf schwach belegte Quellen."},
    {"fr", "Je n'ai pas trouvé de réponse à cette question dans les documents.",
     "Le modèle de recherche ne connaît pas la langue de la question : seuls les passages qui partagent ses mots peuvent être trouvés. "
     "Posez la question dans la langue des documents, ou installez un modèle multilingue.",
     "Je ne peux pas répondre à cette question ici.", "Essayez d'autres mots, ou ajoutez un document qui en parle.",
     "C'est provisoire : cela ne repose que sur des sources peu étayées."},
    {"es", "No he encontrado una respuesta a esto en los documentos.",
     "El modelo de búsqueda no conoce el idioma de la pregunta: solo se encuentran pasajes que comparten sus palabras. Pregunte en el "
     "idioma de los documentos o instale un modelo multilingüe.",
     "No puedo responder a esta pregunta aquí.", "Pruebe con otras palabras o añada un documento que lo trate.",
     "Esto es provisional: se basa solo en fuentes poco respaldadas."},
    {"it", "Non ho trovato una risposta nei documenti.",
     "Il modello di ricerca non conosce la lingua della domanda: si trovano solo i passaggi che ne contengono le parole. Faccia la domanda "
     "nella lingua dei documenti, oppure installi un modello multilingue.",
     "Non posso rispondere a questa domanda qui.", "Provi con altre parole, o aggiunga un documento che ne parli.",
     "Questo è provvisorio: si basa solo su fonti poco attendibili."},
    {"sv", "Jag hittade inget svar på det i dokumenten.",
     "Sökmodellen kan inte frågans språk: bara avsnitt som innehåller dess ord kan hittas. Fråga på dokumentens språk, eller installera en "
     "flerspråkig modell.",
     "Den frågan kan jag inte svara på här.", "Försök med andra ord, eller lägg till ett dokument som handlar om det.",
     "Det här är osäkert: det vilar bara på svagt underbyggda källor."},
};

const RefusalTexts& refusals_in(std::string_view language) {
  const auto found = std::ranges::find(kRefusals, language, &RefusalTexts::language);
  return found == std::ranges::end(kRefusals) ? kRefusals[0] : *found;
}

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

std::string kb_refusal_text(RefusalReason reason, std::string_view language, std::string_view foreign_language) {
  const RefusalTexts& texts = refusals_in(language);
  switch (reason) {
    case RefusalReason::kLanguageNotCovered: return std::string(language_not_covered_text(foreign_language));
    case RefusalReason::kBlockedByGuardrails: return std::string(texts.blocked);
    case RefusalReason::kLlmSelfRefusal: return std::string(texts.no_context);  // passages were found: the language is not the cause
    case RefusalReason::kNoRelevantContext: break;
  }
  if (foreign_language.empty()) return std::string(texts.no_context);
  return fmt::format("{} {}", texts.no_context, texts.unknown_language);
}

std::string_view tentative_text(std::string_view language) { return refusals_in(language).tentative; }

std::string_view kb_refusal_hint(std::string_view language) { return refusals_in(language).hint; }

}  // namespace footnote::prompt
