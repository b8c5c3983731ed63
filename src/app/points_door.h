#pragma once

#include <memory>

#include "api/qdrant_routes.h"
#include "app/ingest_parts.h"

namespace footnote::app {

/// Points and agents' notes: the Qdrant routes and /api/memories.
class PointsDoor {
 public:
  /// Borrows `base`. Where agents' notes have an embedder of their own, it is asked for a vector.
  static Result<std::unique_ptr<PointsDoor>> open(const CallContext& call, const Settings& settings, IngestParts& base);

  points::Memories& memories() { return memories_; }
  api::PointServices services();

 private:
  PointsDoor(Provided<Embedder> agent_embedder, const Settings& settings, IngestParts& base);

  IngestParts& base_;
  const Provided<Embedder> agent_embedder_;  ///< Its port is null where notes are embedded like all else.
  points::PointSearch search_;
  points::PointWriter writer_;
  points::Snapshots snapshots_;
  points::Memories memories_;
};

}  // namespace footnote::app
