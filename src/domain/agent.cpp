#include "domain/agent.h"

#include <algorithm>
#include <cmath>

#include "base/fold_words.h"
#include "base/page_url.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote {

namespace {

std::unexpected<Error> wrong(std::string_view field, std::string_view what) {
  return fail_field(ErrorCode::kInvalidArgument, field, "'{}' {}", field, what);
}

bool holds_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F; });
}

Result<void> check_text(std::string_view field, std::string_view text, std::size_t chars_max) {
  if (!is_valid_utf8(text)) return wrong(field, "is not UTF-8");
  if (holds_control(text)) return wrong(field, "contains control characters");
  if (count_code_points(text) > chars_max) return wrong(field, fmt::format("is longer than {} characters", chars_max));
  return {};
}

Result<void> check_filled(std::string_view field, std::string_view text, std::size_t chars_max) {
  if (trim(text).empty()) return wrong(field, "must not be empty");
  return check_text(field, text, chars_max);
}

Result<void> check_list(std::string_view field, const std::vector<std::string>& texts, std::size_t count_max, std::size_t chars_max) {
  if (texts.size() > count_max) return wrong(field, fmt::format("has more than {} entries", count_max));
  for (const std::string& text : texts) FOOTNOTE_CHECK(check_filled(field, text, chars_max));
  return {};
}

bool is_colour(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  return text.size() == std::string_view("#rrggbb").size() && text.front() == '#' && std::ranges::all_of(text.substr(1), is_hex);
}

Result<void> check_theme(const Theme& theme) {
  if (!is_colour(theme.accent)) return wrong("theme.accent", "must be a colour like #1f6feb");
  if (!is_colour(theme.accent_text)) return wrong("theme.accent_text", "must be a colour like #ffffff");
  FOOTNOTE_CHECK(check_text("theme.title", theme.title, kThemeTitleCharsMax));
  if (!theme.logo_url.empty() && !canonical_url(theme.logo_url)) return wrong("theme.logo_url", "must be an http or https URL");
  return {};
}

Result<void> check_guardrails(const Guardrails& guardrails) {
  FOOTNOTE_CHECK(check_list("guardrails.avoid", guardrails.avoid, kAvoidTopicsMax, kAvoidTopicCharsMax));
  const bool wordless = std::ranges::any_of(guardrails.avoid, [](const std::string& topic) { return fold_words(topic).empty(); });
  if (wordless) return wrong("guardrails.avoid", "has an entry without any word");
  if (guardrails.max_chars < kAnswerCharsMin || guardrails.max_chars > kAnswerCharsMax) {
    return wrong("guardrails.max_chars", fmt::format("must be a number from {} to {}", kAnswerCharsMin, kAnswerCharsMax));
  }
  return {};
}

Result<void> check_origins(const std::vector<std::string>& origins) {
  if (origins.size() > kAllowedOriginsMax) return wrong("allowed_origins", fmt::format("has more than {} entries", kAllowedOriginsMax));
  for (const std::string& origin : origins) {
    if (!is_origin_pattern(origin)) {
      return fail_field(ErrorCode::kInvalidArgument, "allowed_origins",
                        "'{}' is not an origin: write https://shop.example, https://shop.example:8443 or https://*.shop.example", origin);
    }
  }
  return {};
}

Result<void> check_corpora(std::vector<CorpusId> corpora) {
  if (corpora.empty()) return wrong("corpora", "must name at least one corpus");
  if (corpora.size() > kAgentCorporaMax) return wrong("corpora", fmt::format("has more than {} entries", kAgentCorporaMax));
  std::ranges::sort(corpora);
  if (std::ranges::adjacent_find(corpora) != corpora.end()) return wrong("corpora", "names a corpus twice");
  return {};
}

}  // namespace

