#include "code/php_units.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "code/plural.h"

namespace footnote::code {
namespace {

using syntax::Node;
using syntax::Walk;

struct TypeRule {
  std::string_view name;
  SourceType type;
};

constexpr TypeRule kBases[] = {{"Model", SourceType::kModel},           {"Authenticatable", SourceType::kModel},
                               {"Pivot", SourceType::kModel},           {"MorphPivot", SourceType::kModel},
                               {"Migration", SourceType::kMigration},   {"FormRequest", SourceType::kRequest},
                               {"JsonResource", SourceType::kResource}, {"ResourceCollection", SourceType::kResource},
                               {"Controller", SourceType::kController}, {"TestCase", SourceType::kSymbol},
                               {"Seeder", SourceType::kSymbol},         {"Factory", SourceType::kSymbol}};
/// Parts of a namespace.
constexpr TypeRule kPhpSpaces[] = {{"\\Http\\Controllers\\", SourceType::kController},
                                   {"\\Http\\Middleware\\", SourceType::kMiddleware},
                                   {"\\Http\\Requests\\", SourceType::kRequest},
                                   {"\\Http\\Resources\\", SourceType::kResource},
                                   {"\\Models\\", SourceType::kModel},
                                   {"\\Jobs\\", SourceType::kJob},
                                   {"\\Events\\", SourceType::kEvent},
                                   {"\\Listeners\\", SourceType::kListener},
                                   {"\\Policies\\", SourceType::kPolicy},
                                   {"\\Services\\", SourceType::kService}};
constexpr TypeRule kPhpSuffixes[] = {{"Controller", SourceType::kController},
                                     {"Policy", SourceType::kPolicy},
                                     {"Middleware", SourceType::kMiddleware},
                                     {"Service", SourceType::kService}};
constexpr std::string_view kRelations[] = {"hasOne",  "hasMany",  "belongsTo", "belongsToMany", "hasOneThrough", "hasManyThrough",
                                           "morphTo", "morphOne", "morphMany", "morphToMany",   "morphedByMany"};

bool is_test_path(std::string_view path) { return path.starts_with("tests/") || path.find("/tests/") != std::string_view::npos; }

bool is_relation(std::string_view name) { return std::ranges::find(kRelations, name) != std::end(kRelations); }

/// The first sentence of a doc comment, without its markers.
std::string doc_summary(std::string_view text) {
  if (!text.starts_with("/**")) return {};
  text = text.substr(3, text.find("*/") - 3);
  std::string out;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    while (line.starts_with('*')) line = trim(line.substr(1));
    if (line.starts_with('@')) break;
    if (line.empty() && !out.empty()) break;
    if (!out.empty()) out += ' ';
    out += line;
  }
  return out.substr(0, kSymbolBytesMax);
}

struct Relation {
  std::string kind;
  std::string model;
  std::string pivot;
};

std::optional<Relation> relation_of(const PhpMethod& method, std::string_view source, const PhpNames& names) {
  Walk walk(method.node.field("body"));
  while (const Node node = walk.next()) {
    if (!node.is("member_call_expression") || node.field("object").text(source) != "$this") continue;
    Relation out{.kind = std::string(node.field("name").text(source))};
    if (!is_relation(out.kind)) continue;
    const auto arguments = php_arguments(node);
    if (!arguments.empty()) out.model = php_class_constant(arguments[0], source, names).value_or("");
    if (out.kind == "belongsToMany" && arguments.size() > 1) out.pivot = php_string(arguments[1], source).value_or("");
    return out;
  }
  return std::nullopt;
}

/// Types of properties by "$name", declared or promoted by the constructor.
std::map<std::string, std::string> property_types(const PhpClass& read, std::string_view source, const PhpNames& names) {
  std::map<std::string, std::string> out;
  const auto add = [&](std::string_view name, Node type) {
    if (type.is("optional_type") && !type.children().empty()) type = type.children().front();
    if (type.is("named_type")) out[std::string(name)] = names.full_name(type.text(source));
  };
  for (const Node member : read.node.field("body").children()) {
    if (member.is("property_declaration")) {
      for (const Node element : member.children()) {
        if (element.is("property_element")) add(element.field("name").text(source), member.field("type"));
      }
    }
    if (!member.is("method_declaration") || member.field("name").text(source) != "__construct") continue;
    for (const Node parameter : member.field("parameters").children()) {
      if (parameter.is("property_promotion_parameter")) add(parameter.field("name").text(source), parameter.field("type"));
    }
  }
  return out;
}

class ClassUnits {
 public:
  ClassUnits(std::string_view path, const PhpFile& file, const PhpClass& read, CodeFile& out)
      : file_(file),
        read_(read),
        out_(out),
        source_(out.text),
        type_(php_class_type(path, read)),
        name_(read.name.empty() ? std::string(path) : read.name),
        is_test_(is_test_path(path)),
        properties_(property_types(read, out.text, file.names)) {}

