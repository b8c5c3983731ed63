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

/// "bert", "xlm-roberta": as config.json names it.
std::string_view to_string(Family family);

enum class Pooling { kMean, kFirstToken };

/// "mean", "cls".
std::string_view to_string(Pooling pooling);

/// The sizes and choices of an encoder, as its config.json states them.
struct EncoderShape {
  std::size_t vocabulary = 0;
  std::size_t hidden = 0;
  std::size_t intermediate = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t positions = 0;        ///< The longest sequence that can be encoded.
  std::size_t positions_total = 0;  ///< Rows of the position table.
  std::size_t position_offset = 0;  ///< The first row that is used: XLM-R leaves some out.
  std::size_t token_types = 0;
  float norm_epsilon = 1e-12F;

  std::size_t head_size() const { return hidden / heads; }
};

/// A Hugging Face model folder, opened and checked:
///   config.json, model.safetensors, the tokenizer's files (see open_tokenizer); optional: sentence_bert_config.json
///   (max_seq_length), 1_Pooling/config.json, config_sentence_transformers.json (prompts), checksums.sha256.
/// A config.json with "word_table": {"model", "sha256"} has the tokenizer and the token vectors of that model, whose folder lies beside
/// this one and whose weights have that sum.
struct ModelFiles {
  using Checksums = std::map<std::string, std::string, std::less<>>;

  /// kFailedPrecondition: the folder or a file is missing; the message names the command that brings it.
  /// kUnsupported: another architecture; the message says which, and which can be run. kCorrupted: a file fails its
  /// checksum or can't be read as what it is. Checksums are those of `checksums.sha256` (the format of sha256sum), for
  /// every file that it lists but the weights, whose own is left to verify_weights().
  static Result<ModelFiles> open(const std::filesystem::path& folder);

  std::filesystem::path weights_path() const;
  /// Where the vectors of tokens are: the model's own weights, or those of the model that it shares them with.
  const SafeTensors& word_weights() const { return shared_words ? *shared_words : weights; }
  /// kCorrupted: model.safetensors does not match its sum in checksums.sha256. Reads all of it.
  Result<void> verify_weights() const;

  std::filesystem::path folder;
  Family family = Family::kBert;
  std::string prefix;  ///< Before the names of the encoder's tensors: "bert.", "roberta." or nothing.
  EncoderShape shape;
  Pooling pooling = Pooling::kMean;
  std::size_t tokens_max = 0;  ///< The model's window, marks included; at most shape.positions.
  std::string query_prefix;    ///< What its authors put before questions,
  std::string passage_prefix;  ///< and before passages.
  std::size_t labels = 0;      ///< Of its classification head; 0: it has none.
  bool finds_spans = false;    ///< It has the heads of PairReader.
  std::string weights_sha256;  ///< Of model.safetensors; empty when the folder has no checksums.
  std::unique_ptr<const Tokenizer> tokenizer;
  SafeTensors weights;
  std::optional<SafeTensors> shared_words;
};

}  // namespace footnote::nn
