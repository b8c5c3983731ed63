#pragma once

#include <memory>
#include <string>

#include "ports/embedder.h"
#include "providers/remote/batches.h"
#include "providers/remote/json_upstream.h"

namespace footnote {

struct EmbedServiceOptions {
  UpstreamOptions upstream;
  std::string model;  ///< Names the space; empty: as the service's /health says.
  int dimension = 0;  ///< What it must be; 0: whatever the service gives.
};

/// Embedder over a service with POST /embed {"inputs","normalize"} -> {"vectors","normalize","dim"}, as Footnote itself serves it.
/// It counts no tokens, so each text has one window, and the service cuts what is past its model's. See ports/embedder.h.
class EmbedServiceEmbedder final : public Embedder {
 public:
  /// Asks for one vector to learn the dimension. Errors of JsonUpstream; kFailedPrecondition: another dimension than configured,
  /// or a service that does not name its model while no name is configured. Borrows the client.
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
