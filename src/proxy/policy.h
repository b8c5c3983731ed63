#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote::proxy {

/// Models with this prefix are answered from the store.
inline constexpr std::string_view kGroundedPrefix = "rag/";
/// Replaces that prefix for the upstream, unless a rule names a model.
inline constexpr std::string_view kUpstreamPrefix = "local/";
/// "rag/footnote" is answered by this program.
inline constexpr std::string_view kBuiltInName = "footnote";

inline constexpr std::size_t kTopKMax = 100;
inline constexpr std::size_t kRulesMax = 1'000;

/// The operator's rule for one name after "rag/". Empty fields mean the default.
struct ModelRule {
  std::string model;   ///< Name at the upstream.
  std::string corpus;  ///< Where to search for sources.
  std::string system;  ///< Replaces the system text.

  bool operator==(const ModelRule&) const = default;
};
using ModelRules = std::map<std::string, ModelRule>;  ///< Keys are lower-case names.

/// Parses {"name": {"model"?, "corpus"?, "prompt"?}, ...}; empty text: no rules. kInvalidArgument names the invalid part.
Result<ModelRules> parse_model_rules(std::string_view json);

/// What to do if nothing is found. kPass: forward the client's request unchanged. kRefuse: answer that nothing was found, without a model
/// call; also if what was found does not support an answer.
enum class NoHits { kPass, kRefuse };

/// The proxy's settings. Plain data.
struct Policy {
  bool enabled = true;                     ///< False: no sources are added; names are still mapped.
  std::size_t top_k = 5;                   ///< Nearest passages fetched, of which MMR picks.
  double lambda = 0.7;                     ///< For MMR: see retrieve/mmr.h.
  std::size_t sources_max = 5;             ///< Bound for one prompt.
  std::size_t characters_max = 1'200;      ///< Bound on one source in the prompt, in code points.
  std::size_t history_bytes_max = 32'000;  ///< Bound on earlier messages in the prompt.
  NoHits no_hits = NoHits::kPass;
  bool seed_form = false;  ///< The behaviour of the original proxy: only two messages, and sources chosen by cosine alone.
  std::string corpus = "memory";
  ModelRules rules;
};

/// What a client's model name resolves to.
struct Target {
  enum class Kind {
    kOther,     ///< Not ours: forwarded to the upstream.
    kGrounded,  ///< We add sources, then the upstream answers.
    kBuiltIn,   ///< This program answers.
  };
  Kind kind = Kind::kOther;
  std::string model;     ///< The model to request from the upstream.
  std::string fallback;  ///< Tried once if the upstream does not have that model; empty: none.
  std::string corpus;
  bool corpus_named = false;  ///< A rule names the corpus, so it must exist.
  std::string system;         ///< Empty: the default.
};

/// The prefix and the names of rules are case-insensitive.
Target resolve_model(const Policy& policy, std::string_view name);

/// The name under which an upstream model is offered with sources: "rag/phi3-en" for "local/phi3-en", "rag/x" for "x".
std::string grounded_name(std::string_view upstream_model);

}  // namespace footnote::proxy
