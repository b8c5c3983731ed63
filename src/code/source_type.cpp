#include "code/source_type.h"

#include <array>

namespace footnote::code {
namespace {

constexpr std::array<std::string_view, kSourceTypes> kNames = {"route",
                                                               "controller",
                                                               "controller_method",
                                                               "model",
                                                               "model_relation",
                                                               "migration",
                                                               "table",
                                                               "service",
                                                               "job",
                                                               "event",
                                                               "listener",
                                                               "policy",
                                                               "middleware",
                                                               "request",
                                                               "resource",
                                                               "config",
                                                               "package",
                                                               "readme",
                                                               "doc",
                                                               "cursor_rule",
                                                               "claude_rule",
                                                               "api_endpoint",
                                                               "run_summary",
                                                               "file_change",
                                                               "known_bug",
                                                               "adr",
                                                               "symbol"};

}  // namespace

std::string_view to_string(SourceType type) { return kNames[static_cast<std::size_t>(type)]; }

std::optional<SourceType> parse_source_type(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<SourceType>(i);
  }
  return std::nullopt;
}

bool is_prose(SourceType type) {
  switch (type) {
    case SourceType::kReadme:
    case SourceType::kDoc:
    case SourceType::kCursorRule:
    case SourceType::kClaudeRule:
    case SourceType::kKnownBug:
    case SourceType::kAdr:
    case SourceType::kRunSummary: return true;
    case SourceType::kRoute:
    case SourceType::kController:
    case SourceType::kControllerMethod:
    case SourceType::kModel:
    case SourceType::kModelRelation:
    case SourceType::kMigration:
    case SourceType::kTable:
    case SourceType::kService:
    case SourceType::kJob:
    case SourceType::kEvent:
    case SourceType::kListener:
    case SourceType::kPolicy:
    case SourceType::kMiddleware:
    case SourceType::kRequest:
    case SourceType::kResource:
    case SourceType::kConfig:
    case SourceType::kPackage:
    case SourceType::kApiEndpoint:
    case SourceType::kFileChange:
    case SourceType::kSymbol: return false;
  }
  return false;
}

}  // namespace footnote::code
