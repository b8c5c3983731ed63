#include "app/points_door.h"

namespace footnote::app {

Result<std::unique_ptr<PointsDoor>> PointsDoor::open(const CallContext& call, const Settings& settings, IngestParts& base,
                                                     AgentNotes notes) {
  Provided<Embedder> agent_embedder;
  if (notes == AgentNotes::kOn) {
    FOOTNOTE_TRY(agent_embedder, open_agent_embedder(call, settings, base.metrics()));
  }
  return std::unique_ptr<PointsDoor>(new PointsDoor(std::move(agent_embedder), settings, base));
}

PointsDoor::PointsDoor(Provided<Embedder> agent_embedder, const Settings& settings, IngestParts& base)
    : base_(base),
      agent_embedder_(std::move(agent_embedder)),
      search_(base.stores().points(), base.vectors(), static_cast<std::size_t>(settings.integer(Setting::kPointsWorkMax))),
      writer_({base.chunks(), base.catalog(), base.stores().points(), base.sync()}, search_),
      snapshots_(base.folder().path(), base.stores().points(), writer_, base.clock()),
      memories_({.points = base.stores().points(),
                 .catalog = base.catalog(),
                 .search = search_,
                 .writer = writer_,
                 .embedder = agent_embedder_.port ? *agent_embedder_.port : base.embedder(),
                 .clock = base.clock()},
                {.vector_size = static_cast<int>(settings.integer(Setting::kAgentVectorSize))}) {}

api::PointServices PointsDoor::services() {
  return {.points = base_.stores().points(),
          .search = search_,
          .writer = writer_,
          .snapshots = snapshots_,
          .memories = memories_,
          .catalog = base_.catalog(),
          .chunks = base_.chunks(),
          .embedder = base_.embedder(),
          .forget_corpus = [this](const CallContext& call, CorpusId corpus) { base_.forget_corpus(call, corpus); }};
}

}  // namespace footnote::app
