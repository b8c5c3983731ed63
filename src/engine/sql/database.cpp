#include "engine/sql/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <thread>

#include "base/contained.h"
#include "base/fault_point.h"
#include "base/file.h"
#include "engine/sql/checked_vfs.h"
#include "engine/sql/error.h"

namespace footnote::sql {

namespace {

/// SQLite VM steps between two checks of the call: some tens of microseconds.
constexpr int kStepsBetweenLooks = 2000;
/// Maximum attempts to roll back when memory is exhausted; each attempt frees some memory for the next.
constexpr int kRollbackTriesMax = 100;
/// Wait between two attempts of a checkpoint that readers block.
constexpr std::chrono::milliseconds kCheckpointPause{1};
/// Pages copied between two checks of the call.
constexpr int kCopyStepPages = 128;

/// Makes the file private to this user, whatever the umask. SQLite gives the WAL and its index the same mode.
void make_private(const std::filesystem::path& file) {
  // Only a new file is opened here: closing a descriptor of a file in use would drop this process's locks on it.
  const Descriptor created(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) keep_private(file.string() + suffix);
}

}  // namespace

Database::Database(std::filesystem::path file, const OpenOptions& options) : file_(std::move(file)), busy_timeout_(options.busy_timeout) {}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file, const OpenOptions& options) {
  std::unique_ptr<Database> database(new Database(file, options));  // Private constructor.
  if (options.access == Access::kReadWrite) make_private(file);
  // NOMUTEX: the pool guarantees one user at a time.
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (options.access == Access::kReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  const int code = sqlite3_open_v2(file.c_str(), &database->handle_, flags, checked_vfs(options.vfs));
  if (code != SQLITE_OK) return database->failure(code);
  FOOTNOTE_CHECK(database->configure(options));
  if (options.on_statement != nullptr) {
    const auto observe = [](unsigned, void* observer, void*, void* sql) {
      (*static_cast<const StatementObserver*>(observer))(static_cast<const char*>(sql));
      return 0;
    };
    void* observer = const_cast<StatementObserver*>(options.on_statement);
    FOOTNOTE_CHECK(database->status_of(sqlite3_trace_v2(database->handle_, SQLITE_TRACE_STMT, observe, observer)));
  }
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : kept_) sqlite3_finalize(statement);
  // After a failed fsync SQLite's checkpoint at close would keep writing to a disk that lost writes: leave the WAL as it is.
  if (sync_failed_) sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_close_v2(handle_);
}

Result<void> Database::configure(const OpenOptions& options) {
  sqlite3_busy_timeout(handle_, static_cast<int>(busy_timeout_.count()));
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, kValueBytesMax);
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
  // A damaged or hostile file must not affect anything but its own rows.
  FOOTNOTE_CHECK(status_of(sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr)));
  FOOTNOTE_CHECK(status_of(sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr)));
  FOOTNOTE_CHECK(execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY"));
  FOOTNOTE_CHECK(set_pragma("cache_size", -options.cache_kib));
  if (options.access == Access::kReadWrite) {
    FOOTNOTE_CHECK(configure_writing(options));
  } else {
    FOOTNOTE_CHECK(status_of(sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr)));
    FOOTNOTE_CHECK(execute("PRAGMA query_only = ON"));
  }
  // Our hook replaces the automatic checkpoint: it only records the size of the WAL.
  FOOTNOTE_CHECK(execute("PRAGMA wal_autocheckpoint = 0"));
  sqlite3_wal_hook(
      handle_,
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Database*>(self)->wal_pages_ = static_cast<std::uint64_t>(pages);
        return SQLITE_OK;
      },
      this);
  FOOTNOTE_TRY(const std::int64_t page_bytes, integer_of("PRAGMA page_size"));
  page_bytes_ = static_cast<std::uint64_t>(page_bytes);
  if (options.bytes_max > 0) {
    FOOTNOTE_CHECK(set_pragma("max_page_count", static_cast<std::int64_t>(options.bytes_max / page_bytes_)));
  }
  return {};
}

