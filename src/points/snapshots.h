#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "points/point_writer.h"
#include "ports/point_store.h"

namespace footnote::points {

/// A larger snapshot is written, but cannot be downloaded or restored through this class: copy the file.
inline constexpr std::uint64_t kSnapshotBytesMax = 1 << 30;
/// Maximum number of snapshots per collection: each is a copy on the shared disk.
inline constexpr std::size_t kSnapshotsPerCollectionMax = 100;
/// Points restored in one commit.
inline constexpr std::size_t kRecoverPointsMax = 1000;

struct SnapshotInfo {
  std::string name;
  UtcTime created_at;
  std::uint64_t bytes = 0;
};

/// Exports collections to files in the data folder: one line for the collection (its vectors and declared keys), then one per point, all
/// JSON and all from one state. Passages of ingested documents are exported as points, and restored as such. Thread-safe.
class Snapshots {
 public:
  /// `data` is the data folder. Borrows the rest.
  Snapshots(const std::filesystem::path& data, PointStore& store, PointWriter& writer, const Clock& clock)
      : folder_(data / "snapshots"), store_(store), writer_(writer), clock_(clock) {}

  /// kFailedPrecondition: the collection has kSnapshotsPerCollectionMax already.
  Result<SnapshotInfo> create(const CallContext& call, const Collection& collection) const;
  /// Oldest first. Snapshots of deleted collections are kept.
  Result<std::vector<SnapshotInfo>> list(WorkspaceId workspace, std::string_view collection) const;
  /// kNotFound; kTooLarge.
  Result<std::string> read(WorkspaceId workspace, std::string_view collection, std::string_view name) const;
  Result<void> remove(WorkspaceId workspace, std::string_view collection, std::string_view name) const;
  /// Recreates the collection from one of its snapshots. REQUIRES: no collection has that name. An error leaves the points restored so far.
  Result<void> recover(const CallContext& call, WorkspaceId workspace, std::string_view collection, std::string_view name,
                       std::string_view model_id_of_own_space) const;

 private:
  std::filesystem::path folder_of(WorkspaceId workspace, std::string_view collection) const;
  Result<std::filesystem::path> path_of(WorkspaceId workspace, std::string_view collection, std::string_view name) const;

  const std::filesystem::path folder_;
  PointStore& store_;
  PointWriter& writer_;
  const Clock& clock_;
};

}  // namespace footnote::points
