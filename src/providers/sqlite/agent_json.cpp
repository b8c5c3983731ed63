#include "providers/sqlite/agent_json.h"

#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

JsonArray corpora_array(const std::vector<CorpusId>& corpora) {
  JsonArray out;
  for (const CorpusId corpus : corpora) out.emplace_back(corpus.value);
  return out;
}

JsonObject theme_object(const Theme& theme) {
  return {{"accent", theme.accent},
          {"accent_text", theme.accent_text},
          {"position", stored_name(theme.position)},
          {"title", theme.title},
          {"logo_url", theme.logo_url}};
}

Theme theme_from(const StoredObject& object) {
  return {.accent = object.text("accent"),
          .accent_text = object.text("accent_text"),
          .position = object.name("position", WidgetPosition::kRight),
          .title = object.text("title"),
          .logo_url = object.text("logo_url")};
}

bool flag(const Json& value, std::string_view key) {
  const Json* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_bool() && found->get_bool();
}

}  // namespace

std::string to_stored_text(const AgentSettings& settings) {
  JsonObject out{{"persona_name", settings.persona.name},
                 {"persona_tone", settings.persona.tone},
                 {"avoid", to_stored_array(settings.guardrails.avoid)},
                 {"max_chars", static_cast<std::int64_t>(settings.guardrails.max_chars)},
                 {"language_default", settings.language_default},
                 {"system_prompt", settings.system_prompt},
                 {"starter_prompts", to_stored_array(settings.starter_prompts)},
                 {"theme", theme_object(settings.theme)},
                 {"allowed_origins", to_stored_array(settings.allowed_origins)},
                 {"retention_days", settings.retention_days},
                 {"corpora", corpora_array(settings.corpora)}};
  if (settings.confidence_threshold) out["confidence_threshold"] = *settings.confidence_threshold;
  return to_text(out);
}

Result<AgentSettings> agent_settings_from_stored_text(std::string_view text) {
  const auto value = parse_json(text);
  if (!value) return damaged_text("an agent's settings");
  bool damaged = false;
  const StoredObject object(*value, damaged);
  const AgentSettings defaults;
  AgentSettings out;
  out.persona = {object.text("persona_name"), object.text("persona_tone")};
  out.guardrails.avoid = object.texts("avoid");
  out.guardrails.max_chars =
      static_cast<std::size_t>(object.integer("max_chars", static_cast<std::int64_t>(defaults.guardrails.max_chars)));
  if (object.has("confidence_threshold")) out.confidence_threshold = object.number("confidence_threshold");
  out.language_default = object.text("language_default");
  out.system_prompt = object.text("system_prompt");
  out.starter_prompts = object.texts("starter_prompts");
  if (object.has("theme")) out.theme = theme_from(object.object("theme"));
  out.allowed_origins = object.texts("allowed_origins");
  out.retention_days = static_cast<int>(object.integer("retention_days"));
  for (const Json& corpus : object.array("corpora")) {
    if (!corpus.is_int64()) damaged = true;
    out.corpora.push_back({corpus.is_int64() ? corpus.get_int64() : 0});
  }
  if (damaged) return damaged_text("an agent's settings");
  return out;
}

std::string to_stored_text(const Visit& visit) {
  JsonObject out{{"page_url", stored_text(visit.page_url)}, {"curated", visit.curated},
                 {"low_confidence", visit.low_confidence},  {"confidence", visit.confidence},
                 {"flags", to_stored_array(visit.flags)},   {"playground", visit.playground}};
  if (visit.gap) out["gap"] = stored_name(*visit.gap);
  return to_text(out);
}

Result<Visit> visit_from_stored_text(std::string_view text) {
  const auto value = parse_json(text);
  if (!value) return damaged_text("a visit");
  bool damaged = false;
  const StoredObject object(*value, damaged);
  Visit out;
  out.page_url = object.text("page_url");
  out.curated = flag(*value, "curated");
  out.low_confidence = flag(*value, "low_confidence");
  out.confidence = object.number("confidence");
  out.flags = object.texts("flags");
  out.playground = flag(*value, "playground");
  if (object.has("gap")) out.gap = object.name("gap", GapReason::kNoRelevantContext);
  if (damaged) return damaged_text("a visit");
  return out;
}

}  // namespace footnote
