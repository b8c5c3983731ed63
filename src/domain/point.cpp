#include "domain/point.h"

#include <fmt/format.h>

#include "base/text.h"

namespace footnote {

std::string to_string(const PointId& id) {
  if (const auto* number = std::get_if<std::uint64_t>(&id.value)) return std::to_string(*number);
  return to_string(std::get<Uuid>(id.value));
}

std::optional<PointId> parse_point_id(std::string_view text) {
  if (const auto number = parse_whole_number<std::uint64_t>(text)) return PointId{*number};
  if (const auto uuid = parse_uuid(text)) return PointId{*uuid};
  return std::nullopt;
}

PointId point_of_passage(std::string_view url_or_key, int ordinal) { return {uuid_of_url(fmt::format("{}#{}", url_or_key, ordinal))}; }

std::string document_key_of(const PointId& id) { return fmt::format("{}{}", kPointKeyPrefix, to_string(id)); }

std::string_view to_string(PayloadKind kind) {
  switch (kind) {
    case PayloadKind::kKeyword: return "keyword";
    case PayloadKind::kInteger: return "integer";
    case PayloadKind::kFloat: return "float";
    case PayloadKind::kGeo: return "geo";
    case PayloadKind::kText: return "text";
    case PayloadKind::kBool: return "bool";
    case PayloadKind::kDatetime: return "datetime";
    case PayloadKind::kUuid: return "uuid";
  }
  return "";
}

std::optional<PayloadKind> parse_payload_kind(std::string_view name) {
  for (const PayloadKind kind : kAllPayloadKinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

bool is_looked_up(PayloadKind kind) {
  return kind == PayloadKind::kKeyword || kind == PayloadKind::kInteger || kind == PayloadKind::kBool || kind == PayloadKind::kUuid;
}

}  // namespace footnote
