#pragma once

#include <optional>
#include <string_view>

namespace footnote::code {

/// What a unit of a code base is. The names are the values of `source_type`.
enum class SourceType {
  kRoute,
  kController,
  kControllerMethod,
  kModel,
  kModelRelation,
  kMigration,
  kTable,
  kService,
  kJob,
  kEvent,
  kListener,
  kPolicy,
  kMiddleware,
  kRequest,
  kResource,
  kConfig,
  kPackage,
  kReadme,
  kDoc,
  kCursorRule,
  kClaudeRule,
  kApiEndpoint,
  kRunSummary,
  kFileChange,
  kKnownBug,
  kAdr,
  kSymbol,  ///< A definition that none of the others names; Unit::kind says which.
};
inline constexpr int kSourceTypes = static_cast<int>(SourceType::kSymbol) + 1;

/// "route", "controller_method", "symbol" ...
std::string_view to_string(SourceType type);
std::optional<SourceType> parse_source_type(std::string_view name);
/// True for prose, which is cut with an overlap and joined when short.
bool is_prose(SourceType type);

}  // namespace footnote::code
