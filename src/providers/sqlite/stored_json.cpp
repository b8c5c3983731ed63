#include "providers/sqlite/stored_json.h"

#include <algorithm>
#include <limits>

#include "base/utf8.h"

namespace footnote {

namespace {

const JsonObject kNoObject;
const JsonArray kNoArray;

}  // namespace

StoredObject::StoredObject(const Json& value, bool& damaged)
    : object_(value.is_object() ? &value.get_object() : &kNoObject), damaged_(&damaged) {
  if (!value.is_object()) damaged = true;
}

const Json* StoredObject::find(std::string_view key) const {
  const Json* value = object_->if_contains(key);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

std::string StoredObject::text(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return {};
  if (value->is_string()) return std::string(value->get_string());
  *damaged_ = true;
  return {};
}

std::int64_t StoredObject::integer(std::string_view key, std::int64_t missing) const {
  const Json* value = find(key);
  if (value == nullptr) return missing;
  if (value->is_int64()) return value->get_int64();
  *damaged_ = true;
  return missing;
}

double StoredObject::number(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return 0;
  if (value->is_number()) return value->to_number<double>();
  *damaged_ = true;
  return 0;
}

std::vector<std::string> StoredObject::texts(std::string_view key) const {
  std::vector<std::string> out;
  for (const Json& value : array(key)) {
    if (!value.is_string()) {
      *damaged_ = true;
      return {};
    }
    out.emplace_back(value.get_string());
  }
  return out;
}

StoredObject StoredObject::object(std::string_view key) const {
  const Json* value = find(key);
  if (value != nullptr) return {*value, *damaged_};
  static const Json kNothing(JsonObject{});
  return {kNothing, *damaged_};
}

const JsonArray& StoredObject::array(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return kNoArray;
  if (value->is_array()) return value->get_array();
  *damaged_ = true;
  return kNoArray;
}

Json stored_text(std::string_view text) { return is_valid_utf8(text) ? Json(text) : Json(repair_utf8(text)); }

JsonArray to_stored_array(const std::vector<std::string>& texts) {
  JsonArray out;
  out.reserve(texts.size());
  for (const std::string& text : texts) out.push_back(stored_text(text));
  return out;
}

JsonObject to_stored_object(const DocumentAttributes& attributes) {
  const DocumentAttributes plain;
  JsonObject out;
  const auto put_text = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) out[key] = stored_text(text);
  };
  put_text("title", attributes.title);
  put_text("url", attributes.url);
  put_text("media_type", attributes.media_type);
  put_text("language", attributes.language);
  put_text("canonical_type", attributes.canonical_type);
  if (attributes.status != plain.status) out["status"] = stored_name(attributes.status);
  if (attributes.evidence) out["evidence"] = stored_name(*attributes.evidence);
  if (attributes.priority != plain.priority) out["priority"] = attributes.priority;
  if (!attributes.tags.empty()) out["tags"] = to_stored_array(attributes.tags);
  if (!attributes.acl_labels.empty()) out["acl_labels"] = to_stored_array(attributes.acl_labels);
  put_text("slug", attributes.slug);
  put_text("canonical_id", attributes.canonical_id);
  put_text("summary", attributes.summary);
  if (!attributes.owners.empty()) out["owners"] = to_stored_array(attributes.owners);
  if (attributes.updated_at) out["updated_at"] = attributes.updated_at->time_since_epoch().count();
  return out;
}

DocumentAttributes attributes_from(const StoredObject& object) {
  const DocumentAttributes plain;
  DocumentAttributes out;
  out.title = object.text("title");
  out.url = object.text("url");
  out.media_type = object.text("media_type");
  out.language = object.text("language");
  out.canonical_type = object.text("canonical_type");
  out.status = object.name("status", plain.status);
  if (object.has("evidence")) out.evidence = object.name("evidence", EvidenceTier::kUnverified);
  out.priority = static_cast<int>(std::clamp<std::int64_t>(object.integer("priority", plain.priority), std::numeric_limits<int>::min(),
                                                           std::numeric_limits<int>::max()));
  out.tags = object.texts("tags");
  out.acl_labels = object.texts("acl_labels");
  out.slug = object.text("slug");
  out.canonical_id = object.text("canonical_id");
  out.summary = object.text("summary");
  out.owners = object.texts("owners");
  if (object.has("updated_at")) out.updated_at = UtcTime{std::chrono::milliseconds{object.integer("updated_at")}};
  return out;
}

std::string to_stored_text(const DocumentAttributes& attributes) { return to_text(to_stored_object(attributes)); }

Result<DocumentAttributes> attributes_from_stored_text(std::string_view text) {
  const auto value = parse_json(text);
  if (!value) return damaged_text("a document's attributes");
  bool damaged = false;
  DocumentAttributes out = attributes_from(StoredObject(*value, damaged));
  if (damaged) return damaged_text("a document's attributes");
  return out;
}

std::string to_stored_text(const std::vector<std::string>& texts) { return to_text(to_stored_array(texts)); }

Result<std::vector<std::string>> texts_from_stored_text(std::string_view text) {
  // Most lists are empty, and a full read parses hundreds of thousands of them.
  if (text == "[]") return std::vector<std::string>{};
  const auto value = parse_json(text);
  if (!value || !value->is_array()) return damaged_text("a list of texts");
  std::vector<std::string> out;
  out.reserve(value->get_array().size());
  for (const Json& entry : value->get_array()) {
    if (!entry.is_string()) return damaged_text("a list of texts");
    out.emplace_back(entry.get_string());
  }
  return out;
}

std::unexpected<Error> damaged_text(std::string_view what) {
  return fail(ErrorCode::kCorrupted, "{} in the store can't be read: run footnote doctor, then restore a snapshot or ingest again", what);
}

}  // namespace footnote
