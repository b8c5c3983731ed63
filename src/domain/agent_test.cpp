#include "domain/agent.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace footnote {
namespace {

AgentSettings good_settings() {
  AgentSettings settings;
  settings.corpora = {{1}};
  return settings;
}

/// The invalid field, or "" if everything is valid.
std::string fault(const std::function<void(AgentSettings&)>& change) {
  AgentSettings settings = good_settings();
  change(settings);
  const auto checked = check_agent_settings(settings);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
  return checked.error().field;
}

std::string fault_of(const CuratedAnswer& answer) {
  const auto checked = check_curated_answer(answer);
  return checked ? "" : checked.error().field;
}

/// `count` code points of two bytes each.
std::string letters(std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += "\xC3\xA4";
  return out;
}

TEST(AgentSettings, TheDefaultsAreGood) { EXPECT_TRUE(check_agent_settings(good_settings()).has_value()); }

TEST(AgentSettings, TextsAreGoodUpToTheirBoundInCharacters) {
  struct Bound {
    const char* field;
    std::size_t chars_max;
    std::function<void(AgentSettings&, std::string)> set;
  };
  const Bound bounds[] = {
      {"persona.name", kPersonaNameCharsMax, [](AgentSettings& s, std::string text) { s.persona.name = std::move(text); }},
      {"persona.tone", kPersonaToneCharsMax, [](AgentSettings& s, std::string text) { s.persona.tone = std::move(text); }},
      {"guardrails.avoid", kAvoidTopicCharsMax, [](AgentSettings& s, std::string text) { s.guardrails.avoid = {std::move(text)}; }},
      {"system_prompt", kSystemPromptCharsMax, [](AgentSettings& s, std::string text) { s.system_prompt = std::move(text); }},
      {"starter_prompts", kStarterPromptCharsMax, [](AgentSettings& s, std::string text) { s.starter_prompts = {std::move(text)}; }},
      {"theme.title", kThemeTitleCharsMax, [](AgentSettings& s, std::string text) { s.theme.title = std::move(text); }},
  };
  for (const Bound& bound : bounds) {
    EXPECT_EQ(fault([&](AgentSettings& s) { bound.set(s, letters(bound.chars_max)); }), "") << bound.field;
    EXPECT_EQ(fault([&](AgentSettings& s) { bound.set(s, letters(bound.chars_max + 1)); }), bound.field);
    EXPECT_EQ(fault([&](AgentSettings& s) { bound.set(s, "a\x1B[31m"); }), bound.field) << "a control character";
    EXPECT_EQ(fault([&](AgentSettings& s) { bound.set(s, "a\xFF"); }), bound.field) << "not UTF-8";
  }
}

TEST(AgentSettings, ListsAreGoodUpToTheirBound) {
  const auto texts = [](std::size_t count) { return std::vector<std::string>(count, "word"); };
  EXPECT_EQ(fault([&](AgentSettings& s) { s.guardrails.avoid = texts(kAvoidTopicsMax); }), "");
  EXPECT_EQ(fault([&](AgentSettings& s) { s.guardrails.avoid = texts(kAvoidTopicsMax + 1); }), "guardrails.avoid");
  EXPECT_EQ(fault([&](AgentSettings& s) { s.starter_prompts = texts(kStarterPromptsMax); }), "");
  EXPECT_EQ(fault([&](AgentSettings& s) { s.starter_prompts = texts(kStarterPromptsMax + 1); }), "starter_prompts");
  const auto origins = [](std::size_t count) { return std::vector<std::string>(count, "https://shop.example"); };
  EXPECT_EQ(fault([&](AgentSettings& s) { s.allowed_origins = origins(kAllowedOriginsMax); }), "");
  EXPECT_EQ(fault([&](AgentSettings& s) { s.allowed_origins = origins(kAllowedOriginsMax + 1); }), "allowed_origins");
  const auto corpora = [](std::size_t count) {
    std::vector<CorpusId> out;
    for (std::size_t i = 1; i <= count; ++i) out.push_back({static_cast<std::int64_t>(i)});
    return out;
  };
  EXPECT_EQ(fault([&](AgentSettings& s) { s.corpora = corpora(kAgentCorporaMax); }), "");
  EXPECT_EQ(fault([&](AgentSettings& s) { s.corpora = corpora(kAgentCorporaMax + 1); }), "corpora");
  EXPECT_EQ(fault([&](AgentSettings& s) { s.corpora = {}; }), "corpora");
  EXPECT_EQ(fault([&](AgentSettings& s) { s.corpora = {{1}, {2}, {1}}; }), "corpora");
}

TEST(AgentSettings, NumbersKeepToTheirRange) {
  const auto max_chars = [](std::size_t count) { return fault([&](AgentSettings& s) { s.guardrails.max_chars = count; }); };
  EXPECT_EQ(max_chars(kAnswerCharsMin), "");
  EXPECT_EQ(max_chars(kAnswerCharsMin - 1), "guardrails.max_chars");
  EXPECT_EQ(max_chars(kAnswerCharsMax), "");
  EXPECT_EQ(max_chars(kAnswerCharsMax + 1), "guardrails.max_chars");
  const auto threshold = [](double value) { return fault([&](AgentSettings& s) { s.confidence_threshold = value; }); };
  EXPECT_EQ(threshold(0), "");
  EXPECT_EQ(threshold(1), "");
  for (const double value : {-0.01, 1.01, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(threshold(value), "confidence_threshold");
  }
  const auto days = [](int count) { return fault([&](AgentSettings& s) { s.retention_days = count; }); };
  EXPECT_EQ(days(0), "");
  EXPECT_EQ(days(kRetentionDaysMax), "");
  EXPECT_EQ(days(kRetentionDaysMax + 1), "retention_days");
  EXPECT_EQ(days(-1), "retention_days");
}

TEST(AgentSettings, ColoursAreSixDigits) {
  for (const char* colour : {"", "red", "#fff", "#12345g", "#1234567", "1f6feb0", "#1f6feb;", "url(x)"}) {
    EXPECT_EQ(fault([&](AgentSettings& s) { s.theme.accent = colour; }), "theme.accent") << colour;
    EXPECT_EQ(fault([&](AgentSettings& s) { s.theme.accent_text = colour; }), "theme.accent_text") << colour;
  }
  EXPECT_EQ(fault([](AgentSettings& s) { s.theme.accent = "#ABCdef"; }), "");
}

TEST(AgentSettings, ALogoComesFromTheWeb) {
  EXPECT_EQ(fault([](AgentSettings& s) { s.theme.logo_url = "https://shop.example/logo.svg"; }), "");
  for (const char* url : {"javascript:alert(1)", "data:image/png;base64,AA", "/logo.svg", "https://a b/"}) {
    EXPECT_EQ(fault([&](AgentSettings& s) { s.theme.logo_url = url; }), "theme.logo_url") << url;
  }
}

TEST(AgentSettings, LanguagesAreTags) {
  for (const char* good : {"de", "pt-BR", "zh-Hant-TW", "fil"}) EXPECT_TRUE(is_language_tag(good)) << good;
  for (const char* bad : {"", "d", "DE", "german", "de_DE", "de-", "-de", "de-D", "de-abcdefghi", "de-aa-bb-cc-dd-ee", "de\n"}) {
    EXPECT_FALSE(is_language_tag(bad)) << bad;
  }
  EXPECT_TRUE(is_language_tag("de-aaaa-bbbb-ccc"));
  EXPECT_FALSE(is_language_tag("de-aaaa-bbbb-cccc")) << "past " << kLanguageTagBytesMax << " bytes";
  EXPECT_EQ(fault([](AgentSettings& s) { s.language_default = "DE"; }), "language_default");
}

TEST(AgentSettings, OriginsAreExactOrOfOneDomain) {
  for (const char* good :
       {"https://shop.example", "http://localhost:3000", "https://shop.example:8443", "https://*.shop.example", "https://[::1]:8080"}) {
    EXPECT_TRUE(is_origin_pattern(good)) << good;
  }
  for (const char* bad :
       {"", "*", "https://*", "https://*.com", "https://*.*.example", "http://*.shop.example", "shop.example", "https://shop.example/",
        "https://shop.example/a", "https://Shop.example", "https://shop.example:443", "https://a@shop.example", "https://a,https://b",
        "null", "https://sh*p.example", "https://m\xC3\xBCnchen.example"}) {
    EXPECT_FALSE(is_origin_pattern(bad)) << bad;
  }
  EXPECT_EQ(fault([](AgentSettings& s) { s.allowed_origins = {"*"}; }), "allowed_origins");
}

TEST(AgentName, HasABound) {
  EXPECT_TRUE(check_agent_name(letters(kAgentNameCharsMax)).has_value());
  for (const std::string& name :
       {letters(kAgentNameCharsMax + 1), std::string(), std::string("  "), std::string(" shop"), std::string("a\nb")}) {
    EXPECT_EQ(check_agent_name(name).error().field, "name") << name;
  }
}

TEST(CuratedAnswers, AreHeldToTheirBounds) {
  const CuratedAnswer good{.pattern = "refund, money back", .answer = "Within 30 days."};
  EXPECT_EQ(fault_of(good), "");
  const auto with = [&](const std::function<void(CuratedAnswer&)>& change) {
    CuratedAnswer answer = good;
    change(answer);
    return fault_of(answer);
  };
  EXPECT_EQ(with([](auto& a) { a.pattern = letters(kCuratedPatternCharsMax); }), "");
  EXPECT_EQ(with([](auto& a) { a.pattern = letters(kCuratedPatternCharsMax + 1); }), "pattern");
  EXPECT_EQ(with([](auto& a) { a.pattern = " , ?!, "; }), "pattern");
  EXPECT_EQ(with([](auto& a) { a.answer = letters(kCuratedAnswerCharsMax); }), "");
  EXPECT_EQ(with([](auto& a) { a.answer = letters(kCuratedAnswerCharsMax + 1); }), "answer");
  EXPECT_EQ(with([](auto& a) { a.answer = " \n"; }), "answer");
  EXPECT_EQ(with([](auto& a) { a.priority = kCuratedPriorityMax; }), "");
  EXPECT_EQ(with([](auto& a) { a.priority = kCuratedPriorityMax + 1; }), "priority");
  EXPECT_EQ(with([](auto& a) { a.priority = -kCuratedPriorityMax - 1; }), "priority");
  EXPECT_EQ(with([](auto& a) { a.language = "German"; }), "language");
  EXPECT_EQ(with([](auto& a) { a.page_url_prefix = "/returns"; }), "page_url_prefix");
}

}  // namespace
}  // namespace footnote
