#include "api/agent_wire.h"

#include <algorithm>

#include "base/clock.h"
#include "points/memories.h"

namespace footnote::api {

namespace {

// Rejects hostile bodies early; the limits that users see are those of domain/agent.h.
constexpr std::size_t kTextBytesMax = 256 << 10;
constexpr std::size_t kEntriesMax = 10'000;

/// Reads the text if present.
Result<void> read(const JsonReader& reader, std::string_view key, std::string& into) {
  FOOTNOTE_TRY(auto text, reader.optional_string(key, kTextBytesMax));
  if (text) into = *std::move(text);
  return {};
}

Result<void> read(const JsonReader& reader, std::string_view key, std::vector<std::string>& into) {
  FOOTNOTE_TRY(auto texts, reader.optional_strings(key, kEntriesMax, kTextBytesMax));
  if (texts) into = *std::move(texts);
  return {};
}

std::string_view to_string(WidgetPosition position) {
  switch (position) {
    case WidgetPosition::kRight: return "right";
    case WidgetPosition::kLeft: return "left";
  }
  return "right";
}

Result<void> read_persona(const JsonReader& settings, Persona& persona) {
  FOOTNOTE_TRY(const auto reader, settings.optional_object("persona"));
  if (!reader) return {};
  FOOTNOTE_CHECK(reader->only({"name", "tone"}));
  FOOTNOTE_CHECK(read(*reader, "name", persona.name));
  return read(*reader, "tone", persona.tone);
}

Result<void> read_guardrails(const JsonReader& settings, Guardrails& guardrails) {
  FOOTNOTE_TRY(const auto reader, settings.optional_object("guardrails"));
  if (!reader) return {};
  FOOTNOTE_CHECK(reader->only({"avoid", "max_chars"}));
  FOOTNOTE_CHECK(read(*reader, "avoid", guardrails.avoid));
  FOOTNOTE_TRY(const auto max_chars, reader->optional_integer("max_chars", static_cast<std::int64_t>(kAnswerCharsMin),
                                                              static_cast<std::int64_t>(kAnswerCharsMax)));
  if (max_chars) guardrails.max_chars = static_cast<std::size_t>(*max_chars);
  return {};
}

Result<void> read_theme(const JsonReader& settings, Theme& theme) {
  FOOTNOTE_TRY(const auto reader, settings.optional_object("theme"));
  if (!reader) return {};
  FOOTNOTE_CHECK(reader->only({"accent", "accent_text", "position", "title", "logo_url"}));
  FOOTNOTE_CHECK(read(*reader, "accent", theme.accent));
  FOOTNOTE_CHECK(read(*reader, "accent_text", theme.accent_text));
  FOOTNOTE_CHECK(read(*reader, "title", theme.title));
  FOOTNOTE_CHECK(read(*reader, "logo_url", theme.logo_url));
  std::string position(to_string(theme.position));
  FOOTNOTE_CHECK(read(*reader, "position", position));
  for (const WidgetPosition known : {WidgetPosition::kRight, WidgetPosition::kLeft}) {
    if (to_string(known) != position) continue;
    theme.position = known;
    return {};
  }
  return fail_field(ErrorCode::kInvalidArgument, "settings.theme.position", "'settings.theme.position' is right or left");
}

Result<void> read_corpora(const JsonReader& settings, const std::vector<Corpus>& corpora, std::vector<CorpusId>& into) {
  FOOTNOTE_TRY(const auto names, settings.optional_strings("corpora", kEntriesMax, kTextBytesMax));
  if (!names) return {};
  into.clear();
  for (const std::string& name : *names) {
    const auto found = std::ranges::find(corpora, name, &Corpus::name);
    if (found == corpora.end()) return fail_field(ErrorCode::kInvalidArgument, "settings.corpora", "there is no corpus '{}'", name);
    if (name == points::kMemoriesCollection) {
      return fail_field(ErrorCode::kInvalidArgument, "settings.corpora", "'{}' holds the notes of agents, which are not for visitors",
                        name);
    }
    into.push_back(found->id);
  }
  if (into.empty()) return fail_field(ErrorCode::kInvalidArgument, "settings.corpora", "'settings.corpora' must name at least one corpus");
  return {};
}

JsonArray texts(const std::vector<std::string>& all) { return JsonArray(all.begin(), all.end()); }

JsonArray names_of(const std::vector<CorpusId>& ids, const std::vector<Corpus>& corpora) {
  JsonArray out;
  for (const CorpusId id : ids) {
    const auto found = std::ranges::find(corpora, id, &Corpus::id);
    if (found != corpora.end()) out.emplace_back(found->name);
  }
  return out;
}

}  // namespace

Result<void> read_agent_settings(const Json& value, const std::vector<Corpus>& corpora, AgentSettings& settings) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(value, "settings"));
  FOOTNOTE_CHECK(reader.only({"persona", "guardrails", "confidence_threshold", "language_default", "system_prompt", "starter_prompts",
                              "theme", "allowed_origins", "retention_days", "corpora"}));
  FOOTNOTE_CHECK(read_persona(reader, settings.persona));
  FOOTNOTE_CHECK(read_guardrails(reader, settings.guardrails));
  FOOTNOTE_TRY(const auto threshold, reader.optional_number("confidence_threshold", 0, 1));
  // Null resets it: the corpus's own threshold applies.
  if (value.get_object().contains("confidence_threshold")) settings.confidence_threshold = threshold;
  FOOTNOTE_CHECK(read(reader, "language_default", settings.language_default));
  FOOTNOTE_CHECK(read(reader, "system_prompt", settings.system_prompt));
  FOOTNOTE_CHECK(read(reader, "starter_prompts", settings.starter_prompts));
  FOOTNOTE_CHECK(read_theme(reader, settings.theme));
  FOOTNOTE_CHECK(read(reader, "allowed_origins", settings.allowed_origins));
  FOOTNOTE_TRY(const auto days, reader.optional_integer("retention_days", 0, kRetentionDaysMax));
  if (days) settings.retention_days = static_cast<int>(*days);
  return read_corpora(reader, corpora, settings.corpora);
}

