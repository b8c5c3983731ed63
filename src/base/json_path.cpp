#include "base/json_path.h"

#include <span>

namespace footnote {

namespace {

using Steps = std::span<const JsonPath::Step>;

void walk(const Json& value, Steps steps, const std::function<void(const Json&)>& found) {
  if (steps.empty()) return found(value);
  const JsonObject* object = value.if_object();
  const Json* next = object == nullptr ? nullptr : object->if_contains(steps.front().key);
  if (next == nullptr) return;
  if (!steps.front().each) return walk(*next, steps.subspan(1), found);
  if (const JsonArray* list = next->if_array()) {
    for (const Json& element : *list) walk(element, steps.subspan(1), found);
  }
}

void walk(const JsonObject& object, Steps steps, const std::function<void(const Json&)>& found) {
  const Json* next = object.if_contains(steps.front().key);
  if (next == nullptr) return;
  if (!steps.front().each) return walk(*next, steps.subspan(1), found);
  if (const JsonArray* list = next->if_array()) {
    for (const Json& element : *list) walk(element, steps.subspan(1), found);
  }
}

bool erase(Json& value, Steps steps);

bool erase(JsonObject& object, Steps steps) {
  Json* next = object.if_contains(steps.front().key);
  if (next == nullptr) return false;
  if (steps.size() == 1) return object.erase(steps.front().key) > 0;
  if (!steps.front().each) return erase(*next, steps.subspan(1));
  bool any = false;
  if (JsonArray* list = next->if_array()) {
    for (Json& element : *list) any = erase(element, steps.subspan(1)) || any;
  }
  return any;
}

bool erase(Json& value, Steps steps) {
  JsonObject* object = value.if_object();
  return object != nullptr && erase(*object, steps);
}

/// Removes one key from the front of `text`. Empty when there is none.
std::string take_key(std::string_view& text) {
  if (text.starts_with('"')) {
    const std::size_t end = text.find('"', 1);
    if (end == std::string_view::npos) return {};
    std::string key(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return key;
  }
  const std::size_t end = std::min(text.find_first_of(".["), text.size());
  std::string key(text.substr(0, end));
  text.remove_prefix(end);
  return key;
}

}  // namespace

Result<JsonPath> parse_json_path(std::string_view text) {
  const auto wrong = [whole = text] {
    return fail(ErrorCode::kInvalidArgument, "'{}' is not a key: write name, address.city or items[].price", whole);
  };
  JsonPath path;
  for (;;) {
    JsonPath::Step step{.key = take_key(text)};
    if (step.key.empty()) return wrong();
    if (text.starts_with("[]")) {
      step.each = true;
      text.remove_prefix(2);
    }
    path.steps.push_back(std::move(step));
    if (text.empty()) return path;
    if (!text.starts_with('.')) return wrong();
    text.remove_prefix(1);
  }
}

void visit_values(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found) {
  walk(object, path.steps, found);
}

void visit_elements(const JsonObject& object, const JsonPath& path, const std::function<void(const Json&)>& found) {
  walk(object, path.steps, [&](const Json& value) {
    const JsonArray* list = value.if_array();
    if (list == nullptr) return found(value);
    for (const Json& element : *list) found(element);
  });
}

bool erase_path(JsonObject& object, const JsonPath& path) { return erase(object, path.steps); }

}  // namespace footnote
