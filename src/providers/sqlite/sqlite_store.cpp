#include "providers/sqlite/sqlite_store.h"

#include "base/file.h"
#include "domain/catalog.h"
#include "providers/sqlite/migrations.h"
#include "providers/sqlite/webhook_rows.h"

namespace footnote {

namespace {

constexpr int kWriterCacheKib = 16 << 10;
constexpr int kReaderCacheKib = 8 << 10;

Result<void> seed(sql::Database& database, const Clock& clock) {
  FOOTNOTE_TRY(auto insert, database.prepare("INSERT INTO workspaces (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING"));
  insert.bind(kDefaultWorkspace, clock.now().time_since_epoch().count());
  return insert.run();
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::filesystem::path& folder, const SqliteStoreOptions& options,
                                                       const Clock& clock) {
  const std::filesystem::path file = folder / kStoreFile;
  sql::OpenOptions open{.busy_timeout = options.busy_timeout,
                        .cache_kib = kWriterCacheKib,
                        .bytes_max = options.bytes_max,
                        .vfs = options.vfs,
                        .on_statement = options.on_statement};
  FOOTNOTE_TRY(auto writer, sql::Writer::open(file, open, options.wal_bytes_max));
  {
    const CallContext unbounded;
    FOOTNOTE_TRY(auto lease, writer->acquire(unbounded));
    FOOTNOTE_CHECK(migrate(lease.database()));
    FOOTNOTE_CHECK(seed(lease.database(), clock));
    FOOTNOTE_CHECK(seal_webhook_secrets(lease.database(), folder / kSecretKeyFile));
  }
  // A newly created file is durable only after its directory entry is.
  FOOTNOTE_CHECK(sync_folder(folder));
  open.cache_kib = kReaderCacheKib;
  FOOTNOTE_TRY(auto readers, sql::ReaderPool::open(file, open, options.readers));
  return std::unique_ptr<SqliteStore>(
      new SqliteStore(folder, options, clock, std::move(writer), std::move(readers)));  // private constructor
}

Result<void> SqliteStore::copy_to(const CallContext& call, const std::filesystem::path& file) const {
  const sql::OpenOptions open{.busy_timeout = options_.busy_timeout, .vfs = options_.vfs, .on_statement = options_.on_statement};
  return read(call, [&](sql::Database& database) { return database.copy_to(call, file, open); });
}

Result<SecretBox> SqliteStore::secrets() const {
  MutexLock lock(secrets_mutex_);
  if (!secrets_) {
    FOOTNOTE_TRY(auto opened, SecretBox::open(folder_ / kSecretKeyFile));
    secrets_ = std::move(opened);
  }
  return *secrets_;
}

SqliteStore::SqliteStore(std::filesystem::path folder, const SqliteStoreOptions& options, const Clock& clock,
                         std::unique_ptr<sql::Writer> writer, std::unique_ptr<sql::ReaderPool> readers)
    : folder_(std::move(folder)), options_(options), clock_(clock), writer_(std::move(writer)), readers_(std::move(readers)) {}

}  // namespace footnote