JsonObject render_agent_settings(const AgentSettings& settings, const std::vector<Corpus>& corpora) {
  const Theme& theme = settings.theme;
  return {{"persona", JsonObject{{"name", settings.persona.name}, {"tone", settings.persona.tone}}},
          {"guardrails", JsonObject{{"avoid", texts(settings.guardrails.avoid)}, {"max_chars", settings.guardrails.max_chars}}},
          {"confidence_threshold", settings.confidence_threshold ? Json(*settings.confidence_threshold) : Json(nullptr)},
          {"language_default", settings.language_default},
          {"system_prompt", settings.system_prompt},
          {"starter_prompts", texts(settings.starter_prompts)},
          {"theme", JsonObject{{"accent", theme.accent},
                               {"accent_text", theme.accent_text},
                               {"position", to_string(theme.position)},
                               {"title", theme.title},
                               {"logo_url", theme.logo_url}}},
          {"allowed_origins", texts(settings.allowed_origins)},
          {"retention_days", settings.retention_days},
          {"corpora", names_of(settings.corpora, corpora)}};
}

JsonObject render_agent(const Agent& agent, const std::vector<Corpus>& corpora) {
  return {{"id", agent.id.value},
          {"name", agent.name},
          {"published_version", agent.published_version},
          {"created_at", to_rfc3339(agent.created_at)},
          {"updated_at", to_rfc3339(agent.updated_at)},
          {"settings", render_agent_settings(agent.draft, corpora)}};
}

JsonObject render_version(const PublishedAgent& version, const std::vector<Corpus>& corpora) {
  return {{"id", version.id.value},
          {"name", version.name},
          {"version", version.version},
          {"published_at", to_rfc3339(version.published_at)},
          {"settings", render_agent_settings(version.settings, corpora)}};
}

}  // namespace footnote::api
