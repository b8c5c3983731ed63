#pragma once

#include <memory>

#include "base/metrics.h"
#include "config/settings.h"
#include "engine/cpu/cpu_level.h"
#include "http/client.h"
#include "ports/embedder.h"
#include "ports/reader.h"
#include "ports/reranker.h"

namespace footnote {
class LocalEmbedder;
}

namespace footnote::app {

/// The CPU level set by engine.cpu; for "auto", the best that works on this machine. kFailedPrecondition: the machine lacks it.
Result<cpu::CpuLevel> cpu_level_of(const Settings& settings);

/// An implementation of a port, and the connections that it borrows: null for an in-process one.
template <class Port>
struct Provided {
  std::unique_ptr<http::Client> client;
  std::unique_ptr<Port> port;  // declared after what it borrows, so that it is destroyed first
};

/// Opens the built-in model. kFailedPrecondition: it is missing, or the CPU lacks the requested level. kCorrupted: a file fails its
/// checksum. The message names the fix.
Result<std::unique_ptr<LocalEmbedder>> open_local_embedder(const Settings& settings);

/// Opens a built-in model by name, whatever is configured. Errors as above.
Result<Provided<Embedder>> open_named_embedder(const Settings& settings, std::string_view model);

/// Opens the configured embedder. A remote one is probed for a vector, so that a wrong dimension is reported here. kInvalidArgument: a
/// setting that its provider needs is missing. `metrics` outlives it.
Result<Provided<Embedder>> open_embedder(const CallContext& call, const Settings& settings, Metrics& metrics);

/// Opens the embedder for agents' notes if they have their own, and probes it for a vector; otherwise its port is null.
Result<Provided<Embedder>> open_agent_embedder(const CallContext& call, const Settings& settings, Metrics& metrics);

/// The models that score question and passage together.
struct Rerankers {
  Provided<Reranker> provided;        ///< Scores whole passages. Its port is null if there is no reranker.
  std::unique_ptr<Reranker> quick{};  ///< A faster one for ranking while a user waits; null: use `provided`.

  /// Null if there is no reranker.
  Reranker* for_ranking() const { return quick ? quick.get() : provided.port.get(); }
};

/// Opens the configured reranker without calling it. If nothing is configured and the built-in judge is missing, there is none, and this is
/// logged.
Result<Rerankers> open_reranker(const Settings& settings, Metrics& metrics);

/// Opens the model that reads passages; null if reader.model is "none". If nothing is configured and the default model is missing, there is
/// none, and this is logged.
Result<std::unique_ptr<Reader>> open_model_reader(const Settings& settings);

/// The reranker's name in calibrations and saved runs; empty without one.
std::string reranker_name(const Settings& settings);

}  // namespace footnote::app
