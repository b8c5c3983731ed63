#include <sys/stat.h>

#include <filesystem>

#include "app/commands.h"
#include "app/open_link.h"
#include "base/json_view.h"
#include "base/text.h"
#include "domain/catalog.h"
#include "providers/sqlite/sqlite_store.h"
#include "upkeep/snapshot_file.h"
#include "upkeep/store_copies.h"

namespace footnote::app {
namespace {

namespace fs = std::filesystem;

/// Collection snapshots, made by Qdrant's routes.
constexpr std::string_view kCollectionSnapshots = "snapshots";
/// Where a restore writes until everything is complete and verified.
constexpr std::string_view kRestoring = "restoring.tmp";

/// A copy of the store, deleted on destruction.
class TakenCopy {
 public:
  explicit TakenCopy(fs::path file) : file_(std::move(file)) {}
  ~TakenCopy() {
    std::error_code ignored;
    if (!file_.empty()) fs::remove(file_, ignored);
  }
  TakenCopy(TakenCopy&& other) noexcept : file_(std::exchange(other.file_, {})) {}
  TakenCopy& operator=(TakenCopy&&) = delete;

  const fs::path& file() const { return file_; }

 private:
  fs::path file_;
};

Result<TakenCopy> copy_store(const cli::CommandContext& context) {
  FOOTNOTE_TRY(const auto link, open_link(context, {.workspace = kDefaultWorkspace}));
  FOOTNOTE_TRY(const Json answer, link->post(context.call, "/api/admin/snapshot", JsonObject{}));
  const std::string name(text_at(answer, "copy"));
  if (!upkeep::is_snapshot_name(name)) return fail(ErrorCode::kInternal, "no copy of the store was made");
  return TakenCopy(context.settings.path(Setting::kData) / upkeep::kCopiesFolder / name);
}

/// Without this key the restored store could not decrypt webhook secrets.
Result<void> add_secret_key(const cli::CommandContext& context, upkeep::SnapshotWriter& writer) {
  auto added = writer.add(context.call, std::string(kSecretKeyFile), context.settings.path(Setting::kData) / kSecretKeyFile);
  if (!added && added.error().code != ErrorCode::kNotFound) return added;  // nothing was encrypted yet
  return {};
}

Result<void> add_collection_snapshots(const cli::CommandContext& context, upkeep::SnapshotWriter& writer) {
  const fs::path data = context.settings.path(Setting::kData);
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(data / kCollectionSnapshots, error)) {
    const std::string name = entry.path().lexically_relative(data).string();
    // Files being written have a temporary name until complete.
    if (!entry.is_regular_file(error) || name.ends_with(AtomicFile::kTemporarySuffix) || !upkeep::is_snapshot_name(name)) continue;
    auto added = writer.add(context.call, name, entry.path());
    if (!added && added.error().code != ErrorCode::kNotFound) return added;  // deleted meanwhile
  }
  return {};
}

void report(const cli::CommandContext& context, std::string_view what, const std::string& path, const upkeep::SnapshotTotals& totals) {
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(JsonObject{{"file", path}, {"files", totals.files}, {"bytes", totals.bytes}}) + "\n");
    return;
  }
  cli::write_out(fmt::format("{} {}: {}, {} file{}\n", what, path, human_bytes(totals.bytes), totals.files, totals.files == 1 ? "" : "s"));
}

/// The folder may hold only our lock; leftovers of a killed restore are deleted.
Result<void> check_empty(const fs::path& data) {
  std::error_code error;
  if (fs::exists(data / kRestoring, error) && !fs::exists(data / kStoreFile, error)) {
    fs::remove_all(data / kRestoring, error);
    fs::remove_all(data / kCollectionSnapshots, error);
    fs::remove(data / kSecretKeyFile, error);
  }
  for (const auto& entry : fs::directory_iterator(data, error)) {
    if (entry.path().filename() == kLockFile) continue;
    return fail(ErrorCode::kFailedPrecondition,
                "{} is not empty: it holds {}. A snapshot is restored into an empty folder; name another one with --data", data.string(),
                entry.path().filename().string());
  }
  if (error) return fail(code_of_errno(error.value()), "{} can't be read: {}", data.string(), error.message());
  return {};
}

/// Writes a snapshot's files below a folder, each atomically.
class Unpacker {
 public:
  explicit Unpacker(fs::path folder) : folder_(std::move(folder)) {}

