#pragma once

#include <filesystem>
#include <memory>

#include "engine/nn/encoder.h"
#include "ports/embedder.h"

namespace footnote {

/// The built-in embedder: an encoder of the BERT or XLM-R family from a Hugging Face model folder. The space is named after the folder.
/// Texts past the model's window get windows that overlap by a quarter, cut between tokens. Special tokens spelled out
/// in a text ("[SEP]") are plain characters: text does not steer the model.
class LocalEmbedder final : public Embedder {
 public:
  /// A text with more windows than this is kTooLarge: about 800,000 tokens.
  static constexpr std::size_t kWindowsPerTextMax = 4096;

  /// Errors of nn::Encoder::open; the message of a missing model names the command that brings it.
  static Result<std::unique_ptr<LocalEmbedder>> open(const std::filesystem::path& model_folder, const nn::EncoderOptions& options = {});

  EmbeddingSpace space() const override { return space_; }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override;

  nn::Encoder& encoder() const { return *encoder_; }

 private:
  LocalEmbedder(std::unique_ptr<nn::Encoder> encoder, EmbeddingSpace space) : encoder_(std::move(encoder)), space_(std::move(space)) {}

  // Constant after open; the encoder is thread-safe.
  const std::unique_ptr<nn::Encoder> encoder_;
  const EmbeddingSpace space_;
  std::vector<std::uint32_t> query_prefix_;    // Tokens that the model's authors put before questions,
  std::vector<std::uint32_t> passage_prefix_;  // and before passages.
};

/// Token ranges [begin, end) of the windows over `token_count` tokens, `window` in each, a quarter of them shared with
/// the window before. One empty window for no tokens. REQUIRES: window >= 4.
std::vector<TextRange> window_ranges(std::size_t token_count, std::size_t window);

}  // namespace footnote
