#include "domain/catalog.h"

namespace footnote {

std::string_view to_string(KeyScope scope) {
  switch (scope) {
    case KeyScope::kRead: return "read";
    case KeyScope::kIngest: return "ingest";
    case KeyScope::kAdmin: return "admin";
    case KeyScope::kVisitor: return "visitor";
  }
  return "";
}

std::optional<KeyScope> parse_key_scope(std::string_view name) {
  for (const KeyScope scope : kAllKeyScopes) {
    if (to_string(scope) == name) return scope;
  }
  return std::nullopt;
}

const GateCalibration* Corpus::gate_for(std::string_view judge) const {
  return gate && gate->embedder == space.model_id && gate->judge == judge ? &*gate : nullptr;
}

}  // namespace footnote
