#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/nn/safetensors.h"
#include "engine/nn/tokenizer.h"

namespace footnote::nn {

enum class Family { kBert, kXlmRoberta };

/// "bert", "xlm-roberta": as in config.json.
std::string_view to_string(Family family);

enum class Pooling { kMean, kFirstToken };

/// "mean", "cls".
std::string_view to_string(Pooling pooling);

/// The sizes and choices of an encoder, from its config.json.
struct EncoderShape {
  std::size_t vocabulary = 0;
  std::size_t hidden = 0;
  std::size_t intermediate = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t positions = 0;        ///< The longest sequence that can be encoded.
  std::size_t positions_total = 0;  ///< Rows of the position table.
  std::size_t position_offset = 0;  ///< The first row used: XLM-R skips some.
  std::size_t token_types = 0;
  float norm_epsilon = 1e-12F;

  std::size_t head_size() const { return hidden / heads; }
};

/// A Hugging Face model folder, opened and checked:
///   config.json, model.safetensors, the tokenizer's files (see open_tokenizer); optional: sentence_bert_config.json
///   (max_seq_length), 1_Pooling/config.json, config_sentence_transformers.json (prompts), checksums.sha256.
/// A config.json with "word_table": {"model", "sha256"} shares the tokenizer and the token vectors of that model. Its folder is next to
/// this one, and its weights must have that checksum. "tokenizer": {"model"} shares the tokenizer alone.
struct ModelFiles {
  using Checksums = std::map<std::string, std::string, std::less<>>;

  /// kFailedPrecondition: the folder or a file is missing; the message names the command that installs it. kUnsupported: another
  /// architecture; the message names it and the supported ones. kCorrupted: a file fails its checksum or can't be parsed.
  /// `checksums.sha256` (in the format of sha256sum) is verified for every listed file except the weights, which verify_weights() checks.
  static Result<ModelFiles> open(const std::filesystem::path& folder);

  std::filesystem::path weights_path() const;
  /// The weights that hold the token vectors: the model's own, or those of the model that it shares them with.
  const SafeTensors& word_weights() const { return shared_words ? *shared_words : weights; }
  /// kCorrupted: model.safetensors does not match its checksum in checksums.sha256. Reads the whole file.
  Result<void> verify_weights() const;

  std::filesystem::path folder;
  Family family = Family::kBert;
  std::string prefix;  ///< Prefix of the encoder's tensor names: "bert.", "roberta." or nothing.
  EncoderShape shape;
  Pooling pooling = Pooling::kMean;
  std::size_t tokens_max = 0;  ///< The model's window, special tokens included; at most shape.positions.
  std::string query_prefix;    ///< The prompt that the model's authors prepend to questions.
  std::string passage_prefix;  ///< The prompt that they prepend to passages.
  std::size_t labels = 0;      ///< Labels of its classification head; 0: it has none.
  bool finds_spans = false;    ///< The model has the heads that PairReader needs.
  std::string weights_sha256;  ///< Checksum of model.safetensors; empty when the folder has no checksums.
  std::unique_ptr<const Tokenizer> tokenizer;
  SafeTensors weights;
  std::optional<SafeTensors> shared_words;
};

}  // namespace footnote::nn
