#include "retrieve/language.h"

#include <gtest/gtest.h>

#include <vector>

namespace footnote::retrieve {
namespace {

TEST(DetectLanguage, ByScriptAndBySmallWords) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"How long does shipping take?", "en"},
      {"What is the capital of France?", "en"},
      {"Wie lange dauert der Versand?", "de"},
      {"Welche Farbe hat das Haus?", "de"},
      {"Quelle est la capitale de la France ?", "fr"},
      {"¿Cuál es la capital de España?", "es"},
      {"Qual è la capitale d'Italia?", "it"},
      {"Onde fica o museu e como chego lá?", "pt"},
      {"Wat is de hoofdstad van Nederland?", "nl"},
      {"Vad är huvudstaden i Sverige?", "sv"},
      {"Gdzie jest najbliższy dworzec?", "pl"},
      {"Какова столица России?", "ru"},
      {"法国的首都是哪里?", "zh"},
      {"日本の首都はどこですか", "ja"},
      {"대한민국의 수도는 어디입니까?", "ko"},
      {"Ποια είναι η πρωτεύουσα;", "el"},
      {"Как настроить nginx reverse proxy?", "ru"},
  };
  for (const auto& [text, language] : cases) EXPECT_EQ(detect_language(text), language) << text;
}

TEST(DetectLanguage, NamesAndCodesBelongToNone) {
  for (const std::string_view text : {"", "E1042", "nginx proxy_pass", "InvoiceController@store", "42"}) {
    EXPECT_EQ(detect_language(text), "") << text;
  }
}

TEST(ForeignLanguage, IsOneThatTheModelLacks) {
  const std::vector<std::string> english = {"en"};
  EXPECT_EQ(foreign_language("How long does shipping take?", english), "");
  EXPECT_EQ(foreign_language("E1042", english), "") << "what shows no language is not foreign";
  EXPECT_EQ(foreign_language("Wie lange dauert der Versand?", english), "de");
  EXPECT_EQ(foreign_language("Wie lange dauert der Versand?", {}), "") << "a model that knows no bounds";
}

}  // namespace
}  // namespace footnote::retrieve
