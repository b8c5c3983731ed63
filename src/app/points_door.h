#pragma once

#include <memory>

#include "api/qdrant_routes.h"
#include "app/ingest_parts.h"

namespace footnote::app {

/// Whether agents' notes are served, which means probing their embedder for a vector.
enum class AgentNotes { kOff, kOn };

/// Points and agents' notes: the Qdrant routes and /api/memories.
class PointsDoor {
 public:
  /// Borrows `base`. If agents' notes have their own embedder, it is probed for a vector.
  static Result<std::unique_ptr<PointsDoor>> open(const CallContext& call, const Settings& settings, IngestParts& base, AgentNotes notes);

  points::Memories& memories() { return memories_; }
  api::PointServices services();

 private:
  PointsDoor(Provided<Embedder> agent_embedder, const Settings& settings, IngestParts& base);

  IngestParts& base_;
  const Provided<Embedder> agent_embedder_;  ///< Its port is null if notes use the general embedder.
  points::PointSearch search_;
  points::PointWriter writer_;
  points::Snapshots snapshots_;
  points::Memories memories_;
};

}  // namespace footnote::app
