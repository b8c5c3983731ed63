#include "proxy/policy.h"

#include "base/json.h"
#include "base/text.h"

namespace footnote::proxy {

namespace {

constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kSystemBytesMax = 16 << 10;

Result<ModelRule> parse_rule(const Json& value, std::string path) {
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(value, std::move(path)));
  FOOTNOTE_CHECK(reader.only({"model", "corpus", "prompt"}));
  FOOTNOTE_TRY(const auto model, reader.optional_string("model", kNameBytesMax));
  FOOTNOTE_TRY(const auto corpus, reader.optional_string("corpus", kNameBytesMax));
  FOOTNOTE_TRY(const auto system, reader.optional_string("prompt", kSystemBytesMax));
  return ModelRule{model.value_or(""), corpus.value_or(""), system.value_or("")};
}

std::string_view without_prefix(std::string_view name, std::string_view prefix) {
  return starts_with_ignoring_case(name, prefix) ? name.substr(prefix.size()) : name;
}

}  // namespace

Result<ModelRules> parse_model_rules(std::string_view json) {
  if (trim(json).empty()) return ModelRules{};
  FOOTNOTE_TRY(const Json value, parse_request_json(json));
  const JsonObject* object = value.if_object();
  if (object == nullptr) return fail(ErrorCode::kInvalidArgument, R"(must be {{"NAME": {{"model": ..., "corpus": ..., "prompt": ...}}}})");
  if (object->size() > kRulesMax) return fail(ErrorCode::kTooLarge, "names more than {} models", kRulesMax);
  ModelRules out;
  for (const auto& [key, rule] : *object) {
    const std::string_view name = without_prefix({key.data(), key.size()}, kGroundedPrefix);
    if (name.empty()) return fail(ErrorCode::kInvalidArgument, "a model must have a name");
    FOOTNOTE_TRY(ModelRule parsed, parse_rule(rule, std::string(name)));
    if (!out.emplace(to_lower_ascii(name), std::move(parsed)).second) {
      return fail(ErrorCode::kInvalidArgument, "'{}' occurs twice", name);
    }
  }
  return out;
}

Target resolve_model(const Policy& policy, std::string_view name) {
  Target out;
  if (!starts_with_ignoring_case(name, kGroundedPrefix) || name.size() == kGroundedPrefix.size()) {
    out.model = name;
    return out;
  }
  const std::string_view own = name.substr(kGroundedPrefix.size());
  const auto rule = policy.rules.find(to_lower_ascii(own));
  const bool has_rule = rule != policy.rules.end();
  out.corpus_named = has_rule && !rule->second.corpus.empty();
  out.corpus = out.corpus_named ? rule->second.corpus : policy.corpus;
  if (has_rule) out.system = rule->second.system;
  if (has_rule && !rule->second.model.empty()) {
    out.kind = Target::Kind::kGrounded;
    out.model = rule->second.model;
  } else if (to_lower_ascii(own) == kBuiltInName) {
    out.kind = Target::Kind::kBuiltIn;
  } else {
    out.kind = Target::Kind::kGrounded;
    out.model = std::string(kUpstreamPrefix) + std::string(own);
    out.fallback = own;
  }
  return out;
}

std::string grounded_name(std::string_view upstream_model) {
  return std::string(kGroundedPrefix) + std::string(without_prefix(upstream_model, kUpstreamPrefix));
}

}  // namespace footnote::proxy
