#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "ports/reranker.h"
#include "providers/remote/batches.h"
#include "providers/remote/json_upstream.h"

namespace footnote {

/// Reranker for a server with Cohere's POST /rerank (also Jina, LiteLLM, vLLM); the base URL includes the version path. Scores between 0
/// and 1 are used unchanged; if one lies beyond, calibrated is their sigmoid. Borrows the client.
class CohereReranker final : public Reranker {
 public:
  CohereReranker(http::Client& client, UpstreamOptions options, std::string model)
      : upstream_(client, std::move(options)), model_(std::move(model)) {}

  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;

 private:
  const JsonUpstream upstream_;
  const std::string model_;
  BatchSize batch_;
};

/// Reranker for Text Embeddings Inference's POST /rerank. The raw score is the model's; calibrated is its sigmoid. The server truncates
/// passages longer than the model's window. Borrows the client.
class TeiReranker final : public Reranker {
 public:
  TeiReranker(http::Client& client, UpstreamOptions options) : upstream_(client, std::move(options)) {}

  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;

 private:
  const JsonUpstream upstream_;
  BatchSize batch_;
};

/// Reranker of Cloudflare Workers AI: POST {base URL}/accounts/{account}/ai/run/{model}. Scores as with Cohere's. Borrows the client.
class CloudflareReranker final : public Reranker {
 public:
  static constexpr std::string_view kDefaultUrl = "https://api.cloudflare.com/client/v4";
  static constexpr std::string_view kDefaultModel = "@cf/baai/bge-reranker-base";

  CloudflareReranker(http::Client& client, UpstreamOptions options, std::string_view account, std::string_view model)
      : upstream_(client, std::move(options)), path_(fmt::format("/accounts/{}/ai/run/{}", account, model)) {}

  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;

 private:
  const JsonUpstream upstream_;
  const std::string path_;
  BatchSize batch_;
};

}  // namespace footnote
