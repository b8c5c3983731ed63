#include "answer/visitor_texts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "prompt/language_name.h"
#include "retrieve/language.h"

namespace footnote::answer {

namespace {

struct Texts {
  std::string_view language;
  std::string_view unknown;
  std::string_view declined;
  std::string_view withdrawn;
};

constexpr Texts kTexts[] = {
    {"en", "I'm sorry, I don't know. I could not find an answer to this on our pages.",
     "I'm sorry, I can't help with this topic. Is there something else that I can do for you?",
     "(Please ignore this: our pages do not confirm it. What they say follows.)"},
    {"de", "Das weiß ich leider nicht. Auf unseren Seiten habe ich dazu keine Antwort gefunden.",
     "Zu diesem Thema kann ich leider nichts sagen. Kann ich dir bei etwas anderem helfen?",
     "(Bitte nicht beachten: Unsere Seiten bestätigen das nicht. Was sie sagen, folgt.)"},
    {"fr", "Désolé, je ne sais pas. Je n'ai pas trouvé de réponse à cette question sur nos pages.",
     "Désolé, je ne peux pas répondre sur ce sujet. Puis-je vous aider pour autre chose ?",
     "(Ne pas tenir compte de ce texte : nos pages ne le confirment pas. Voici ce qu'elles disent.)"},
    {"es", "Lo siento, no lo sé. No he encontrado una respuesta en nuestras páginas.",
     "Lo siento, no puedo ayudar con este tema. ¿Puedo ayudarle con otra cosa?",
     "(No tenga en cuenta este texto: nuestras páginas no lo confirman. A continuación, lo que dicen.)"},
    {"it", "Mi dispiace, non lo so. Non ho trovato una risposta nelle nostre pagine.",
     "Mi dispiace, non posso aiutare su questo argomento. Posso aiutarla in altro modo?",
     "(Non tenere conto di questo testo: le nostre pagine non lo confermano. Ecco che cosa dicono.)"},
    {"pt", "Desculpe, não sei. Não encontrei uma resposta nas nossas páginas.",
     "Desculpe, não posso ajudar com este assunto. Posso ajudar com outra coisa?",
     "(Ignore este texto: as nossas páginas não o confirmam. Segue-se o que elas dizem.)"},
    {"nl", "Sorry, dat weet ik niet. Ik heb op onze pagina's geen antwoord gevonden.",
     "Sorry, bij dit onderwerp kan ik niet helpen. Kan ik iets anders voor u doen?",
     "(Negeer deze tekst: onze pagina's bevestigen hem niet. Wat ze wel zeggen, volgt.)"},
    {"sv", "Jag vet tyvärr inte. Jag hittade inget svar på våra sidor.",
     "Jag kan tyvärr inte hjälpa till med det ämnet. Kan jag hjälpa dig med något annat?",
     "(Bortse från den här texten: våra sidor bekräftar den inte. Vad de säger följer.)"},
    {"da", "Det ved jeg desværre ikke. Jeg fandt ikke noget svar på vores sider.",
     "Det emne kan jeg desværre ikke hjælpe med. Kan jeg hjælpe med noget andet?",
     "(Se bort fra denne tekst: vores sider bekræfter den ikke. Her er, hvad de siger.)"},
    {"nb", "Det vet jeg dessverre ikke. Jeg fant ikke noe svar på sidene våre.",
     "Det emnet kan jeg dessverre ikke hjelpe med. Kan jeg hjelpe med noe annet?",
     "(Se bort fra denne teksten: sidene våre bekrefter den ikke. Her er hva de sier.)"},
    {"fi", "Valitettavasti en tiedä. En löytänyt vastausta sivuiltamme.",
     "Tässä aiheessa en valitettavasti voi auttaa. Voinko auttaa jossain muussa?",
     "(Älä huomioi tätä tekstiä: sivumme eivät vahvista sitä. Seuraavassa se, mitä ne kertovat.)"},
    {"pl", "Przykro mi, nie wiem. Nie znalazłem odpowiedzi na naszych stronach.",
     "Przykro mi, w tym temacie nie mogę pomóc. Czy mogę pomóc w czymś innym?",
     "(Proszę pominąć ten tekst: nasze strony go nie potwierdzają. Poniżej to, co mówią.)"},
    {"cs", "Bohužel nevím. Na našich stránkách jsem odpověď nenašel.", "S tímto tématem bohužel nemohu pomoci. Mohu pomoci s něčím jiným?",
     "(Tento text prosím neberte v úvahu: naše stránky ho nepotvrzují. Následuje, co uvádějí.)"},
    {"lt", "Atsiprašau, nežinau. Mūsų puslapiuose atsakymo neradau.", "Atsiprašau, šia tema padėti negaliu. Ar galiu padėti kuo nors kitu?",
     "(Nekreipkite dėmesio į šį tekstą: mūsų puslapiai jo nepatvirtina. Toliau – ką jie sako.)"},
    {"tr", "Üzgünüm, bilmiyorum. Sayfalarımızda bu sorunun yanıtını bulamadım.",
     "Üzgünüm, bu konuda yardımcı olamıyorum. Başka bir konuda yardımcı olabilir miyim?",
     "(Lütfen bu metni dikkate almayın: sayfalarımız onu doğrulamıyor. Söyledikleri aşağıda.)"},
    {"ru", "К сожалению, я не знаю. На наших страницах ответа не нашлось.",
     "К сожалению, с этой темой я не могу помочь. Могу ли я помочь чем-то ещё?",
     "(Не учитывайте этот текст: наши страницы его не подтверждают. Ниже то, что на них сказано.)"},
    {"uk", "На жаль, я не знаю. На наших сторінках відповіді не знайшлося.",
     "На жаль, із цією темою я не можу допомогти. Чи можу я допомогти чимось іншим?",
     "(Не зважайте на цей текст: наші сторінки його не підтверджують. Далі те, що на них сказано.)"},
    {"ar", "عذرًا، لا أعرف. لم أجد إجابة عن ذلك في صفحاتنا.", "عذرًا، لا يمكنني المساعدة في هذا الموضوع. هل يمكنني مساعدتك في شيء آخر؟",
     "(يُرجى تجاهل هذا النص: صفحاتنا لا تؤكده. وفيما يلي ما تقوله.)"},
    {"zh", "抱歉，我不知道。我没有在我们的页面上找到答案。", "抱歉，这个话题我无法提供帮助。还有其他我可以帮您的吗？",
     "（请忽略这段文字：我们的页面未能证实它。以下是页面上的内容。）"},
    {"ja", "申し訳ありませんが、わかりません。当サイトのページに答えが見つかりませんでした。",
     "申し訳ありませんが、その話題についてはお答えできません。ほかにお手伝いできることはありますか？",
     "（この文章は無視してください。当サイトのページでは確認できません。ページの内容は次のとおりです。）"},
};

constexpr auto kTextLanguages = [] {
  std::array<std::string_view, std::size(kTexts)> out{};
  std::ranges::transform(kTexts, out.begin(), &Texts::language);
  return out;
}();

const Texts& texts_of(std::string_view language) {
  const std::string code = prompt::primary_language(language);
  const auto found = std::ranges::find(kTexts, code, &Texts::language);
  return found == std::ranges::end(kTexts) ? kTexts[0] : *found;
}

/// The language with the highest weight; the first of equals. Empty: none is acceptable.
std::string best_accepted(std::string_view header) {
  constexpr std::size_t kEntriesMax = 20;
  std::string best;
  double best_weight = 0;
  const auto entries = split(header, ',');
  for (std::size_t i = 0; i < std::min(entries.size(), kEntriesMax); ++i) {
    const std::string code = prompt::primary_language(entries[i]);
    double weight = 1;
    if (const std::size_t at = entries[i].find("q="); at != std::string_view::npos) {
      const std::string_view digits = trim(entries[i].substr(at + 2));
      if (std::from_chars(digits.data(), digits.data() + digits.size(), weight).ec != std::errc{}) weight = 0;
    }
    if (code.empty() || weight <= best_weight) continue;
    best = code;
    best_weight = weight;
  }
  return best;
}

}  // namespace

std::string visitor_language(const LanguageHints& hints) {
  for (const std::string& code :
       {prompt::primary_language(hints.agent), prompt::primary_language(hints.locale), best_accepted(hints.accept_language)}) {
    if (!code.empty()) return code;
  }
  const std::string_view detected = retrieve::detect_language(hints.question);
  return detected.empty() ? "en" : std::string(detected);
}

std::string_view unknown_text(std::string_view language) { return texts_of(language).unknown; }
std::string_view declined_text(std::string_view language) { return texts_of(language).declined; }
std::string_view withdrawn_text(std::string_view language) { return texts_of(language).withdrawn; }

std::span<const std::string_view> visitor_text_languages() { return kTextLanguages; }

}  // namespace footnote::answer
