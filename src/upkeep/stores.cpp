#include "upkeep/stores.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

namespace footnote::upkeep {

UtcTime clock_mark(const std::filesystem::path& folder, UtcTime now) {
  constexpr std::uint64_t kMarkBytesMax = 32;
  const auto text = read_file(folder / kClockFile, kMarkBytesMax);
  const auto mark = text ? parse_whole_number(trim(*text)) : std::nullopt;
  if (!mark) return {};
  const UtcTime time{std::chrono::milliseconds{*mark}};
  if (time <= now) return {};
  const bool counts = time - now <= kClockMarkMax;
  log(LogLevel::kWarn, "app",
      counts ? "the clock was set back; using the last known time until it catches up" : "the clock was set back by more than a day",
      {{"clock", to_rfc3339(now)}, {"last_use", to_rfc3339(time)}});
  return counts ? time : UtcTime{};
}

Result<void> Stores::mark_clock() const {
  return write_file_atomically(folder_.path() / kClockFile, std::to_string(clock_->now().time_since_epoch().count()));
}

Result<std::unique_ptr<Stores>> Stores::open(const CallContext& call, DataFolder folder, std::string_view workspace_name,
                                             const SqliteStoreOptions& options) {
  auto wall = std::make_unique<SystemClock>();
  auto clock = std::make_unique<ForwardClock>(*wall, clock_mark(folder.path(), wall->now()));
  FOOTNOTE_TRY(auto store, SqliteStore::open(folder.path(), options, *clock));
  auto stores = std::unique_ptr<Stores>(new Stores(std::move(folder), std::move(wall), std::move(clock), std::move(store)));
  auto workspace = stores->catalog_.find_workspace(call, workspace_name);
  if (!workspace) {
    workspace.error().message += "; make it with `footnote workspaces create`, or name another one with --workspace";
    return std::unexpected(std::move(workspace).error());
  }
  stores->workspace_ = workspace->id;
  return stores;
}

Result<std::vector<Corpus>> all_corpora(const CallContext& call, const CatalogStore& catalog) {
  FOOTNOTE_TRY(const auto workspaces, catalog.workspaces(call));
  std::vector<Corpus> out;
  for (const Workspace& workspace : workspaces) {
    FOOTNOTE_TRY(auto corpora, catalog.corpora(call, workspace.id));
    std::ranges::move(corpora, std::back_inserter(out));
  }
  return out;
}

}  // namespace footnote::upkeep
