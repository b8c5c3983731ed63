#include "points/payload_passage.h"

#include <algorithm>

namespace footnote::points {

namespace {

constexpr std::string_view kTextKeys[] = {"text", "page_content", "content", "data", "document"};

std::string text_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string text_at(const JsonObject& object, const JsonPath& path) {
  std::string out;
  visit_values(object, path, [&](const Json& value) {
    if (out.empty() && value.is_string()) out = value.get_string();
  });
  return out;
}

/// A whole node as JSON inside the payload.
std::string text_of_node(const JsonObject& payload) {
  const std::string node = text_at(payload, "_node_content");
  const auto parsed = node.empty() ? Result<Json>(JsonObject{}) : parse_json(node);
  return parsed && parsed->is_object() ? text_at(parsed->get_object(), "text") : std::string();
}

std::string usual_text(const JsonObject& payload) {
  for (const std::string_view key : kTextKeys) {
    if (std::string text = text_at(payload, key); !text.empty()) return text;
  }
  return text_of_node(payload);
}

bool is_web_address(std::string_view text) { return text.starts_with("https://") || text.starts_with("http://"); }

}  // namespace

PayloadPassage passage_of(const JsonObject& payload, std::span<const JsonPath> text_keys) {
  PayloadPassage out{.text = {}, .title = text_at(payload, "title"), .url = text_at(payload, "url")};
  for (const JsonPath& key : text_keys) {
    if (out.text.empty()) out.text = text_at(payload, key);
  }
  if (text_keys.empty()) out.text = usual_text(payload);
  const Json* metadata = payload.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return out;
  if (out.title.empty()) out.title = text_at(metadata->get_object(), "title");
  if (out.url.empty()) out.url = text_at(metadata->get_object(), "url");
  if (const std::string source = text_at(metadata->get_object(), "source"); out.url.empty() && is_web_address(source)) out.url = source;
  return out;
}

std::vector<JsonPath> text_keys_of(const JsonObject& config) {
  std::vector<JsonPath> out;
  const Json* keys = config.if_contains("payload_text_keys");
  if (keys == nullptr || !keys->is_array()) return out;
  for (const Json& key : keys->get_array()) {
    if (!key.is_string()) continue;
    if (auto path = parse_json_path(key.get_string())) out.push_back(*std::move(path));
  }
  return out;
}

}  // namespace footnote::points