  void add() {
    // A migration has one chunk per table instead: see laravel_schema.h.
    if (type_ == SourceType::kMigration) return;
    add_header();
    for (const PhpMethod& method : read_.methods) add_method(method);
  }

 private:
  void add_header() {
    const std::size_t end = read_.methods.empty() ? read_.range.end : read_.methods.front().range.begin;
    const std::string_view text = source_.substr(read_.range.begin, end - read_.range.begin);
    Unit unit{.type = type_, .kind = is_test_ ? "test" : read_.kind, .symbol = name_};
    unit.header = "namespace " + (file_.names.space.empty() ? "(global)" : file_.names.space) + "; " + read_.signature;
    unit.range = {read_.range.begin, read_.range.begin + trim(text).size()};
    unit.first_line = read_.first_line;
    unit.last_line = unit.first_line + static_cast<int>(std::ranges::count(trim(text), '\n'));
    add_class_facts(unit);
    add_class_references(unit);
    out_.units.push_back(std::move(unit));
  }

  void add_class_facts(Unit& unit) const {
    if (!file_.names.space.empty()) unit.facts["namespace"] = {file_.names.space};
    if (!read_.base.empty()) unit.facts["extends"] = {read_.base};
    if (!read_.interfaces.empty()) unit.facts["implements"] = read_.interfaces;
    if (!read_.traits.empty()) unit.facts["traits"] = read_.traits;
    for (const PhpMethod& method : read_.methods) {
      if (method.visibility == "public") unit.facts["methods"].push_back(method.name);
    }
  }

  void add_class_references(Unit& unit) const {
    if (is_test_) {
      for (Reference reference : php_class_references(read_.node, source_, file_.names)) {
        unit.references.push_back({RefKind::kTests, std::move(reference.target)});
      }
      return;
    }
    if (!read_.base.empty()) unit.references.push_back({RefKind::kClass, read_.base});
    for (const std::string& name : read_.interfaces) unit.references.push_back({RefKind::kClass, name});
    for (const std::string& name : read_.traits) unit.references.push_back({RefKind::kClass, name});
    if (type_ == SourceType::kModel && read_.kind == "class") {
      const auto given = read_.properties.find("$table");
      const auto table = given == read_.properties.end() ? std::nullopt : php_string(given->second, source_);
      unit.references.push_back({RefKind::kTable, table.value_or(table_of_model(last_name(name_)))});
    }
    if (type_ == SourceType::kListener) {
      for (const PhpMethod& method : read_.methods) {
        if (method.name != "handle" && method.name != "__invoke") continue;
        for (const PhpParameter& parameter : method.parameters) {
          for (const std::string& type : parameter.types) unit.references.push_back({RefKind::kHandles, type});
        }
      }
    }
    if (type_ == SourceType::kPolicy) {
      const std::string_view name = last_name(name_);
      if (name.ends_with("Policy")) unit.references.push_back({RefKind::kGuards, std::string(name.substr(0, name.size() - 6))});
    }
    add_provider_references(unit);
  }

  /// $listen: event => listeners, and $policies: model => policy.
  void add_provider_references(Unit& unit) const {
    if (const auto listen = read_.properties.find("$listen"); listen != read_.properties.end()) {
      for (const PhpEntry& entry : php_entries(listen->second)) {
        const auto event = php_class_constant(entry.key, source_, file_.names);
        for (const PhpEntry& listener : php_entries(entry.value)) {
          const auto name = php_class_constant(listener.value, source_, file_.names);
          if (event && name) unit.references.push_back({RefKind::kHandles, *event, *name});
        }
      }
    }
    if (const auto policies = read_.properties.find("$policies"); policies != read_.properties.end()) {
      for (const PhpEntry& entry : php_entries(policies->second)) {
        const auto model = php_class_constant(entry.key, source_, file_.names);
        const auto policy = php_class_constant(entry.value, source_, file_.names);
        if (model && policy) unit.references.push_back({RefKind::kGuards, *model, *policy});
      }
    }
  }

