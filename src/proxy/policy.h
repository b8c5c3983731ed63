#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace footnote::proxy {

/// Models whose names begin so are answered from the store.
inline constexpr std::string_view kGroundedPrefix = "rag/";
/// What stands in its place at the upstream, where nothing else is said.
inline constexpr std::string_view kUpstreamPrefix = "local/";
/// "rag/footnote" is answered by this program.
inline constexpr std::string_view kBuiltInName = "footnote";

inline constexpr std::size_t kTopKMax = 100;
inline constexpr std::size_t kRulesMax = 1'000;

/// What the operator says of one name after "rag/". Empty parts are as without a rule.
struct ModelRule {
  std::string model;   ///< At the upstream.
  std::string corpus;  ///< Where sources are looked for.
  std::string system;  ///< In place of the system text.

  bool operator==(const ModelRule&) const = default;
};
using ModelRules = std::map<std::string, ModelRule>;  ///< By name, in lower case.

/// Reads {"name": {"model"?, "corpus"?, "prompt"?}, ...}; empty text: no rules. kInvalidArgument names the part that is wrong.
Result<ModelRules> parse_model_rules(std::string_view json);

/// When nothing is found. kPass: the request goes on as the client sent it. kRefuse: it is answered by saying so, also when what was
/// found does not carry an answer; no model is asked.
enum class NoHits { kPass, kRefuse };

/// How the proxy works. Plain data.
struct Policy {
  bool enabled = true;                     ///< False: no sources are put in; names still map.
  std::size_t top_k = 5;                   ///< Three times as many are searched before MMR picks so many.
  double lambda = 0.7;                     ///< Of MMR: see retrieve/mmr.h.
  std::size_t sources_max = 5;             ///< In one prompt.
  std::size_t characters_max = 1'200;      ///< Of one source in the prompt, in code points.
  std::size_t history_bytes_max = 32'000;  ///< Of earlier messages in the prompt.
  NoHits no_hits = NoHits::kPass;
  bool seed_form = false;  ///< Two messages alone, sources by cosine alone.
  std::string corpus = "memory";
  ModelRules rules;
};

/// What a client's model name leads to.
struct Target {
  enum class Kind {
    kOther,     ///< Not ours: the upstream's business.
    kGrounded,  ///< Sources are put in, then the upstream answers.
    kBuiltIn,   ///< This program answers.
  };
  Kind kind = Kind::kOther;
  std::string model;     ///< To ask the upstream for.
  std::string fallback;  ///< To ask for once when the upstream does not have that one; empty: none.
  std::string corpus;
  bool corpus_named = false;  ///< By a rule: then it must be there.
  std::string system;         ///< Empty: the usual one.
};

/// The prefix and the names of rules are read without regard to case.
Target resolve_model(const Policy& policy, std::string_view name);

/// The name under which a model of the upstream is offered with sources: "rag/phi3-en" for "local/phi3-en", "rag/x" for "x".
std::string grounded_name(std::string_view upstream_model);

}  // namespace footnote::proxy