Result<void> Database::configure_writing(const OpenOptions& options) {
  FOOTNOTE_CHECK(set_pragma("page_size", options.page_bytes));
  int reserved = kPageSumBytes;
  FOOTNOTE_CHECK(status_of(sqlite3_file_control(handle_, nullptr, SQLITE_FCNTL_RESERVE_BYTES, &reserved)));
  {
    // Where WAL is not possible (some network file systems) SQLite keeps the old mode without an error.
    FOOTNOTE_TRY(auto mode, prepare("PRAGMA journal_mode = WAL"));
    FOOTNOTE_CHECK(mode.step());
    if (mode.text(0) != "wal") {
      return fail(ErrorCode::kUnsupported, "database {}: its file system can't share memory between connections; use a local disk",
                  file_.string());
    }
  }
  FOOTNOTE_CHECK(execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  return set_pragma("journal_size_limit", static_cast<std::int64_t>(options.log_bytes_kept));
}

/// SQLite binds no parameters in a pragma; the values are our own numbers, never a caller's text.
Result<void> Database::set_pragma(std::string_view name, std::int64_t value) {
  const std::string text = fmt::format("PRAGMA {} = {}", name, value);
  return status_of(sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr));
}

Result<Statement> Database::prepare(SqlText sql) {
  if (auto kept = kept_.extract(sql.view())) return Statement(*this, kept.mapped(), sql.view());
  sqlite3_stmt* handle = nullptr;
  // With the NUL byte, so that SQLite need not copy the text.
  const int code =
      sqlite3_prepare_v3(handle_, sql.view().data(), static_cast<int>(sql.view().size() + 1), SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Statement(*this, handle, sql.view());
}

void Database::keep(std::string_view sql, sqlite3_stmt* handle) noexcept {
  sqlite3_reset(handle);
  sqlite3_clear_bindings(handle);
  // Called by a destructor: if there is no memory to cache the statement, it is destroyed.
  bool is_kept = false;
  (void)contained("sql", "keeping a statement", [&] { is_kept = kept_.size() < kStatementsKeptMax && kept_.emplace(sql, handle).second; });
  if (!is_kept) sqlite3_finalize(handle);
}

void Database::abandon_transaction() noexcept {
  (void)contained("sql", "rolling back", [this] {
    if (!in_transaction()) return;
    if (auto rollback = prepare("ROLLBACK")) (void)rollback->run();
  });
  // If memory is exhausted, the rollback itself may fail. A transaction left open would block every writer, or show the next reader an old
  // state.
  for (int tries = 0; in_transaction() && tries < kRollbackTriesMax; ++tries) {
    (void)sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

Result<void> Database::execute(SqlText script) {
  const std::string text(script.view());
  return status_of(sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr));
}

void Database::watch(const CallContext* call) {
  watched_ = call;
  if (call == nullptr) {
    sqlite3_progress_handler(handle_, 0, nullptr, nullptr);
    return;
  }
  const auto over = [](void* self) { return static_cast<Database*>(self)->watched_->check() ? 0 : 1; };
  sqlite3_progress_handler(handle_, kStepsBetweenLooks, over, this);
}

Result<std::int64_t> Database::integer_of(SqlText sql) {
  FOOTNOTE_TRY(auto statement, prepare(sql));
  FOOTNOTE_CHECK(statement.step());
  return statement.integer(0);
}

Result<std::int32_t> Database::application_id() {
  FOOTNOTE_TRY(const std::int64_t id, integer_of("PRAGMA application_id"));
  return static_cast<std::int32_t>(id);
}

Result<void> Database::set_application_id(std::int32_t id) { return set_pragma("application_id", id); }

Result<std::int32_t> Database::schema_number() {
  FOOTNOTE_TRY(const std::int64_t number, integer_of("PRAGMA user_version"));
  return static_cast<std::int32_t>(number);
}

Result<void> Database::set_schema_number(std::int32_t number) { return set_pragma("user_version", number); }

bool Database::has_page_sums() {
  sqlite3_file* file = nullptr;
  return sqlite3_file_control(handle_, nullptr, SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file)) == SQLITE_OK &&
         sql::has_page_sums(file);
}

Result<void> Database::add_page_sums() {
  // configure_writing() reserved the bytes at the end of each page; rewriting the file applies that. VACUUM attaches the new file while it
  // runs.
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 1);
  auto written = execute("VACUUM");
  sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
  FOOTNOTE_CHECK(std::move(written));
  FOOTNOTE_CHECK(checkpoint(Checkpoint::kTruncate, busy_timeout_));
  return {};
}