  SourceType method_type(const PhpMethod& method, const std::optional<Relation>& relation) const {
    if (is_test_) return SourceType::kSymbol;
    if (method.visibility != "public") return SourceType::kSymbol;
    if (type_ == SourceType::kController) return SourceType::kControllerMethod;
    if (relation) return SourceType::kModelRelation;
    return type_;
  }

  void add_method(const PhpMethod& method) {
    const auto relation = type_ == SourceType::kModel ? relation_of(method, source_, file_.names) : std::nullopt;
    Unit unit{.type = method_type(method, relation), .kind = is_test_ ? "test" : "method", .symbol = name_ + "::" + method.name};
    unit.header = unit.symbol;
    if (const std::string doc = doc_summary(source_.substr(read_.range.begin, read_.range.size())); !doc.empty()) unit.header += ": " + doc;
    unit.range = method.range;
    unit.first_line = method.first_line;
    unit.last_line = method.last_line;
    unit.facts["visibility"] = {method.visibility};
    unit.facts["signature"] = {method.signature.substr(0, kSymbolBytesMax)};
    if (relation) {
      unit.facts["relation"] = {relation->kind};
      if (!relation->model.empty()) unit.references.push_back({RefKind::kRelation, relation->model});
      if (!relation->pivot.empty()) unit.references.push_back({RefKind::kTable, relation->pivot});
    }
    if (!is_test_) add_method_references(method, unit);
    out_.units.push_back(std::move(unit));
  }

  void add_method_references(const PhpMethod& method, Unit& unit) const {
    std::set<std::string> seen;
    for (const Reference& known : unit.references) seen.insert(known.target);
    for (const PhpParameter& parameter : method.parameters) {
      for (const std::string& type : parameter.types) {
        if (seen.insert(type).second) unit.references.push_back({RefKind::kParameter, type});
      }
    }
    for (Reference& reference : php_class_references(method.node, source_, file_.names)) {
      if (reference.target != name_ && seen.insert(reference.target).second) unit.references.push_back(std::move(reference));
    }
    Walk walk(method.node.field("body"));
    while (const Node node = walk.next()) {
      if (!node.is("member_access_expression") || node.field("object").text(source_) != "$this") continue;
      const auto found = properties_.find("$" + std::string(node.field("name").text(source_)));
      if (found != properties_.end() && seen.insert(found->second).second) unit.references.push_back({RefKind::kClass, found->second});
    }
  }

  const PhpFile& file_;
  const PhpClass& read_;
  CodeFile& out_;
  const std::string_view source_;
  const SourceType type_;
  const std::string name_;
  const bool is_test_;
  const std::map<std::string, std::string> properties_;
};

}  // namespace

std::string table_of_model(std::string_view class_name) { return plural(snake_case(class_name)); }

SourceType php_class_type(std::string_view path, const PhpClass& read) {
  if (is_test_path(path)) return SourceType::kSymbol;
  if (read.kind != "class") return SourceType::kSymbol;
  const std::string_view base = last_name(read.base);
  for (const TypeRule& rule : kBases) {
    if (base == rule.name) return rule.type;
  }
  if (read.base == "Illuminate\\Foundation\\Auth\\User") return SourceType::kModel;
  if (path.starts_with("database/migrations/")) return SourceType::kMigration;
  const std::string spaced = "\\" + read.name;
  for (const TypeRule& rule : kPhpSpaces) {
    if (spaced.find(rule.name) != std::string::npos) return rule.type;
  }
  for (const TypeRule& rule : kPhpSuffixes) {
    if (base.ends_with(rule.name) || (read.name.ends_with(rule.name) && last_name(read.name) != rule.name)) return rule.type;
  }
  return SourceType::kSymbol;
}

void add_php_units(std::string_view path, const PhpFile& file, CodeFile& out) {
  for (const PhpClass& read : file.classes) ClassUnits(path, file, read, out).add();
  for (const PhpMethod& function : file.functions) {
    Unit unit{.kind = "function", .symbol = function.name, .header = function.name, .range = function.range};
    unit.first_line = function.first_line;
    unit.last_line = function.last_line;
    unit.facts["signature"] = {function.signature.substr(0, kSymbolBytesMax)};
    unit.references = php_class_references(function.node, out.text, file.names);
    out.units.push_back(std::move(unit));
  }
}

}  // namespace footnote::code
