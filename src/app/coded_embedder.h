#pragma once

#include <memory>

#include "ports/embedder.h"

namespace footnote::app {

/// Combines the vectors of one embedder with the token codes of another: late interaction does not depend on the vectors' model.
/// Thread-safe if both are.
class CodedEmbedder final : public Embedder {
 public:
  CodedEmbedder(std::unique_ptr<Embedder> vectors, std::unique_ptr<Embedder> codes)
      : vectors_(std::move(vectors)), codes_(std::move(codes)) {}

  EmbeddingSpace space() const override { return vectors_->space(); }
  std::vector<std::string> languages() const override { return vectors_->languages(); }
  std::uint32_t code_form() const override { return codes_->code_form(); }
  std::string code_model() const override { return codes_->code_model(); }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override;

 private:
  const std::unique_ptr<Embedder> vectors_;
  const std::unique_ptr<Embedder> codes_;
};

}  // namespace footnote::app
