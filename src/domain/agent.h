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

/// Who speaks on a site, as its visitors meet it.
struct Persona {
  std::string name = "Assistant";
  std::string tone = "friendly and concise";

  bool operator==(const Persona&) const = default;
};

/// What an agent keeps to, whatever a model says.
struct Guardrails {
  std::vector<std::string> avoid = {};  ///< Topics, each a phrase; a question that names one is declined without a model.
  std::size_t max_chars = 2'500;        ///< Of an answer; it ends at the end of a sentence.

  bool operator==(const Guardrails&) const = default;
};

enum class WidgetPosition { kRight, kLeft };

/// How the widget looks. Colours are "#rrggbb"; empty texts mean the widget's own.
struct Theme {
  std::string accent = "#1f6feb";
  std::string accent_text = "#ffffff";
  WidgetPosition position = WidgetPosition::kRight;
  std::string title = {};
  std::string logo_url = {};

  bool operator==(const Theme&) const = default;
};

/// Everything about an agent that is drafted, published and rolled back.
struct AgentSettings {
  Persona persona;
  Guardrails guardrails;
  /// On the calibrated scale of 0..1. None: what `calibrate` measured for the corpus, else kConfidenceThresholdDefault.
  std::optional<double> confidence_threshold = {};
  std::string language_default = {};  ///< "de"; empty: the visitor's.
  std::string system_prompt = {};     ///< Added to the rules, never in their place.
  std::vector<std::string> starter_prompts = {};
  Theme theme = {};
  /// Exact origins ("https://shop.example:8443"), or "https://*.shop.example" for its sub-domains. Empty: the server's own pages alone.
  std::vector<std::string> allowed_origins = {};
  int retention_days = 0;              ///< Turns older than this are deleted; 0: kept.
  std::vector<CorpusId> corpora = {};  ///< What it searches; at least one.

  bool operator==(const AgentSettings&) const = default;
};

inline constexpr double kConfidenceThresholdDefault = 0.5;

/// An agent as its owner sees it. Its id is public: it stands in the page of the site.
struct Agent {
  AgentId id;
  WorkspaceId workspace;
  std::string name;
  AgentSettings draft;
  int published_version = 0;  ///< 0: visitors can't reach it yet.
  UtcTime created_at;
  UtcTime updated_at;
};

/// What visitors meet: never changed once it is made. `version` counts from 1; rolling back publishes an old one's settings anew.
struct PublishedAgent {
  AgentId id;
  WorkspaceId workspace;
  std::string name;
  int version = 0;
  AgentSettings settings;
  UtcTime published_at;
};

/// What is remembered of an agent that is gone, as long as its visitors' turns are kept.
struct RemovedAgent {
  AgentId id;
  int retention_days = 1;
  UtcTime removed_at;
};

/// An answer that people wrote, for questions that hold one of its phrases.
struct CuratedAnswer {
  CuratedId id;
  AgentId agent;
  std::string pattern;  ///< Phrases with commas between; any of them.
  std::string answer;
  std::int64_t priority = 0;         ///< The highest wins.
  std::string language = {};         ///< Of the visitor; empty: any.
  std::string page_url_prefix = {};  ///< Of the page that the visitor is on; empty: any.
  bool enabled = true;
  UtcTime updated_at;
};

// Bounds of what an agent is made of; characters are code points.
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
inline constexpr std::size_t kAgentsMax = 200;  ///< Of a workspace.

inline constexpr std::size_t kCuratedPatternCharsMax = 1'000;
inline constexpr std::size_t kCuratedAnswerCharsMax = 10'000;
inline constexpr std::int64_t kCuratedPriorityMax = 1'000'000;
inline constexpr std::size_t kCuratedAnswersMax = 10'000;  ///< Of an agent.

/// "de", "pt-BR": a language in lower case, further parts of 2 to 8 letters or digits.
bool is_language_tag(std::string_view text);
/// An origin as browsers write it, or "https://*." and a host of at least two parts.
bool is_origin_pattern(std::string_view text);

/// The one place that says what may be stored. kInvalidArgument names the field, as it is called on the wire ("theme.accent").
Result<void> check_agent_name(std::string_view name);
Result<void> check_agent_settings(const AgentSettings& settings);
Result<void> check_curated_answer(const CuratedAnswer& answer);

}  // namespace footnote
