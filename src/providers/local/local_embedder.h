#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "engine/late/sign_coder.h"
#include "engine/nn/encoder.h"
#include "ports/embedder.h"

namespace footnote {

/// The built-in embedder: an encoder of the BERT or XLM-R family from a Hugging Face model folder. The space is named after the folder.
/// Texts past the model's window get several, cut between tokens: see Windows. Special tokens spelled out
/// in a text ("[SEP]") are plain characters: text does not steer the model.
class LocalEmbedder final : public Embedder {
 public:
  /// A text with more windows than this is kTooLarge: about 800,000 tokens.
  static constexpr std::size_t kWindowsPerTextMax = 4096;

  /// Errors of nn::Encoder::open; the message of a missing model names the command that brings it.
  static Result<std::unique_ptr<LocalEmbedder>> open(const std::filesystem::path& model_folder, const nn::EncoderOptions& options = {});

  /// Makes codes from now on. Call before the first embed(). kInvalidArgument: the model is of another encoder.
  Result<void> set_late(late::LateModel model, const late::CoderOptions& options);

  EmbeddingSpace space() const override { return space_; }
  std::vector<std::string> languages() const override { return languages_; }
  /// Call before the first embed().
  void set_languages(std::vector<std::string> languages) { languages_ = std::move(languages); }
  std::uint32_t code_form() const override { return coder_ ? coder_->form() : 0; }
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
  std::optional<const late::SignCoder> coder_;
  std::vector<std::string> languages_;
};

/// How a text of `token_count` tokens is cut where they do not fit one window of `window`. The first window is full. A further one
/// holds the text's first `lead` tokens again, and then its own: what a text is about stands at its beginning, and without it a part from
/// its midst looks near to questions that it has nothing to do with (nDCG@10 of vectors alone without and with it: cranfield .391 and .396,
/// scifact-train .671 and .678, cisi and squad-dev alike). None is short, for the same reason; they are evenly spread and share
/// an eighth or more with the one before.
struct Windows {
  std::size_t lead = 0;
  std::vector<TextRange> ranges;  ///< Tokens [begin, end) of the text; those of further windows without the lead.
};
/// One window of all tokens where they fit. REQUIRES: window >= 4.
Windows window_ranges(std::size_t token_count, std::size_t window);

}  // namespace footnote
