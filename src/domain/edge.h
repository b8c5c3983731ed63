#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace footnote {

/// The known types of edges, with how much each counts: "implements" 1.0 ... "related_to" 0.5. nullopt: not a type.
std::optional<double> edge_weight(std::string_view type);

/// Whether a found document leads on to the target: depends_on, implements, decision_for, related_to, supersedes.
bool leads_on(std::string_view type);

/// What a reference in the text of `from_key` may mean, best first: a key, the same with ".md", and both in the folder of `from_key`.
std::vector<std::string> meanings_of(std::string_view from_key, std::string_view reference);

}  // namespace footnote
