#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "code/unit.h"

namespace footnote::code {

struct Column {
  std::string name;
  std::string type;  ///< "string(255)", "bigint unsigned" as the migration names it.
  bool nullable = false;
  std::string default_value;  ///< As written; empty: none.
};

struct ForeignKey {
  std::string column;
  std::string table;
  std::string references = "id";
  std::string on_delete;
};

/// One step of a migration's up().
struct SchemaChange {
  enum class Kind {
    kCreateTable,
    kAlterTable,   ///< Names a table whose columns the next steps change.
    kRenameTable,  ///< to `value`.
    kDropTable,
    kAddColumn,
    kChangeColumn,
    kDropColumn,    ///< `value`.
    kRenameColumn,  ///< `value` to `other`.
    kAddIndex,      ///< `value`: "unique(email)".
    kDropIndex,     ///< `value`: the name, or "unique(email)".
    kAddForeignKey,
    kDropForeignKey,  ///< `value`: the column.
  };
  Kind kind = Kind::kAlterTable;
  std::string table;
  std::string value = {};
  std::string other = {};
  Column column = {};
  ForeignKey foreign_key = {};
  int line = 1;
};

/// A migration that changed a table: its path, the table's name then, and whether it created it.
struct TableStep {
  std::string path;
  std::string table;
  bool creates = false;

  bool operator==(const TableStep&) const = default;
};

/// A table after all migrations.
struct Table {
  std::string name;
  std::vector<Column> columns;
  std::vector<std::string> indexes;
  std::vector<ForeignKey> foreign_keys;
  std::vector<TableStep> steps;  ///< In order.
  int line = 1;                  ///< Where the first of them names it.
};

/// A migration's path and what it does.
struct Migration {
  std::string path;
  std::vector<SchemaChange> changes;
};

/// The tables after all migrations, which run in the order of their file names. A dropped table is gone; a change of a table that no
/// migration created starts it.
std::map<std::string, Table> apply_migrations(std::span<const Migration> migrations);

/// The symbol of a migration's unit for one table: "2024_01_01_000000_create_invoices_table invoices".
std::string migration_symbol(std::string_view path, std::string_view table);

/// The unit of a table: its text is the schema in plain lines, its lines are those of its first migration.
Unit table_unit(const Table& table);

/// For a text: "index(a, b)".
std::string index_text(std::string_view kind, const std::vector<std::string>& columns);

}  // namespace footnote::code
