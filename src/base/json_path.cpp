#include "base/json_path.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>

#include "base/text.h"

namespace footnote {

namespace {

using Kind = JsonPath::Kind;
using Step = JsonPath::Step;
using Steps = std::span<const Step>;

void walk(const Json& value, Steps steps, const std::function<void(const Json&)>& found);

void walk(const JsonObject& object, Steps steps, const std::function<void(const Json&)>& found) {
  if (const Json* next = object.if_contains(steps.front().key)) walk(*next, steps.subspan(1), found);
}

void walk(const Json& value, Steps steps, const std::function<void(const Json&)>& found) {
  if (steps.empty()) return found(value);
  if (steps.front().kind == Kind::kKey) {
    if (const JsonObject* object = value.if_object()) walk(*object, steps, found);
    return;
  }
  const JsonArray* list = value.if_array();
  if (list == nullptr) return;
  if (steps.front().kind == Kind::kEach) {
    for (const Json& element : *list) walk(element, steps.subspan(1), found);
  } else if (steps.front().index < list->size()) {
    walk((*list)[steps.front().index], steps.subspan(1), found);
  }
}

bool erase(Json& value, Steps steps);

bool erase(JsonObject& object, Steps steps) {
  Json* next = object.if_contains(steps.front().key);
  if (next == nullptr) return false;
  if (steps.size() == 1) return object.erase(steps.front().key) > 0;
  return erase(*next, steps.subspan(1));
}

bool erase(JsonArray& list, Steps steps) {
  const Step& step = steps.front();
  const bool is_last = steps.size() == 1;
  if (step.kind == Kind::kIndex) {
    if (step.index >= list.size()) return false;
    if (!is_last) return erase(list[step.index], steps.subspan(1));
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(step.index));
    return true;
  }
  bool any = is_last && !list.empty();
  if (is_last) list.clear();
  for (Json& element : list) any = erase(element, steps.subspan(1)) || any;
  return any;
}

bool erase(Json& value, Steps steps) {
  if (steps.front().kind == Kind::kKey) {
    JsonObject* object = value.if_object();
    return object != nullptr && erase(*object, steps);
  }
  JsonArray* list = value.if_array();
  return list != nullptr && erase(*list, steps);
}

/// Several paths merged: the steps that follow, or the end of a path, which stands for everything below.
struct PathTree {
  bool is_end = false;
  std::map<Step, PathTree> next;
};

PathTree merged(const std::vector<JsonPath>& paths) {
  PathTree root;
  for (const JsonPath& path : paths) {
    PathTree* node = &root;
    for (const Step& step : path.steps) node = &node->next[step];
    node->is_end = true;
  }
  return root;
}

const PathTree* below(const PathTree& tree, const Step& step) {
  const auto found = tree.next.find(step);
  return found == tree.next.end() ? nullptr : &found->second;
}

Json select(const Json& value, const PathTree& tree);

JsonObject select(const JsonObject& object, const PathTree& tree) {
  JsonObject out;
  for (const auto& entry : object) {
    const PathTree* inner = below(tree, {.kind = Kind::kKey, .key = std::string(entry.key())});
    if (inner != nullptr) out[entry.key()] = select(entry.value(), *inner);
  }
  return out;
}

Json select(const Json& value, const PathTree& tree) {
  if (tree.is_end) return value;
  if (const JsonObject* object = value.if_object()) return select(*object, tree);
  const JsonArray* list = value.if_array();
  if (list == nullptr) return value;
  JsonArray out;
  if (const PathTree* inner = below(tree, {.kind = Kind::kEach})) {
    for (const Json& element : *list) out.push_back(select(element, *inner));
  }
  return out;
}

Json drop(const Json& value, const PathTree& tree);

JsonObject drop(const JsonObject& object, const PathTree& tree) {
  JsonObject out;
  for (const auto& entry : object) {
    const PathTree* inner = below(tree, {.kind = Kind::kKey, .key = std::string(entry.key())});
    if (inner == nullptr) {
      out[entry.key()] = entry.value();
    } else if (!inner->is_end) {
      out[entry.key()] = drop(entry.value(), *inner);
    }
  }
  return out;
}

Json drop(const Json& value, const PathTree& tree) {
  if (const JsonObject* object = value.if_object()) return drop(*object, tree);
  const JsonArray* list = value.if_array();
  const PathTree* inner = list == nullptr ? nullptr : below(tree, {.kind = Kind::kEach});
  if (inner == nullptr) return value;
  JsonArray out;
  if (inner->is_end) return out;
  for (const Json& element : *list) out.push_back(drop(element, *inner));
  return out;
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

/// Removes "[]" or "[n]" from the front of `text`, which starts with a bracket.
std::optional<Step> take_brackets(std::string_view& text) {
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inside = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  if (inside.empty()) return Step{.kind = Kind::kEach};
  const auto index = parse_whole_number<std::size_t>(inside);
  if (!index) return std::nullopt;
  return Step{.kind = Kind::kIndex, .key = {}, .index = *index};
}

}  // namespace

bool JsonPath::enters_lists() const {
  return std::ranges::any_of(steps, [](const Step& step) { return step.kind != Kind::kKey; });
}

Result<JsonPath> parse_json_path(std::string_view text) {
  const auto wrong = [whole = text] {
    return fail(ErrorCode::kInvalidArgument, "'{}' is not a key: write name, address.city, items[].price or items[0].price", whole);
  };
  JsonPath path;
  for (;;) {
    if (path.steps.size() > kJsonPathStepsMax) return wrong();
    Step step{.kind = Kind::kKey, .key = take_key(text)};
    if (step.key.empty()) return wrong();
    path.steps.push_back(std::move(step));
    while (text.starts_with('[')) {
      auto inner = take_brackets(text);
      if (!inner || path.steps.size() > kJsonPathStepsMax) return wrong();
      path.steps.push_back(*std::move(inner));
    }
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

JsonObject select_paths(const JsonObject& object, const std::vector<JsonPath>& paths) { return select(object, merged(paths)); }
JsonObject drop_paths(const JsonObject& object, const std::vector<JsonPath>& paths) { return drop(object, merged(paths)); }

}  // namespace footnote
