#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ports/embedder.h"
#include "providers/remote/batches.h"
#include "providers/remote/json_upstream.h"

namespace footnote {

struct OpenAiEmbedderOptions {
  UpstreamOptions upstream;  ///< Base URL includes the version path: "http://localhost:4000/v1".
  std::string model;         ///< Sent in requests; also names the space.
  /// Required dimension; 0: whatever the model returns. A model with longer vectors is asked to shorten them.
  int dimension = 0;
};

/// Embedder for any server with OpenAI's embeddings API: LiteLLM, llama.cpp, Ollama, vLLM, TEI, OpenAI. It has no access to tokens, so each
/// text has one window; the server truncates or rejects longer texts. Returns unit vectors only (kUnsupported otherwise). See
/// ports/embedder.h.
class OpenAiEmbedder final : public Embedder {
 public:
  /// Requests one vector to learn the dimension. Errors of JsonUpstream; kFailedPrecondition: not the configured dimension. Borrows the
  /// client.
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
