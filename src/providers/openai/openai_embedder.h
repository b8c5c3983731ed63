#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ports/embedder.h"
#include "providers/remote/batches.h"
#include "providers/remote/json_upstream.h"

namespace footnote {

struct OpenAiEmbedderOptions {
  UpstreamOptions upstream;  ///< Its base URL with the version path: "http://localhost:4000/v1".
  std::string model;         ///< Asked for, and the name of the space.
  /// What it must be; 0: whatever the model gives. A model with longer vectors is asked to shorten them.
  int dimension = 0;
};

/// Embedder over any server that speaks OpenAI's embeddings: LiteLLM, llama.cpp, Ollama, vLLM, TEI, OpenAI. It tells no tokens of a
/// text, so each has one window; the server cuts or refuses what is past its model's. Vectors are of length one only
/// (kUnsupported otherwise). See ports/embedder.h.
class OpenAiEmbedder final : public Embedder {
 public:
  /// Asks for one vector to learn the dimension. Errors of JsonUpstream; kFailedPrecondition: another dimension than configured.
  /// Borrows the client.
  static Result<std::unique_ptr<OpenAiEmbedder>> open(const CallContext& call, http::Client& client, OpenAiEmbedderOptions options);

  EmbeddingSpace space() const override { return space_; }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override;

 private:
  OpenAiEmbedder(JsonUpstream upstream, EmbeddingSpace space, std::optional<int> shortened)
      : upstream_(std::move(upstream)), space_(std::move(space)), shortened_(shortened) {}

  const JsonUpstream upstream_;
  const EmbeddingSpace space_;
  const std::optional<int> shortened_;  ///< Sent as `dimensions`.
  BatchSize batch_;
};

}  // namespace footnote
