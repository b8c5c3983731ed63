#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "engine/nn/safetensors.h"
#include "engine/nn/wordpiece.h"

namespace footnote::nn {

enum class Pooling { kMean, kFirstToken };

/// The sizes and choices of a BERT-shaped encoder, as its config.json states them.
struct EncoderShape {
  std::size_t vocabulary = 0;
  std::size_t hidden = 0;
  std::size_t intermediate = 0;
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t positions = 0;        ///< The longest sequence that can be encoded.
  std::size_t positions_total = 0;  ///< Rows of the position table.
  std::size_t position_offset = 0;  ///< The first row that is used: XLM-R skips some.
  std::size_t token_types = 0;
  float norm_epsilon = 1e-12F;

  std::size_t head_size() const { return hidden / heads; }
};

/// A Hugging Face model folder, opened and checked:
///   config.json, vocab.txt, model.safetensors; optional: tokenizer_config.json (do_lower_case, strip_accents),
///   sentence_bert_config.json (max_seq_length), 1_Pooling/config.json, checksums.sha256.
struct ModelFiles {
  /// kFailedPrecondition: the folder or a file is missing; the message names the command that brings it.
  /// kUnsupported: another architecture. kCorrupted: a file fails its checksum or can't be read as what it is.
  /// Checksums are those of `checksums.sha256` (the format of sha256sum). The weights' own is left to verify_weights().
  static Result<ModelFiles> open(const std::filesystem::path& folder);

  std::filesystem::path weights_path() const;
  /// kCorrupted: model.safetensors does not match its sum in checksums.sha256. Reads all of it.
  Result<void> verify_weights() const;

  std::filesystem::path folder;
  std::string prefix;  ///< Before every tensor's name: "bert." or nothing.
  EncoderShape shape;
  Pooling pooling = Pooling::kMean;
  std::size_t tokens_max = 0;  ///< The model's window with [CLS] and [SEP]; at most shape.positions.
  std::string weights_sha256;  ///< Of model.safetensors; empty when the folder has no checksums.
  WordPiece tokenizer;
  SafeTensors weights;
};

}  // namespace footnote::nn