bool is_language_tag(std::string_view text) {
  if (text.size() > kLanguageTagBytesMax) return false;
  const auto parts = split(text, '-');
  const std::string_view language = parts.front();
  if (language.size() < 2 || language.size() > 3 || !std::ranges::all_of(language, is_ascii_lower)) return false;
  return std::all_of(parts.begin() + 1, parts.end(), [](std::string_view part) {
    return part.size() >= 2 && part.size() <= 8 && std::ranges::all_of(part, is_ascii_alphanumeric);
  });
}

bool is_origin_pattern(std::string_view text) {
  constexpr std::string_view kAnySubdomain = "https://*.";
  if (text.starts_with(kAnySubdomain)) {
    // Require a dot in the host: "https://*.com" would match half of the web.
    const std::string_view host = text.substr(kAnySubdomain.size());
    if (host.find('.') == std::string_view::npos) return false;
    return is_origin_pattern("https://" + std::string(host));
  }
  const auto canonical = canonical_url(text);
  if (!canonical || *canonical != text) return false;
  const std::string_view host = text.substr(text.find("//") + 2);
  // Browsers send host names in ASCII ("xn--..."): any other spelling would never match.
  const bool is_ascii = std::ranges::all_of(host, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return is_ascii && host.find_first_of("/?*,\"'<>") == std::string_view::npos;
}

Result<void> check_agent_name(std::string_view name) {
  FOOTNOTE_CHECK(check_filled("name", name, kAgentNameCharsMax));
  if (name != trim(name) || name.find_first_of("\n\t") != std::string_view::npos)
    return wrong("name", "has spaces around it or line breaks");
  return {};
}

Result<void> check_agent_settings(const AgentSettings& settings) {
  FOOTNOTE_CHECK(check_filled("persona.name", settings.persona.name, kPersonaNameCharsMax));
  FOOTNOTE_CHECK(check_text("persona.tone", settings.persona.tone, kPersonaToneCharsMax));
  FOOTNOTE_CHECK(check_guardrails(settings.guardrails));
  if (const auto threshold = settings.confidence_threshold; threshold && !(*threshold >= 0 && *threshold <= 1)) {
    return wrong("confidence_threshold", "must be a number from 0 to 1");
  }
  if (!settings.language_default.empty() && !is_language_tag(settings.language_default)) {
    return wrong("language_default", "must be a language like de or pt-BR");
  }
  FOOTNOTE_CHECK(check_text("system_prompt", settings.system_prompt, kSystemPromptCharsMax));
  FOOTNOTE_CHECK(check_list("starter_prompts", settings.starter_prompts, kStarterPromptsMax, kStarterPromptCharsMax));
  FOOTNOTE_CHECK(check_theme(settings.theme));
  FOOTNOTE_CHECK(check_origins(settings.allowed_origins));
  if (settings.retention_days < 0 || settings.retention_days > kRetentionDaysMax) {
    return wrong("retention_days", fmt::format("must be a number from 0 to {}", kRetentionDaysMax));
  }
  return check_corpora(settings.corpora);
}

Result<void> check_curated_answer(const CuratedAnswer& answer) {
  FOOTNOTE_CHECK(check_filled("pattern", answer.pattern, kCuratedPatternCharsMax));
  const auto phrases = split(answer.pattern, ',');
  if (std::ranges::all_of(phrases, [](std::string_view phrase) { return fold_words(phrase).empty(); })) {
    return wrong("pattern", "has no word in it");
  }
  FOOTNOTE_CHECK(check_filled("answer", answer.answer, kCuratedAnswerCharsMax));
  if (answer.priority < -kCuratedPriorityMax || answer.priority > kCuratedPriorityMax) {
    return wrong("priority", fmt::format("must be a number from {} to {}", -kCuratedPriorityMax, kCuratedPriorityMax));
  }
  if (!answer.language.empty() && !is_language_tag(answer.language)) return wrong("language", "must be a language like de or pt-BR");
  if (!answer.page_url_prefix.empty() && !canonical_url(answer.page_url_prefix)) {
    return wrong("page_url_prefix", "must be an http or https URL");
  }
  return {};
}

}  // namespace footnote