Result<void> Database::copy_to(const CallContext& call, const std::filesystem::path& file, OpenOptions options) {
  // The first read determines the state that the transaction sees; all steps below copy that state.
  FOOTNOTE_CHECK(integer_of("SELECT count(*) FROM sqlite_schema"));
  options.page_bytes = static_cast<int>(page_bytes_);
  FOOTNOTE_TRY(const auto target, open(file, options));
  sqlite3_backup* backup = sqlite3_backup_init(target->handle_, "main", handle_, "main");
  if (backup == nullptr) return target->failure(sqlite3_errcode(target->handle_));
  int code = SQLITE_OK;
  Result<void> checked;
  while (code == SQLITE_OK && checked) {
    code = sqlite3_backup_step(backup, kCopyStepPages);
    fault_point(FaultPoint::kStoreCopyStep);
    checked = call.check();
  }
  const int finished = sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE && code != SQLITE_OK) return target->failure(finished == SQLITE_OK ? code : finished);
  if (code == SQLITE_OK) return checked;
  FOOTNOTE_TRY(const bool whole, target->checkpoint(Checkpoint::kTruncate, busy_timeout_));
  return whole ? Result<void>() : fail(ErrorCode::kUnavailable, "database {}: another connection is reading it", file.string());
}

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(handle_); }

std::int64_t Database::changed_rows() const { return sqlite3_changes64(handle_); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Result<bool> Database::checkpoint(Checkpoint mode, std::chrono::milliseconds patience) {
  const int sqlite_mode = mode == Checkpoint::kPassive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE;
  const auto give_up = std::chrono::steady_clock::now() + patience;
  // SQLite's busy timeout does not help here: it waits for a free reader slot, and overlapping readers keep handing a slot to each other.
  // Retry until every reader has left the WAL.
  sqlite3_busy_timeout(handle_, 0);
  int code = SQLITE_OK;
  int logged = 0;
  int moved = 0;
  for (;;) {
    code = sqlite3_wal_checkpoint_v2(handle_, nullptr, sqlite_mode, &logged, &moved);
    if (code != SQLITE_BUSY || std::chrono::steady_clock::now() >= give_up) break;
    std::this_thread::sleep_for(kCheckpointPause);
  }
  fault_point(FaultPoint::kCheckpointAfter);
  auto outcome = code == SQLITE_BUSY ? Result<void>{} : status_of(code);
  sqlite3_busy_timeout(handle_, static_cast<int>(busy_timeout_.count()));
  FOOTNOTE_CHECK(std::move(outcome));
  if (code == SQLITE_OK && mode == Checkpoint::kTruncate) wal_pages_ = 0;
  return code == SQLITE_OK && moved == logged;
}

std::unexpected<Error> Database::failure(int code) {
  // The connection knows more (extended code, message) as long as this failure was its last operation.
  const int last = handle_ == nullptr ? code : sqlite3_extended_errcode(handle_);
  const bool is_last = (last & 0xFF) == (code & 0xFF);
  const int extended = is_last ? last : code;
  if (is_sync_failure(extended)) sync_failed_ = true;
  if ((extended & 0xFF) == SQLITE_INTERRUPT && watched_ != nullptr) {
    if (auto over = watched_->check(); !over) return std::unexpected(std::move(over).error());
  }
  const char* detail = handle_ != nullptr && is_last ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  return std::unexpected(make_error(extended, detail, file_));
}

Result<void> Database::status_of(int code) {
  if (code == SQLITE_OK) return {};
  return failure(code);
}

}  // namespace footnote::sql
