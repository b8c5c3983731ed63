#include "engine/sql/statement.h"

#include <sqlite3.h>

#include "engine/sql/database.h"

namespace footnote::sql {

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), handle_(std::exchange(other.handle_, nullptr)), sql_(other.sql_), bind_code_(other.bind_code_) {}

Statement::~Statement() {
  if (handle_ != nullptr) database_->keep(sql_, handle_);
}

void Statement::start(std::size_t count) {
  sqlite3_reset(handle_);
  bind_code_ = static_cast<int>(count) == sqlite3_bind_parameter_count(handle_) ? SQLITE_OK : SQLITE_RANGE;
}

void Statement::note(int code) {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
}

void Statement::bind_integer(int index, std::int64_t value) { note(sqlite3_bind_int64(handle_, index, value)); }

void Statement::bind_real(int index, double value) { note(sqlite3_bind_double(handle_, index, value)); }

void Statement::bind_text(int index, std::string_view value) {
  // An empty view may have a null pointer, which SQLite would bind as NULL.
  const char* bytes = value.empty() ? "" : value.data();
  note(sqlite3_bind_text64(handle_, index, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_blob(int index, std::span<const std::byte> value) {
  const void* bytes = value.empty() ? static_cast<const void*>("") : value.data();
  note(sqlite3_bind_blob64(handle_, index, bytes, value.size(), SQLITE_TRANSIENT));
}

void Statement::bind_null(int index) { note(sqlite3_bind_null(handle_, index)); }

Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) return database_->failure(bind_code_);
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto error = database_->failure(code);
  sqlite3_reset(handle_);
  return error;
}

Result<void> Statement::run() {
  for (;;) {
    FOOTNOTE_TRY(const bool more, step());
    if (!more) break;
  }
  sqlite3_reset(handle_);
  return {};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

std::string_view Statement::text(int column) const {
  // Get the pointer first: this may convert the value and so change its length.
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(handle_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

}  // namespace footnote::sql
