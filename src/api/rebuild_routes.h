#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/route.h"
#include "domain/catalog.h"

namespace footnote::api {

/// Progress of the last index rebuild.
struct RebuildState {
  /// kReady: every chunk has vectors of the new model; the corpus switches when the server starts with that model.
  enum class Phase { kRunning, kReady, kDone, kFailed, kCancelled };

  std::string corpus;
  std::string model;
  Phase phase = Phase::kRunning;
  std::int64_t done = 0;  ///< Chunks embedded, of `total`; 0 of 0 if the model stays the same.
  std::int64_t total = 0;
  std::int64_t embedded = 0;  ///< Chunks that got new vectors.
  std::int64_t recoded = 0;   ///< Chunks that only got new token codes.
  std::int64_t rows = 0;      ///< Set when done: rows of the new indexes, their generation, and the bytes of their files.
  std::int64_t generation = 0;
  std::uint64_t bytes = 0;
  std::string error = {};
};

/// Rebuilds indexes in the background, one at a time. Thread-safe.
class IndexRebuilds {
 public:
  virtual ~IndexRebuilds() = default;
  /// Without a `model`, vectors and token codes are kept; an empty one means the configured model. kNotFound: no such corpus.
  /// kAlreadyExists: a rebuild is running. kFailedPrecondition: no such model.
  virtual Result<RebuildState> start(const CallContext& call, WorkspaceId workspace, std::string_view corpus,
                                     const std::optional<std::string>& model) = 0;
  /// The workspace's last rebuild; nullopt if there was none since the process started.
  virtual std::optional<RebuildState> state(WorkspaceId workspace) const = 0;
  /// Stops the rebuild and discards its output; the corpus is unchanged. kNotFound: the workspace has none.
  virtual Result<RebuildState> cancel(const CallContext& call, WorkspaceId workspace) = 0;
};

/// POST, GET and DELETE /api/admin/rebuild. `rebuilds` is borrowed.
std::vector<Route> make_rebuild_routes(IndexRebuilds& rebuilds);

}  // namespace footnote::api
