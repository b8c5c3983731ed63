#include "code/laravel_schema.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "code/plural.h"

namespace footnote::code {
namespace {

using syntax::Node;
using syntax::Walk;
using Kind = SchemaChange::Kind;

/// Calls on a blueprint that name no column.
constexpr std::string_view kNoColumns[] = {"engine", "charset", "collation", "comment", "temporary", "innoDb", "create", "after"};
constexpr std::string_view kIndexes[] = {"index", "unique", "primary", "fullText", "spatialIndex"};

bool is_index(std::string_view name) { return std::ranges::find(kIndexes, name) != std::end(kIndexes); }

class BlueprintReader {
 public:
  BlueprintReader(std::string table, const PhpNames& names, std::string_view source, std::vector<SchemaChange>& out)
      : table_(std::move(table)), names_(names), source_(source), out_(out) {}

  void read(Node closure) {
    std::string variable = "$table";
    if (const Node parameter = closure.field("parameters").child("simple_parameter")) variable = parameter.field("name").text(source_);
    Walk walk(closure.field("body"));
    while (const Node node = walk.next()) {
      const auto chain = php_chain(node, source_);
      if (!chain || chain->scope != variable) continue;
      walk.skip();
      read_chain(*chain);
    }
  }

 private:
  void read_chain(const PhpChain& chain) {
    const PhpCall& first = chain.calls.front();
    const auto arguments = php_arguments(first.node);
    line_ = first.node.first_line();
    if (read_group(first.name, arguments) || read_drop(first.name, arguments)) return;
    if (is_index(first.name)) {
      if (!arguments.empty()) add({.kind = Kind::kAddIndex, .value = index_text(first.name, php_strings(arguments[0], source_))});
      return;
    }
    if (first.name == "foreign") return read_foreign(chain, arguments);
    if (std::ranges::find(kNoColumns, first.name) != std::end(kNoColumns)) return;
    read_column(chain, arguments);
  }

  void add(SchemaChange change) {
    change.table = table_;
    change.line = line_;
    out_.push_back(std::move(change));
  }

  void add_column(std::string name, std::string type, bool nullable = false) {
    add({.kind = Kind::kAddColumn, .column = {.name = std::move(name), .type = std::move(type), .nullable = nullable}});
  }

  std::string first_string(const std::vector<Node>& arguments, std::string_view otherwise) const {
    const auto given = arguments.empty() ? std::nullopt : php_string(arguments[0], source_);
    return given.value_or(std::string(otherwise));
  }

  /// Calls that stand for several columns, or for one with a fixed name.
  bool read_group(std::string_view name, const std::vector<Node>& arguments) {
    if (name.starts_with("timestamps") || name == "nullableTimestamps") {
      add_column("created_at", "timestamp", true);
      add_column("updated_at", "timestamp", true);
    } else if (name.starts_with("softDeletes")) {
      add_column(first_string(arguments, "deleted_at"), "timestamp", true);
    } else if (name == "rememberToken") {
      add_column("remember_token", "string(100)", true);
    } else if (name.ends_with("orphs") && !name.starts_with("drop")) {
      const std::string base = first_string(arguments, "");
      const bool nullable = name.starts_with("nullable");
      const std::string key = to_lower_ascii(name).find("uuid") != std::string::npos   ? "uuid"
                              : to_lower_ascii(name).find("ulid") != std::string::npos ? "ulid"
                                                                                       : "unsignedBigInteger";
      add_column(base + "_type", "string", nullable);
      add_column(base + "_id", key, nullable);
      add({.kind = Kind::kAddIndex, .value = index_text("index", {base + "_type", base + "_id"})});
    } else if (name == "rename") {
      add({.kind = Kind::kRenameTable, .value = first_string(arguments, "")});
      table_ = first_string(arguments, table_);
    } else {
      return false;
    }
    return true;
  }

