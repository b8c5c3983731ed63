#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/route.h"
#include "domain/catalog.h"

namespace footnote::api {

/// How far the last rebuild of an index is.
struct RebuildState {
  /// kReady: every chunk has its vectors of the other model; the corpus changes over when the server starts with that one.
  enum class Phase { kRunning, kReady, kDone, kFailed, kCancelled };

  std::string corpus;
  std::string model;
  Phase phase = Phase::kRunning;
  std::int64_t done = 0;  ///< Chunks embedded, of `total`; 0 of 0 while the model stays the same.
  std::int64_t total = 0;
  std::int64_t embedded = 0;  ///< Chunks that got other vectors.
  std::int64_t recoded = 0;   ///< Chunks that got other token codes alone.
  std::int64_t rows = 0;      ///< What the new indexes hold, at which generation, and the bytes of their files: when it is done.
  std::int64_t generation = 0;
  std::uint64_t bytes = 0;
  std::string error = {};
};

/// Rebuilds indexes in the background, one at a time. Thread-safe.
class IndexRebuilds {
 public:
  virtual ~IndexRebuilds() = default;
  /// Without a `model` vectors and token codes stay as they are; an empty one is the configured model. kNotFound: no such corpus.
  /// kAlreadyExists: one is running. kFailedPrecondition: no such model.
  virtual Result<RebuildState> start(const CallContext& call, WorkspaceId workspace, std::string_view corpus,
                                     const std::optional<std::string>& model) = 0;
  /// The workspace's last one; nullopt where there was none since the start.
  virtual std::optional<RebuildState> state(WorkspaceId workspace) const = 0;
  /// Stops it and lets go of what it made; the corpus stays as it is. kNotFound: the workspace has none.
  virtual Result<RebuildState> cancel(const CallContext& call, WorkspaceId workspace) = 0;
};

/// POST, GET and DELETE /api/admin/rebuild. `rebuilds` is borrowed.
std::vector<Route> make_rebuild_routes(IndexRebuilds& rebuilds);

}  // namespace footnote::api
