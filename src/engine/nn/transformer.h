#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/nn/kernels.h"
#include "engine/nn/memory_block.h"
#include "engine/nn/model_files.h"
#include "engine/nn/pack.h"
#include "engine/nn/packed_file.h"

namespace footnote::nn {

/// Token ids of one sequence, framed as the model expects. `types` is empty (all zero) or of the same length. Does not own its memory.
struct TokenSpan {
  std::span<const std::uint32_t> ids;
  std::span<const std::uint8_t> types = {};
};

/// The layers of a BERT-like encoder, packed for one kernel level. Immutable after load, so any number of threads may run passes over it.
class Transformer {
 public:
  struct Layer {
    Matrix query_key_value;
    Matrix attention_output;
    Norm attention_norm;
    Matrix feed_forward_in;
    Matrix feed_forward_out;
    Norm output_norm;
  };

  /// Maps the packed file next to the model if it was made from these weights; else packs the weights and writes that file for the next
  /// start. kCorrupted: a tensor is missing or has another shape, or the model's checksum does not match. Borrows `files`, which must
  /// outlive this.
  static Result<Transformer> load(const ModelFiles& files, const Kernels& kernels);

  const EncoderShape& shape() const { return shape_; }
  const Kernels& kernels() const { return *kernels_; }
  std::span<const Layer> layers() const { return layers_; }
  const Norm& embedding_norm() const { return embedding_norm_; }
  /// The sum of the token's, its position's and its type's vector.
  void embed(const TokenSpan& sequence, std::size_t position, float* out) const;

 private:
  class Packer;

  Transformer() = default;
  Result<void> find_token_table(const ModelFiles& files);
  void lay_out(Layout& layout);
  Norm lay_out_norm(Layout& layout) const;

  EncoderShape shape_;
  const Kernels* kernels_ = nullptr;
  PackedFile packed_;  // Owns the memory of the weights if they were mapped;
  MemoryBlock fresh_;  // otherwise this does.
  std::span<const float> token_table_;
  SafeTensors::ByteRows token_rows_;  // Used instead of the table if the model stores its token vectors as 8-bit rows.
  const float* position_table_ = nullptr;
  const float* type_table_ = nullptr;
  float* token_copy_ = nullptr;  // Used instead of the table if the model's file does not store it as fp32.
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace footnote::nn
