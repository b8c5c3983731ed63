#pragma once

#include <filesystem>
#include <memory>

#include "engine/nn/cross_encoder.h"
#include "ports/reranker.h"

namespace footnote {

/// The built-in reranker: a cross-encoder from a Hugging Face model folder. The raw score is the model's logit, calibrated is its sigmoid.
/// Special tokens spelled out in a text are plain characters.
class LocalReranker final : public Reranker {
 public:
  /// Errors of nn::CrossEncoder::open.
  static Result<std::unique_ptr<LocalReranker>> open(const std::filesystem::path& model_folder, const nn::EncoderOptions& options = {});

  Result<std::vector<Judgement>> rerank(const CallContext& call, std::string_view question,
                                        std::span<const std::string_view> passages) override;

 private:
  explicit LocalReranker(std::unique_ptr<nn::CrossEncoder> encoder) : encoder_(std::move(encoder)) {}

  const std::unique_ptr<nn::CrossEncoder> encoder_;  // thread-safe
};

}  // namespace footnote
