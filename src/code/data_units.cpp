#include "code/data_units.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "code/laravel_routes.h"

namespace footnote::code {
namespace {

constexpr std::string_view kVerbs[] = {"get", "put", "post", "delete", "options", "head", "patch", "trace"};

std::string_view stem_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

Unit unit_of(SourceType type, const DataNode& node, std::string symbol) {
  Unit out{.type = type, .symbol = std::move(symbol)};
  out.range = node.range;
  out.first_line = node.first_line;
  out.last_line = node.last_line;
  return out;
}

/// What "#/components/schemas/Invoice" points to within the file; null if nothing.
const DataNode* resolve(const DataNode& root, std::string_view reference) {
  if (!reference.starts_with("#/")) return nullptr;
  const DataNode* at = &root;
  for (const std::string_view part : split(reference.substr(2), '/')) {
    if (at == nullptr) return nullptr;
    at = at->find(part);
  }
  return at;
}

/// The $refs at or below a node, and below what they point to, each once.
void collect_references(const DataNode& root, const DataNode& node, std::set<std::string>& out) {
  std::vector<const DataNode*> open = {&node};
  while (!open.empty() && out.size() < kReferencesMax) {
    const DataNode* at = open.back();
    open.pop_back();
    for (const auto& [key, value] : at->members) {
      if (key == "$ref" && value.kind == DataNode::Kind::kScalar) {
        if (!out.insert(value.scalar).second) continue;
        if (const DataNode* target = resolve(root, value.scalar)) open.push_back(target);
      } else {
        open.push_back(&value);
      }
    }
    for (const DataNode& item : at->items) open.push_back(&item);
  }
}

std::string scalar_of(const DataNode& node, std::string_view key) {
  const DataNode* found = node.find(key);
  return found != nullptr ? found->scalar.substr(0, kSymbolBytesMax) : std::string();
}

void add_operation(const DataNode& root, const std::string& path, const std::string& verb, const DataNode& operation, CodeFile& out) {
  std::string method = verb;
  for (char& c : method) c = static_cast<char>(c - 'a' + 'A');
  Unit unit = unit_of(SourceType::kApiEndpoint, operation, method + " " + path);
  unit.header = "operation " + unit.symbol;
  if (const std::string summary = scalar_of(operation, "summary"); !summary.empty()) unit.header += ": " + summary;
  unit.facts["method"] = {method};
  unit.facts["uri"] = {path};
  if (const std::string id = scalar_of(operation, "operationId"); !id.empty()) unit.facts["operation_id"] = {id};
  std::set<std::string> references;
  collect_references(root, operation, references);
  for (const std::string& reference : references) {
    const std::string name(last_name(reference));
    unit.facts["schemas"].push_back(name);
    const DataNode* schema = resolve(root, reference);
    const DataNode* properties = schema != nullptr ? schema->find("properties") : nullptr;
    if (properties == nullptr) continue;
    std::vector<std::string> fields;
    for (const auto& [field, value] : properties->members) fields.push_back(field);
    unit.header += "\n" + name + " {" + join(fields, ", ").substr(0, kSymbolBytesMax) + "}";
  }
  unit.references.push_back({RefKind::kOperation, operation_key(method, path)});
  // The paths of a description may be relative to its server: "/api".
  if (const DataNode* servers = root.find("servers"); servers != nullptr && !servers->items.empty()) {
    std::string url = scalar_of(servers->items.front(), "url");
    if (const std::size_t scheme = url.find("://"); scheme != std::string::npos) {
      const std::size_t slash = url.find('/', scheme + 3);
      url = slash == std::string::npos ? "" : url.substr(slash);
    }
    while (url.ends_with('/')) url.pop_back();
    if (!url.empty()) unit.references.push_back({RefKind::kOperation, operation_key(method, url + path)});
  }
  out.units.push_back(std::move(unit));
}

void add_operations(const DataNode& root, CodeFile& out) {
  const DataNode* paths = root.find("paths");
  if (paths == nullptr) return;
  for (const auto& [path, item] : paths->members) {
    for (const auto& [verb, operation] : item.members) {
      if (std::ranges::find(kVerbs, verb) != std::end(kVerbs)) add_operation(root, path, verb, operation, out);
    }
  }
}

void add_package(std::string_view path, const DataNode& root, CodeFile& out) {
  Unit unit = unit_of(SourceType::kPackage, root, std::string(path));
  unit.header = "package " + std::string(path);
  if (const std::string name = scalar_of(root, "name"); !name.empty()) unit.facts["name"] = {name};
  for (const std::string_view key : {"require", "require-dev", "dependencies", "devDependencies", "peerDependencies"}) {
    const DataNode* list = root.find(key);
    if (list == nullptr) continue;
    for (const auto& [name, version] : list->members) unit.facts["dependencies"].push_back(name + " " + version.scalar);
  }
  out.units.push_back(std::move(unit));
}

}  // namespace

void add_whole_file(std::string_view path, SourceType type, std::string_view kind, CodeFile& out) {
  Unit unit{.type = type, .kind = std::string(kind), .symbol = std::string(path), .header = std::string(path)};
  unit.range = {0, out.text.size()};
  unit.last_line = 1 + static_cast<int>(std::ranges::count(trim(out.text), '\n'));
  out.units.push_back(std::move(unit));
}

void add_data_units(std::string_view path, SourceType type, const DataNode& root, CodeFile& out) {
  if (scalar_of(root, "openapi").starts_with("3")) return add_operations(root, out);
  if (type == SourceType::kPackage) return add_package(path, root, out);
  for (const auto& [key, value] : root.members) {
    Unit unit = unit_of(SourceType::kConfig, value, std::string(stem_of(path)) + "." + key);
    unit.header = "config " + std::string(path) + ": " + key;
    out.units.push_back(std::move(unit));
  }
}

}  // namespace footnote::code
