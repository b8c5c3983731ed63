#include "code/schema_change.h"

#include <algorithm>

#include "base/text.h"

namespace footnote::code {
namespace {

using Kind = SchemaChange::Kind;
using Tables = std::map<std::string, Table>;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Laravel's own name of an index: "invoices_number_unique".
std::string conventional_name(std::string_view table, std::string_view index) {
  const std::size_t open = index.find('(');
  if (open == std::string_view::npos) return std::string(index);
  std::string out(table);
  for (const std::string_view column : split(index.substr(open + 1, index.size() - open - 2), ',')) {
    out += '_';
    out += trim(column);
  }
  return out + "_" + std::string(index.substr(0, open));
}

bool same_index(std::string_view table, std::string_view index, std::string_view dropped) {
  return index == dropped || conventional_name(table, index) == dropped;
}

/// "invoices_customer_id_foreign" names the same key as its column.
bool same_key(std::string_view table, const ForeignKey& key, std::string_view dropped) {
  return key.column == dropped || std::string(table) + "_" + key.column + "_foreign" == dropped;
}

void set_column(Table& table, const Column& column) {
  const auto found = std::ranges::find(table.columns, column.name, &Column::name);
  if (found == table.columns.end()) {
    table.columns.push_back(column);
  } else {
    *found = column;
  }
}

/// An index or key of a column that is gone is gone too.
void drop_column(Table& table, std::string_view name) {
  std::erase_if(table.columns, [&](const Column& column) { return column.name == name; });
  std::erase_if(table.foreign_keys, [&](const ForeignKey& key) { return key.column == name; });
  std::erase_if(table.indexes, [&](const std::string& index) { return index.ends_with("(" + std::string(name) + ")"); });
}

void rename_column(Table& table, const std::string& from, const std::string& to) {
  for (Column& column : table.columns) {
    if (column.name == from) column.name = to;
  }
  for (ForeignKey& key : table.foreign_keys) {
    if (key.column == from) key.column = to;
  }
  for (std::string& index : table.indexes) {
    const std::size_t open = index.find('(');
    if (open == std::string::npos) continue;
    std::vector<std::string> columns;
    for (const std::string_view column : split(std::string_view(index).substr(open + 1, index.size() - open - 2), ',')) {
      columns.emplace_back(trim(column) == from ? std::string_view(to) : trim(column));
    }
    index = index_text(std::string_view(index).substr(0, open), columns);
  }
}

void rename_table(Tables& tables, const std::string& from, const std::string& to) {
  auto node = tables.extract(from);
  if (node.empty()) return;
  node.key() = to;
  node.mapped().name = to;
  tables.erase(to);
  tables.insert(std::move(node));
  for (auto& [name, table] : tables) {
    for (ForeignKey& key : table.foreign_keys) {
      if (key.table == from) key.table = to;
    }
  }
}

void change_table(Table& table, const SchemaChange& change) {
  switch (change.kind) {
    case Kind::kAddColumn:
    case Kind::kChangeColumn: return set_column(table, change.column);
    case Kind::kDropColumn: return drop_column(table, change.value);
    case Kind::kRenameColumn: return rename_column(table, change.value, change.other);
    case Kind::kAddIndex:
      if (std::ranges::find(table.indexes, change.value) == table.indexes.end()) table.indexes.push_back(change.value);
      return;
    case Kind::kDropIndex:
      std::erase_if(table.indexes, [&](const std::string& index) { return same_index(table.name, index, change.value); });
      return;
    case Kind::kAddForeignKey:
      std::erase_if(table.foreign_keys, [&](const ForeignKey& key) { return key.column == change.foreign_key.column; });
      table.foreign_keys.push_back(change.foreign_key);
      return;
    case Kind::kDropForeignKey:
      std::erase_if(table.foreign_keys, [&](const ForeignKey& key) { return same_key(table.name, key, change.value); });
      return;
    case Kind::kCreateTable:
    case Kind::kAlterTable:
    case Kind::kRenameTable:
    case Kind::kDropTable: return;
  }
}

void apply_change(Tables& tables, const std::string& path, const SchemaChange& change) {
  if (change.kind == Kind::kDropTable) {
    tables.erase(change.table);
    return;
  }
  std::string name = change.table;
  if (change.kind == Kind::kRenameTable) {
    rename_table(tables, change.table, change.value);
    name = change.value;
  } else if (change.kind == Kind::kCreateTable) {
    tables.erase(name);
  }
  auto [at, is_new] = tables.try_emplace(name, Table{.name = name, .line = change.line});
  Table& table = at->second;
  TableStep step{path, change.kind == Kind::kRenameTable ? change.table : name, change.kind == Kind::kCreateTable};
  const auto same = [&](const TableStep& other) { return other.path == path && (other.table == step.table || other.table == name); };
  if (std::ranges::none_of(table.steps, same)) table.steps.push_back(std::move(step));
  change_table(table, change);
}

}  // namespace

std::string index_text(std::string_view kind, const std::vector<std::string>& columns) {
  return std::string(kind) + "(" + join(columns, ", ") + ")";
}

std::string migration_symbol(std::string_view path, std::string_view table) {
  std::string_view stem = file_name(path);
  return std::string(stem.substr(0, stem.rfind('.'))) + " " + std::string(table);
}

std::map<std::string, Table> apply_migrations(std::span<const Migration> migrations) {
  std::vector<const Migration*> order;
  for (const Migration& migration : migrations) order.push_back(&migration);
  std::ranges::sort(order, {},
                    [](const Migration* migration) { return std::pair(file_name(migration->path), std::string_view(migration->path)); });
  Tables tables;
  for (const Migration* migration : order) {
    for (const SchemaChange& change : migration->changes) apply_change(tables, migration->path, change);
  }
  return tables;
}

Unit table_unit(const Table& table) {
  Unit out{
      .type = SourceType::kTable, .symbol = table.name, .header = "table " + table.name, .first_line = table.line, .last_line = table.line};
  for (const Column& column : table.columns) {
    out.own_text += column.name + " " + column.type;
    if (column.nullable) out.own_text += " nullable";
    if (!column.default_value.empty()) out.own_text += " default " + column.default_value;
    out.own_text += '\n';
    out.facts["columns"].push_back(column.name + " " + column.type);
  }
  for (const std::string& index : table.indexes) {
    out.own_text += index + '\n';
    out.facts["indexes"].push_back(index);
  }
  for (const ForeignKey& key : table.foreign_keys) {
    std::string text = key.column + " -> " + key.table + "." + key.references;
    if (!key.on_delete.empty()) text += " on delete " + key.on_delete;
    out.own_text += "foreign key " + text + '\n';
    out.facts["foreign_keys"].push_back(text);
    out.references.push_back({RefKind::kForeignKey, key.table});
  }
  for (const TableStep& step : table.steps) {
    out.facts["migrations"].push_back(step.path);
    out.references.push_back({step.creates ? RefKind::kCreates : RefKind::kAlters, table.name, migration_symbol(step.path, step.table)});
  }
  if (!out.own_text.empty()) out.own_text.pop_back();
  return out;
}

}  // namespace footnote::code
