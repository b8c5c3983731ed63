#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/sql/sql_text.h"

struct sqlite3_stmt;

namespace footnote::sql {

class Database;

/// A prepared statement, borrowed from its Database, which caches it for the next caller. Parameters are bound by position and columns read
/// by index, both typed:
///   FOOTNOTE_TRY(auto find, database.prepare("SELECT id FROM corpora WHERE workspace_id = ? AND name = ?"));
///   find.bind(workspace, name);
///   FOOTNOTE_TRY(const bool found, find.step());
///   if (found) use(find.integer(0));
/// Not thread-safe, like its Database. Must not outlive it.
class Statement {
 public:
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;

  /// Binds all parameters, in order, and resets the statement. Accepts integers, doubles, texts (std::string_view), blobs (std::span<const
  /// std::byte>), nullptr, and optionals of these. Values are copied. The next step() reports a failure (wrong count, out of memory).
  template <class... Values>
  void bind(const Values&... values) {
    start(sizeof...(values));
    int index = 0;
    (bind_one(++index, values), ...);
  }

  /// True: a row can be read. False: done.
  Result<bool> step();
  /// Runs a statement to its end and ignores its rows.
  Result<void> run();
  /// Calls `row(*this)`, which returns Result<void>, for each row until one fails.
  template <class Row>
  Result<void> each(Row&& row) {
    for (;;) {
      FOOTNOTE_TRY(const bool more, step());
      if (!more) return {};
      FOOTNOTE_CHECK(row(*this));
    }
  }
  /// Reads all rows. `read(*this)` returns a T or a Result<T> for each row; the first error ends it.
  template <class T, class Read>
  Result<std::vector<T>> collect(Read&& read) {
    std::vector<T> out;
    FOOTNOTE_CHECK(each([&](const Statement& row) -> Result<void> {
      if constexpr (std::is_same_v<decltype(read(row)), Result<T>>) {
        FOOTNOTE_TRY(T value, read(row));
        out.push_back(std::move(value));
      } else {
        out.push_back(read(row));
      }
      return {};
    }));
    return out;
  }

  /// Columns of the current row, counted from 0. NULL reads as 0 or empty. Views are valid until the next step, bind or the statement's
  /// end.
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;
  std::span<const std::byte> blob(int column) const;
  bool is_null(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* handle, std::string_view sql) : database_(&database), handle_(handle), sql_(sql) {}

  void start(std::size_t count);
  void bind_integer(int index, std::int64_t value);
  void bind_real(int index, double value);
  void bind_text(int index, std::string_view value);
  void bind_blob(int index, std::span<const std::byte> value);
  void bind_null(int index);
  void note(int code);

  void bind_one(int index, std::integral auto value) { bind_integer(index, static_cast<std::int64_t>(value)); }
  void bind_one(int index, std::floating_point auto value) { bind_real(index, static_cast<double>(value)); }
  void bind_one(int index, const std::convertible_to<std::string_view> auto& value) { bind_text(index, value); }
  void bind_one(int index, std::span<const std::byte> value) { bind_blob(index, value); }
  void bind_one(int index, std::nullptr_t) { bind_null(index); }
  template <class T>
  void bind_one(int index, const std::optional<T>& value) {
    if (value) {
      bind_one(index, *value);
    } else {
      bind_null(index);
    }
  }

  Database* database_;
  sqlite3_stmt* handle_;
  std::string_view sql_;
  int bind_code_ = 0;
};

}  // namespace footnote::sql
