#pragma once

#include <memory>
#include <string>

#include "ports/embedder.h"
#include "providers/remote/batches.h"
#include "providers/remote/json_upstream.h"

namespace footnote {

struct EmbedServiceOptions {
  UpstreamOptions upstream;
  std::string model;  ///< Names the space; empty: as reported by the service's /health.
  int dimension = 0;  ///< Required dimension; 0: whatever the service returns.
};

/// Embedder for a service with POST /embed {"inputs","normalize"} -> {"vectors","normalize","dim"}, which Footnote itself also serves. It
/// has no token counts, so each text has one window, and the service truncates longer texts. See ports/embedder.h.
class EmbedServiceEmbedder final : public Embedder {
 public:
  /// Requests one vector to learn the dimension. Errors of JsonUpstream; kFailedPrecondition: not the configured dimension, or the service
  /// does not name its model and no name is configured. Borrows the client.
  static Result<std::unique_ptr<EmbedServiceEmbedder>> open(const CallContext& call, http::Client& client, EmbedServiceOptions options);

  EmbeddingSpace space() const override { return space_; }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override;

 private:
  EmbedServiceEmbedder(JsonUpstream upstream, EmbeddingSpace space) : upstream_(std::move(upstream)), space_(std::move(space)) {}

  const JsonUpstream upstream_;
  const EmbeddingSpace space_;
  BatchSize batch_;
};

}  // namespace footnote
