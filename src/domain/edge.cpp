#include "domain/edge.h"

#include <algorithm>
#include <utility>

namespace footnote {

namespace {

constexpr std::pair<std::string_view, double> kWeights[] = {
    {"implements", 1.0}, {"supersedes", 1.0},     {"decision_for", 1.0},  {"depends_on", 0.8}, {"uses", 0.8},
    {"affects", 0.8},    {"invalidated_by", 0.7}, {"documented_by", 0.7}, {"owned_by", 0.7},   {"related_to", 0.5},
};

constexpr std::string_view kLeading[] = {"depends_on", "implements", "decision_for", "related_to", "supersedes"};

}  // namespace

std::optional<double> edge_weight(std::string_view type) {
  for (const auto& [known, weight] : kWeights) {
    if (known == type) return weight;
  }
  return std::nullopt;
}

bool leads_on(std::string_view type) { return std::ranges::find(kLeading, type) != std::end(kLeading); }

std::vector<std::string> meanings_of(std::string_view from_key, std::string_view reference) {
  const std::string name(reference);
  std::vector<std::string> out{name, name + ".md"};
  const std::size_t slash = from_key.rfind('/');
  if (slash != std::string_view::npos) {
    const std::string folder(from_key.substr(0, slash + 1));
    out.push_back(folder + name);
    out.push_back(folder + name + ".md");
  }
  return out;
}

}  // namespace footnote