  Result<void> start(std::string_view name) {
    FOOTNOTE_CHECK(finish());
    const bool known = name == kStoreFile || name == kSecretKeyFile || name.starts_with(fmt::format("{}/", kCollectionSnapshots));
    if (!known) return fail(ErrorCode::kUnsupported, "the snapshot holds {}, which this version does not know", name);
    const fs::path path = folder_ / name;
    FOOTNOTE_CHECK(make_folders(path.parent_path()));
    FOOTNOTE_TRY(AtomicFile file, AtomicFile::create(path));
    file_.emplace(std::move(file));
    return {};
  }
  Result<void> piece(std::span<const std::byte> bytes) { return file_->write(bytes); }
  Result<void> finish() {
    if (!file_) return {};
    auto written = file_->commit();
    file_.reset();
    return written;
  }

 private:
  const fs::path folder_;
  std::optional<AtomicFile> file_;
};

/// Opens the restored store, which verifies the checksum of every page, and checks its integrity.
Result<void> check_store(const CallContext& call, const fs::path& folder) {
  const SystemClock clock;
  FOOTNOTE_TRY(const auto store, SqliteStore::open(folder, SqliteStoreOptions{}, clock));
  FOOTNOTE_TRY(const auto findings, store->check(call));
  if (findings.empty()) return {};
  return fail(ErrorCode::kCorrupted, "the snapshot's store is inconsistent: {}: {}", findings[0].check, findings[0].detail);
}

Result<void> move_in(const fs::path& from, const fs::path& to, std::string_view name) {
  std::error_code error;
  if (!fs::exists(from / name, error)) return {};
  fs::rename(from / name, to / name, error);
  if (error) return fail(code_of_errno(error.value()), "{} can't be moved to {}: {}", (from / name).string(), to.string(), error.message());
  return {};
}

Result<upkeep::SnapshotTotals> unpack(const cli::CommandContext& context, const std::string& path, const fs::path& folder) {
  Unpacker unpacker(folder);
  const upkeep::SnapshotVisitor visitor{.start = [&](std::string_view name) { return unpacker.start(name); },
                                        .piece = [&](std::span<const std::byte> bytes) { return unpacker.piece(bytes); }};
  FOOTNOTE_TRY(const upkeep::SnapshotTotals totals, upkeep::read_snapshot(context.call, path, visitor));
  FOOTNOTE_CHECK(unpacker.finish());
  std::error_code ignored;
  if (!fs::exists(folder / kStoreFile, ignored)) return fail(ErrorCode::kCorrupted, "the snapshot {} holds no store", path);
  FOOTNOTE_CHECK(check_store(context.call, folder));
  return totals;
}

}  // namespace

Result<int> run_snapshot(const cli::CommandContext& context, const cli::SnapshotCommand& command) {
  ::umask(S_IRWXG | S_IRWXO);  // it holds every document: readable only by its owner, from the first byte on
  FOOTNOTE_TRY(const TakenCopy copy, copy_store(context));
  FOOTNOTE_TRY(upkeep::SnapshotWriter writer, upkeep::SnapshotWriter::create(command.file));
  FOOTNOTE_CHECK(writer.add(context.call, std::string(kStoreFile), copy.file()));
  FOOTNOTE_CHECK(add_secret_key(context, writer));
  FOOTNOTE_CHECK(add_collection_snapshots(context, writer));
  FOOTNOTE_TRY(const upkeep::SnapshotTotals totals, writer.commit());
  report(context, "snapshot", command.file, totals);
  return cli::kExitOk;
}

Result<int> run_restore(const cli::CommandContext& context, const cli::RestoreCommand& command) {
  const fs::path data = context.settings.path(Setting::kData);
  FOOTNOTE_TRY(const DataFolder folder, own_folder(context.settings, Missing::kCreate));
  FOOTNOTE_CHECK(check_empty(data));
  const fs::path restoring = data / kRestoring;
  const auto totals = unpack(context, command.file, restoring);
  std::error_code ignored;
  if (!totals) {
    fs::remove_all(restoring, ignored);
    return std::unexpected(totals.error());
  }
  // The store comes last: without it the folder counts as not restored.
  FOOTNOTE_CHECK(move_in(restoring, data, kCollectionSnapshots));
  FOOTNOTE_CHECK(move_in(restoring, data, kSecretKeyFile));
  FOOTNOTE_CHECK(move_in(restoring, data, fmt::format("{}-wal", kStoreFile)));  // absent unless its last checkpoint failed
  FOOTNOTE_CHECK(move_in(restoring, data, kStoreFile));
  FOOTNOTE_CHECK(sync_folder(data));
  fs::remove_all(restoring, ignored);
  report(context, "restored", command.file, *totals);
  return cli::kExitOk;
}

}  // namespace footnote::app