  bool read_drop(std::string_view name, const std::vector<Node>& arguments) {
    if (name == "renameColumn") {
      if (arguments.size() > 1) {
        add({.kind = Kind::kRenameColumn, .value = first_string(arguments, ""), .other = php_string(arguments[1], source_).value_or("")});
      }
      return true;
    }
    if (!name.starts_with("drop")) return false;
    std::vector<std::string> given;
    for (const Node argument : arguments) {
      for (std::string& text : php_strings(argument, source_)) given.push_back(std::move(text));
    }
    const bool is_list = !arguments.empty() && arguments[0].is("array_creation_expression");
    if (name == "dropColumn" || name == "removeColumn") {
      for (const std::string& column : given) add({.kind = Kind::kDropColumn, .value = column});
    } else if (name.starts_with("dropTimestamps")) {
      add({.kind = Kind::kDropColumn, .value = "created_at"});
      add({.kind = Kind::kDropColumn, .value = "updated_at"});
    } else if (name.starts_with("dropSoftDeletes")) {
      add({.kind = Kind::kDropColumn, .value = given.empty() ? "deleted_at" : given[0]});
    } else if (name == "dropRememberToken") {
      add({.kind = Kind::kDropColumn, .value = "remember_token"});
    } else if (name == "dropMorphs" && !given.empty()) {
      add({.kind = Kind::kDropColumn, .value = given[0] + "_type"});
      add({.kind = Kind::kDropColumn, .value = given[0] + "_id"});
    } else if (name == "dropConstrainedForeignId" && !given.empty()) {
      add({.kind = Kind::kDropForeignKey, .value = given[0]});
      add({.kind = Kind::kDropColumn, .value = given[0]});
    } else if (name == "dropForeign") {
      for (const std::string& key : given) add({.kind = Kind::kDropForeignKey, .value = key});
    } else if (!given.empty() && name.size() > 5) {
      std::string kind = ascii_lower(name[4]) + std::string(name.substr(5));
      add({.kind = Kind::kDropIndex, .value = is_list ? index_text(kind, given) : given[0]});
    }
    return true;
  }

  void read_foreign(const PhpChain& chain, const std::vector<Node>& arguments) {
    ForeignKey key{.column = first_string(arguments, "")};
    if (key.column.empty() && !arguments.empty()) key.column = join(php_strings(arguments[0], source_), ", ");
    read_key_calls(chain, key);
    if (!key.table.empty()) add({.kind = Kind::kAddForeignKey, .foreign_key = std::move(key)});
  }

  void read_key_calls(const PhpChain& chain, ForeignKey& key) const {
    for (const PhpCall& call : chain.calls) {
      const auto arguments = php_arguments(call.node);
      if (call.name == "references") key.references = first_string(arguments, "id");
      if (call.name == "on") key.table = first_string(arguments, "");
      if (call.name == "onDelete") key.on_delete = first_string(arguments, "");
      if (call.name == "cascadeOnDelete") key.on_delete = "cascade";
      if (call.name == "nullOnDelete") key.on_delete = "set null";
      if (call.name == "restrictOnDelete") key.on_delete = "restrict";
      if (call.name != "constrained") continue;
      std::string_view stem = key.column;
      if (stem.ends_with("_id")) stem.remove_suffix(3);
      key.table = first_string(arguments, plural(stem));
    }
  }

  std::string type_text(const PhpCall& call, const std::vector<Node>& arguments) const {
    std::string out = call.name;
    std::vector<std::string> sizes;
    for (std::size_t i = 1; i < arguments.size() && i < 4; ++i) {
      if (arguments[i].is("integer")) sizes.emplace_back(arguments[i].text(source_));
      if (arguments[i].is("array_creation_expression")) sizes = php_strings(arguments[i], source_);
    }
    if (!sizes.empty()) out += "(" + join(sizes, ", ") + ")";
    return out;
  }

  void read_column(const PhpChain& chain, const std::vector<Node>& arguments) {
    const PhpCall& first = chain.calls.front();
    Column column{.name = first_string(arguments, first.name == "id" ? "id" : ""), .type = type_text(first, arguments)};
    if (first.name == "foreignIdFor" && !arguments.empty()) {
      const auto model = php_class_constant(arguments[0], source_, names_);
      if (arguments.size() > 1) column.name = php_string(arguments[1], source_).value_or("");
      if (column.name.empty() && model) column.name = snake_case(last_name(*model)) + "_id";
      column.type = "foreignId";
    }
    if (column.name.empty()) return;
    bool changes = false;
    for (const PhpCall& call : chain.calls) {
      const auto given = php_arguments(call.node);
      if (call.name == "nullable") column.nullable = given.empty() || given[0].text(source_) != "false";
      if (call.name == "default" && !given.empty()) column.default_value = fold_spaces(given[0].text(source_)).substr(0, kSymbolBytesMax);
      if (call.name == "useCurrent") column.default_value = "current_timestamp";
      if (call.name == "unsigned") column.type += " unsigned";
      if (call.name == "change") changes = true;
    }
    const std::string name = column.name;
    add({.kind = changes ? Kind::kChangeColumn : Kind::kAddColumn, .column = std::move(column)});
    for (const PhpCall& call : chain.calls) {
      if (&call != &chain.calls.front() && is_index(call.name)) add({.kind = Kind::kAddIndex, .value = index_text(call.name, {name})});
    }
    ForeignKey key{.column = name};
    read_key_calls(chain, key);
    if (!key.table.empty()) add({.kind = Kind::kAddForeignKey, .foreign_key = std::move(key)});
  }

