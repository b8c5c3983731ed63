#include "engine/sql/writer.h"

#include <algorithm>

#include "base/log.h"
#include "engine/sql/log_check.h"

namespace footnote::sql {

namespace {

/// How long the writer blocks others while it waits for readers that keep the WAL from shrinking.
constexpr std::chrono::milliseconds kTruncatePatience{100};
constexpr std::chrono::milliseconds kClosePatience{2000};

void warn(std::string_view message, const Error& error) { log(LogLevel::kWarn, "sql", message, {{"error", error.message}}); }

}  // namespace

Result<std::unique_ptr<Writer>> Writer::open(const std::filesystem::path& file, OpenOptions options, std::uint64_t wal_bytes_max) {
  options.access = Access::kReadWrite;
  options.log_bytes_kept = wal_bytes_max;
  FOOTNOTE_CHECK(check_log(file));
  FOOTNOTE_TRY(auto connection, Database::open(file, options));
  std::vector<std::unique_ptr<Database>> connections;
  connections.push_back(std::move(connection));
  std::unique_ptr<Writer> writer(new Writer(std::move(connections), wal_bytes_max));  // Private constructor.
  writer->next_truncate_bytes_ = wal_bytes_max * kWalPatienceFactor;
  return writer;
}

Writer::~Writer() {
  const auto connection = pool_.acquire(CallContext{});
  if (!connection) return;
  // After a failed fsync, leave the files as they are: the WAL holds every acknowledged commit.
  if (healthy()) {
    if (auto done = (*connection)->checkpoint(Database::Checkpoint::kTruncate, kClosePatience); !done) {
      warn("the log was not emptied at close; the next start reads it", done.error());
    }
  }
  pool_.release(**connection);
}

Result<WriteLease> Writer::acquire(const CallContext& call) {
  FOOTNOTE_TRY(Database* const database, pool_.acquire(call));
  if (!healthy()) {
    pool_.release(*database);
    return with_public_message(
        fail(ErrorCode::kUnavailable,
             "database {}: the disk failed to make a write durable, so nothing more is written; what was acknowledged "
             "before is kept. Check the disk, then start again",
             database->file().string()),
        "the disk failed to make a write durable, so nothing more is written; acknowledged changes are kept");
  }
  database->watch(&call);
  return WriteLease(*this, *database);
}

WriteLease::~WriteLease() {
  if (database_ != nullptr) writer_->give_back(*database_);
}

void Writer::give_back(Database& database) {
  database.watch(nullptr);
  bound_log(database);
  if (database.sync_failed()) failed_ = true;
  pool_.release(database);
}

void Writer::bound_log(Database& database) {
  if (database.sync_failed() || database.wal_bytes() <= wal_bytes_max_) return;
  // A passive checkpoint waits for no one, but the WAL restarts only when no reader uses it. Overlapping readers would let it grow forever,
  // so beyond a multiple of the bound the writer waits for them. It tries again only after another `wal_bytes_max_`: a stuck reader must
  // not delay every write.
  const bool insist = database.wal_bytes() >= next_truncate_bytes_;
  const auto done = insist ? database.checkpoint(Database::Checkpoint::kTruncate, kTruncatePatience)
                           : database.checkpoint(Database::Checkpoint::kPassive, {});
  if (!done) return warn("the write-ahead log could not be checkpointed; it keeps growing", done.error());
  if (insist) next_truncate_bytes_ = std::max(kWalPatienceFactor * wal_bytes_max_, database.wal_bytes() + wal_bytes_max_);
}

}  // namespace footnote::sql
