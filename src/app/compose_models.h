#pragma once

#include <memory>

#include "base/metrics.h"
#include "config/settings.h"
#include "engine/cpu/cpu_level.h"
#include "http/client.h"
#include "ports/embedder.h"
#include "ports/reranker.h"

namespace footnote {
class LocalEmbedder;
}

namespace footnote::app {

/// What engine.cpu says; the best that works here for auto. kFailedPrecondition: the machine lacks it.
Result<cpu::CpuLevel> cpu_level_of(const Settings& settings);

/// An implementation of a port, and the connections that it borrows: null for one of this process.
template <class Port>
struct Provided {
  std::unique_ptr<http::Client> client;
  std::unique_ptr<Port> port;  // after what it borrows, so that it ends first
};

/// The built-in model, opened. kFailedPrecondition: it is not there, or the CPU lacks the level that was asked for.
/// kCorrupted: a file fails its checksum. The message names the fix.
Result<std::unique_ptr<LocalEmbedder>> open_local_embedder(const Settings& settings);

/// A built-in model by its name, whatever is configured. Errors as above.
Result<Provided<Embedder>> open_named_embedder(const Settings& settings, std::string_view model);

/// The configured embedder. A remote one is asked for a vector, so that a wrong dimension is told here. kInvalidArgument: a setting
/// that its provider needs is missing. `metrics` outlives it.
Result<Provided<Embedder>> open_embedder(const CallContext& call, const Settings& settings, Metrics& metrics);

/// The embedder of agents' notes where they have one of their own; its port is null otherwise. It is asked for a vector.
Result<Provided<Embedder>> open_agent_embedder(const CallContext& call, const Settings& settings, Metrics& metrics);

/// Who reads question and passage together.
struct Rerankers {
  Provided<Reranker> provided;        ///< Its port is null for none. It reads passages whole.
  std::unique_ptr<Reranker> quick{};  ///< For ranking, where somebody waits: null where that is no other.

  /// Null for none.
  Reranker* for_ranking() const { return quick ? quick.get() : provided.port.get(); }
};

/// The configured reranker. Nothing is asked of it. Where the built-in judge is only the default and is not there, there is none, and
/// the log says so.
Result<Rerankers> open_reranker(const Settings& settings, Metrics& metrics);

/// The reranker's name, as calibrations and saved runs know it; empty without one.
std::string reranker_name(const Settings& settings);

}  // namespace footnote::app