  std::string table_;
  const PhpNames& names_;
  const std::string_view source_;
  std::vector<SchemaChange>& out_;
  int line_ = 1;
};

class MigrationReader {
 public:
  MigrationReader(std::string_view path, const PhpFile& file, CodeFile& out) : path_(path), file_(file), out_(out), source_(out.text) {}

  void read(Node up) {
    Walk walk(up);
    while (const Node node = walk.next()) {
      const auto chain = php_chain(node, source_);
      if (!chain || chain->scope != "Schema") continue;
      walk.skip();
      read_call(node, chain->calls.back());
    }
  }

  bool found() const { return found_; }

 private:
  void read_call(Node node, const PhpCall& call) {
    const auto arguments = php_arguments(call.node);
    const auto table = arguments.empty() ? std::nullopt : php_string(arguments[0], source_);
    if (!table) return;
    const std::size_t before = out_.schema.size();
    std::string operation;
    if (call.name == "create" || call.name == "table") {
      operation = call.name == "create" ? "creates" : "alters";
      add({.kind = call.name == "create" ? Kind::kCreateTable : Kind::kAlterTable, .table = *table, .line = node.first_line()});
      if (arguments.size() > 1) BlueprintReader(*table, file_.names, source_, out_.schema).read(arguments[1]);
    } else if (call.name == "rename" && arguments.size() > 1) {
      operation = "renames";
      add({.kind = Kind::kRenameTable,
           .table = *table,
           .value = php_string(arguments[1], source_).value_or(""),
           .line = node.first_line()});
    } else if (call.name == "drop" || call.name == "dropIfExists") {
      operation = "drops";
      add({.kind = Kind::kDropTable, .table = *table, .line = node.first_line()});
    } else if (call.name == "dropColumns" && arguments.size() > 1) {
      operation = "alters";
      add({.kind = Kind::kAlterTable, .table = *table, .line = node.first_line()});
      for (const std::string& column : php_strings(arguments[1], source_)) {
        add({.kind = Kind::kDropColumn, .table = *table, .value = column, .line = node.first_line()});
      }
    } else {
      return;
    }
    add_unit(node, *table, operation, before);
  }

  void add(SchemaChange change) { out_.schema.push_back(std::move(change)); }

  void add_unit(Node node, const std::string& table, const std::string& operation, std::size_t before) {
    found_ = true;
    const std::string symbol = migration_symbol(path_, table);
    const auto known = std::ranges::find(out_.units, symbol, &Unit::symbol);
    if (known != out_.units.end()) {
      // A second call for the same table belongs to its chunk.
      known->range.end = node.end();
      known->last_line = node.last_line();
      add_facts(*known, before);
      return;
    }
    Unit unit{.type = SourceType::kMigration, .symbol = symbol, .header = "migration " + symbol + ": " + operation + " table " + table};
    unit.range = {node.begin(), node.end()};
    unit.first_line = node.first_line();
    unit.last_line = node.last_line();
    unit.facts["operation"] = {operation};
    unit.facts["affected_tables"] = {table};
    if (operation == "renames") unit.facts["affected_tables"].push_back(out_.schema[before].value);
    if (operation == "drops") unit.references.push_back({RefKind::kDrops, table});
    add_facts(unit, before);
    out_.units.push_back(std::move(unit));
  }

  void add_facts(Unit& unit, std::size_t before) const {
    for (std::size_t i = before; i < out_.schema.size(); ++i) {
      const SchemaChange& change = out_.schema[i];
      if (!change.column.name.empty()) unit.facts["columns"].push_back(change.column.name + " " + change.column.type);
      if (change.kind == Kind::kDropColumn) unit.facts["dropped_columns"].push_back(change.value);
      if (change.kind == Kind::kAddIndex) unit.facts["indexes"].push_back(change.value);
      if (change.kind == Kind::kAddForeignKey) {
        unit.facts["foreign_keys"].push_back(change.foreign_key.column + " -> " + change.foreign_key.table + "." +
                                             change.foreign_key.references);
      }
    }
  }

  const std::string_view path_;
  const PhpFile& file_;
  CodeFile& out_;
  const std::string_view source_;
  bool found_ = false;
};

}  // namespace

void add_migration_units(std::string_view path, const PhpFile& file, const PhpClass& migration, CodeFile& out) {
  MigrationReader reader(path, file, out);
  for (const PhpMethod& method : migration.methods) {
    if (method.name == "up") reader.read(method.node);
  }
  if (reader.found()) return;
  Unit unit{.type = SourceType::kMigration};
  unit.symbol = std::string(trim(migration_symbol(path, "")));
  unit.header = "migration " + unit.symbol;
  unit.range = migration.range;
  unit.first_line = migration.first_line;
  unit.last_line = migration.last_line;
  out.units.push_back(std::move(unit));
}

}  // namespace footnote::code
