#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "engine/late/sign_coder.h"
#include "engine/nn/encoder.h"
#include "ports/embedder.h"

namespace footnote {

/// The built-in embedder: a BERT or XLM-R encoder from a Hugging Face model folder. The space is named after the folder. Texts longer than
/// the model's window get several windows, split between tokens: see Windows. Special tokens spelled out in a text ("[SEP]") are plain
/// characters: text cannot steer the model.
class LocalEmbedder final : public Embedder {
 public:
  /// A text with more windows than this (about 800,000 tokens) is kTooLarge.
  static constexpr std::size_t kWindowsPerTextMax = 4096;

  /// Errors of nn::Encoder::open; if the model is missing, the message names the command that downloads it.
  static Result<std::unique_ptr<LocalEmbedder>> open(const std::filesystem::path& model_folder, const nn::EncoderOptions& options = {});

  /// Enables codes. Call before the first embed(). kInvalidArgument: the model belongs to another encoder.
  Result<void> set_late(late::LateModel model, const late::CoderOptions& options);

  EmbeddingSpace space() const override { return space_; }
  std::vector<std::string> languages() const override { return languages_; }
  /// Call before the first embed().
  void set_languages(std::vector<std::string> languages) { languages_ = std::move(languages); }
  std::uint32_t code_form() const override { return coder_ ? coder_->form() : 0; }
  std::string code_model() const override { return coder_ ? space_.model_id : std::string(); }
  Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                       const EmbedOptions& options) override;

  nn::Encoder& encoder() const { return *encoder_; }

 private:
  LocalEmbedder(std::unique_ptr<nn::Encoder> encoder, EmbeddingSpace space) : encoder_(std::move(encoder)), space_(std::move(space)) {}

  // Constant after open; the encoder is thread-safe.
  const std::unique_ptr<nn::Encoder> encoder_;
  const EmbeddingSpace space_;
  std::vector<std::uint32_t> query_prefix_;    // tokens that the model expects before questions
  std::vector<std::uint32_t> passage_prefix_;  // tokens that the model expects before passages
  std::optional<const late::SignCoder> coder_;
  std::vector<std::string> languages_;
};

/// How a text of `token_count` tokens is split if it does not fit one window. The first window is full. Each further window repeats the
/// text's first `lead` tokens before its own part: the beginning says what the text is about, and without it a part from the middle looks
/// close to unrelated questions (nDCG@10 of vectors alone without and with it: cranfield .391 and .396, scifact-train .671 and .678, cisi
/// and squad-dev unchanged). For the same reason no window is short; windows are evenly spread and overlap the previous one by at least an
/// eighth.
struct Windows {
  std::size_t lead = 0;
  std::vector<TextRange> ranges;  ///< Tokens [begin, end) of the text; for further windows, without the lead.
};
/// Returns a single window if all tokens fit. REQUIRES: window >= 4.
Windows window_ranges(std::size_t token_count, std::size_t window);

}  // namespace footnote
