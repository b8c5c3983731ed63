#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ids.h"

namespace footnote {

/// How an agent presents itself to visitors.
struct Persona {
  std::string name = "Assistant";
  std::string tone = "friendly and concise";

  bool operator==(const Persona&) const = default;
};

/// Limits enforced on an agent whatever the model says.
struct Guardrails {
  std::vector<std::string> avoid = {};  ///< Topic phrases; a question that contains one is declined without calling a model.
  std::size_t max_chars = 2'500;        ///< Length of an answer; truncated at the end of a sentence.

  bool operator==(const Guardrails&) const = default;
};

enum class WidgetPosition { kRight, kLeft };

/// Appearance of the widget. Colours are "#rrggbb"; empty texts mean the widget's defaults.
struct Theme {
  std::string accent = "#1f6feb";
  std::string accent_text = "#ffffff";
  WidgetPosition position = WidgetPosition::kRight;
  std::string title = {};
  std::string logo_url = {};

  bool operator==(const Theme&) const = default;
};

/// The settings of an agent that are drafted, published and rolled back.
struct AgentSettings {
  Persona persona;
  Guardrails guardrails;
  /// Calibrated scale, 0..1. nullopt: the value measured by `calibrate` for the corpus, else kConfidenceThresholdDefault.
  std::optional<double> confidence_threshold = {};
  std::string language_default = {};  ///< "de"; empty: the visitor's language.
  std::string system_prompt = {};     ///< Added to the built-in rules, never replaces them.
  std::vector<std::string> starter_prompts = {};
  Theme theme = {};
  /// Exact origins ("https://shop.example:8443"), or "https://*.shop.example" for subdomains. Empty: only the server's own pages.
  std::vector<std::string> allowed_origins = {};
  int retention_days = 0;              ///< Turns older than this are deleted; 0: kept forever.
  std::vector<CorpusId> corpora = {};  ///< The corpora it searches; at least one.

  bool operator==(const AgentSettings&) const = default;
};

inline constexpr double kConfidenceThresholdDefault = 0.5;

/// An agent as its owner sees it. Its id is public: it appears in the site's pages.
struct Agent {
  AgentId id;
  WorkspaceId workspace;
  std::string name;
  AgentSettings draft;
  int published_version = 0;  ///< 0: not published, so visitors cannot reach it.
  UtcTime created_at;
  UtcTime updated_at;
};

/// What visitors use; immutable. `version` counts from 1; a rollback publishes old settings as a new version.
struct PublishedAgent {
  AgentId id;
  WorkspaceId workspace;
  std::string name;
  int version = 0;
  AgentSettings settings;
  UtcTime published_at;
};

/// What is kept about a removed agent as long as its visitors' turns exist.
struct RemovedAgent {
  AgentId id;
  int retention_days = 1;
  UtcTime removed_at;
};

/// A hand-written answer to questions that contain one of its phrases.
struct CuratedAnswer {
  CuratedId id;
  AgentId agent;
  std::string pattern;  ///< Comma-separated phrases; any of them matches.
  std::string answer;
  std::int64_t priority = 0;         ///< The highest wins.
  std::string language = {};         ///< The visitor's language; empty: any.
  std::string page_url_prefix = {};  ///< Prefix of the page the visitor is on; empty: any.
  bool enabled = true;
  UtcTime updated_at;
};

// Limits on an agent's parts; characters are code points.
inline constexpr std::size_t kAgentNameCharsMax = 80;
inline constexpr std::size_t kPersonaNameCharsMax = 60;
inline constexpr std::size_t kPersonaToneCharsMax = 200;
inline constexpr std::size_t kAvoidTopicsMax = 50;
inline constexpr std::size_t kAvoidTopicCharsMax = 100;
inline constexpr std::size_t kAnswerCharsMin = 100;
inline constexpr std::size_t kAnswerCharsMax = 20'000;
inline constexpr std::size_t kLanguageTagBytesMax = 16;
inline constexpr std::size_t kSystemPromptCharsMax = 4'000;
inline constexpr std::size_t kStarterPromptsMax = 6;
inline constexpr std::size_t kStarterPromptCharsMax = 120;
inline constexpr std::size_t kThemeTitleCharsMax = 80;
inline constexpr std::size_t kAllowedOriginsMax = 50;
inline constexpr int kRetentionDaysMax = 3'650;
inline constexpr std::size_t kAgentCorporaMax = 16;
inline constexpr std::size_t kAgentsMax = 200;  ///< Per workspace.

inline constexpr std::size_t kCuratedPatternCharsMax = 1'000;
inline constexpr std::size_t kCuratedAnswerCharsMax = 10'000;
inline constexpr std::int64_t kCuratedPriorityMax = 1'000'000;
inline constexpr std::size_t kCuratedAnswersMax = 10'000;  ///< Per agent.

/// "de", "pt-BR": a lower-case language, further subtags of 2 to 8 letters or digits.
bool is_language_tag(std::string_view text);
/// An origin as browsers write it, or "https://*." and a host of at least two labels.
bool is_origin_pattern(std::string_view text);

/// The only place that validates what may be stored. kInvalidArgument names the field as on the wire ("theme.accent").
Result<void> check_agent_name(std::string_view name);
Result<void> check_agent_settings(const AgentSettings& settings);
Result<void> check_curated_answer(const CuratedAnswer& answer);

}  // namespace footnote
