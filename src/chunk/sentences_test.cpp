#include "chunk/sentences.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include "base/utf8.h"

namespace footnote::chunk {
namespace {

std::string show(std::string_view text) {
  std::string out;
  for (const TextRange& range : split_sentences(text)) {
    out += out.empty() ? "" : " / ";
    out += text.substr(range.begin, range.size());
  }
  return out;
}

/// `expected` has " / " between sentences; without the marks it is the text.
void check(std::string_view expected) {
  std::string text(expected);
  for (std::size_t at; (at = text.find(" / ")) != std::string::npos;) text.replace(at, 3, " ");
  EXPECT_EQ(show(text), expected);
}

TEST(Sentences, PlainStops) {
  check("One. / Two! / Three? / Four");
  check("Wait... / What?! / No.");
  check("It costs 3.50 euros. / Version 2.0.1 is out.");
  check("See example.com. / Or mail a@b.org.");
  check("He left in 1999. / She stayed.");
  check("iOS 17 is out. / iPhone users rejoice.");
  check("Send it to main.cpp. / Then build.");
}

TEST(Sentences, AbbreviationsAndInitials) {
  check("Dr. Smith met Mr. Jones vs. the board.");
  check("J. K. Rowling and J.R.R. Tolkien wrote books. / We read them.");
  check("Use fruit, e.g. Apples, i.e. Pomes.");
  check("See Fig. 3 and No. 7 on p. 12. / Then stop.");
  check("The answer is no. / Then we left.");
  check("She works at Acme Inc. / The firm is old.");
  check("The U.S. Senate met. / It was late in the U.S. / They went home.");
  check("At 5 p.m. / We left.");
  check("At 5 p.m. Boston time.");
  check("Smith et al. Report that. / Yes.");
  check("Take plan B. / The team agreed.");
  check("St. Petersburg is cold. / Yes.");
  check("Das gilt z.B. Montags bzw. Dienstags. / Gut.");
}

TEST(Sentences, ClosersBelongToTheSentence) {
  check("\"Stop!\" he said. / \"Why?\" / She ran.");
  check("(It was late.) / We left.");
  check("It works.[1] / So does this.[^2] / Good.");
  check("**Bold.** / Next.");
  check("He said \xE2\x80\x9CGo.\xE2\x80\x9D / Then left.");
}

TEST(Sentences, CodeSpansAreNotCut) { check("Call `a. B()` now. / Then `c`. / Done."); }

TEST(Sentences, OtherScripts) {
  EXPECT_EQ(show("今日は。元気ですか？はい！"), "今日は。 / 元気ですか？ / はい！");
  EXPECT_EQ(show("他说：“好。”然后走了。"), "他说：“好。” / 然后走了。");
  EXPECT_EQ(show("यह है। वह था।"), "यह है। / वह था।");
  EXPECT_EQ(show("ما هذا؟ هذا كتاب."), "ما هذا؟ / هذا كتاب.");
  EXPECT_EQ(show("Это дом. А это сад."), "Это дом. / А это сад.");
  EXPECT_EQ(show("¿Qué? ¡Sí! Él vino."), "¿Qué? / ¡Sí! / Él vino.");
  EXPECT_EQ(show("Élan. Été."), "Élan. / Été.");
}

TEST(Sentences, LinesAreBoundariesUnlessWrapped) {
  EXPECT_EQ(show("Shipping takes three days\nReturns are free\n\nBye"), "Shipping takes three days / Returns are free / Bye");
  EXPECT_EQ(show("The quick brown fox jumps over the lazy dog and then it\nGoogles for a better place to sleep at night. Then\nit rests."),
            "The quick brown fox jumps over the lazy dog and then it\nGoogles for a better place to sleep at night. / Then\nit rests.");
  EXPECT_EQ(show("This clause is short,\nbut goes on."), "This clause is short,\nbut goes on.");
  EXPECT_EQ(show("int a = 1;\nint b = 2;\nreturn a;"), "int a = 1; / int b = 2; / return a;");
}

TEST(Sentences, UnitsOfMarkdown) {
  EXPECT_EQ(show("# Title. More\nText here.\n- one\n  goes on\n- two. Three.\n1. first\n2. second"),
            "# Title. More / Text here. / - one\n  goes on / - two. / Three. / 1. first / 2. second");
  EXPECT_EQ(show("| a. B | c |\n|---|---|\n| d | e |"), "| a. B | c | / |---|---| / | d | e |");
  EXPECT_EQ(show("Plan | Price\nFree | 0"), "Plan | Price / Free | 0");
  EXPECT_EQ(show("```\nx = 1. Y\n\ny = 2\n```\nDone."), "``` / x = 1. Y / y = 2 / ``` / Done.");
  EXPECT_EQ(show("> Quoted words that go\n> on here. Next."), "> Quoted words that go\n> on here. / Next.");
}

TEST(Sentences, EmptyTexts) {
  EXPECT_TRUE(split_sentences("").empty());
  EXPECT_TRUE(split_sentences(" \n\t\n ").empty());
  EXPECT_EQ(show("."), ".");
  EXPECT_EQ(show(". . ."), ". . .");
}

void check_properties(std::string_view text) {
  std::size_t last = 0;
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) {
      if (!is_space(text[begin])) return false;
    }
    return true;
  };
  for (const TextRange& range : split_sentences(text)) {
    ASSERT_LE(last, range.begin) << text;
    ASSERT_LT(range.begin, range.end) << text;
    ASSERT_TRUE(blank(last, range.begin)) << text;
    ASSERT_FALSE(is_space(text[range.begin]) || is_space(text[range.end - 1])) << text;
    ASSERT_TRUE(is_utf8_boundary(text, range.begin) && is_utf8_boundary(text, range.end)) << text;
    last = range.end;
  }
  ASSERT_TRUE(blank(last, text.size())) << text;
}

TEST(Sentences, PropertiesHoldForRandomText) {
  const std::vector<std::string> parts = {"word ",  "Dr. ",     ". ", "! ",  "?",     "\n",   "\n\n", "- ", "1. ",      "`",
                                          "``` \n", "| ",       "# ", "> ",  "e.g. ", "3.5 ", "。",   "」", "\xC3\xA9", "\xF0\x9F\x98\x80",
                                          "(",      ")",        "\"", "[1]", "[",     "...",  "\t",   "…",  "U.S. ",    "The ",
                                          "---\n",  "\xC2\xA0", "．5"};
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned i = random() % 40; i > 0; --i) text += parts[random() % parts.size()];
    check_properties(text);
  }
}

TEST(Sentences, LinearInHostileText) {
  for (std::string_view unit : {".", ". ", "`", "\"", ".\"", "a\n", "[", ".[", ".`", "。", "J. ", "> ", "- ", "\n", "a. \n", " | "}) {
    std::string text;
    while (text.size() < (1u << 20)) text += unit;
    const auto start = std::chrono::steady_clock::now();
    (void)split_sentences(text);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << unit;
  }
}

}  // namespace
}  // namespace footnote::chunk
