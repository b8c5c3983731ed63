#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/nn/float_buffer.h"
#include "engine/nn/kernels.h"
#include "engine/nn/model_files.h"

namespace footnote::nn {

/// Token ids of one sequence, framed as the model expects; `types` is empty (all zero) or of the same length.
/// Views: the caller keeps the memory.
struct TokenSpan {
  std::span<const std::uint32_t> ids;
  std::span<const std::uint8_t> types = {};
};

/// The layers of a BERT encoder at one kernel level. Weights are packed at load; after that immutable, so any number
/// of threads may run it, each with a Workspace of its own.
class Transformer {
 public:
  /// Memory for one forward pass over at most `tokens_max()` tokens. Belongs to one thread at a time.
  class Workspace {
   public:
    std::size_t tokens_max() const { return tokens_max_; }

   private:
    friend class Transformer;
    std::size_t tokens_max_ = 0;
    FloatBuffer hidden_;
    FloatBuffer projected_;  // Queries, keys and values side by side; then the first half of the feed-forward block.
    FloatBuffer mixed_;
    FloatBuffer added_;
    FloatBuffer scores_;
    FloatBuffer keys_;
    FloatBuffer values_;
  };

  /// kCorrupted when a tensor is missing or has another shape. Borrows the token table: `files` must outlive this.
  static Result<Transformer> load(const ModelFiles& files, const Kernels& kernels);

  Result<Workspace> make_workspace(std::size_t tokens_max) const;

  /// Runs all layers over the sequences, which lie one after the other with no padding between them, and returns
  /// their last hidden states in the same order: a view into the workspace, tokens x hidden.
  /// A sequence's bytes depend on its own tokens alone. REQUIRES: ids, types and lengths are in the model's range and
  /// all tokens fit the workspace.
  std::span<const float> forward(std::span<const TokenSpan> sequences, Workspace& workspace) const;

  const EncoderShape& shape() const { return shape_; }

 private:
  struct Norm {
    std::span<const float> gain;
    std::span<const float> shift;
  };
  struct Layer {
    PackedMatrix query_key_value;
    PackedMatrix attention_output;
    Norm attention_norm;
    PackedMatrix feed_forward_in;
    PackedMatrix feed_forward_out;
    Norm output_norm;
  };
  class Loader;

  Transformer() = default;
  void embed(std::span<const TokenSpan> sequences, Workspace& workspace) const;
  void attend(std::size_t first_token, std::size_t length, Workspace& workspace) const;
  void attend_head(std::size_t first_token, std::size_t length, std::size_t head, Workspace& workspace) const;
  void multiply(const PackedMatrix& matrix, std::size_t rows, const float* left, float* out, Activation activation) const;
  void add_norm(const Norm& norm, std::size_t rows, const float* addend, float* rows_in_place) const;

  EncoderShape shape_;
  const Kernels* kernels_ = nullptr;
  std::span<const float> token_table_;
  std::span<const float> position_table_;
  std::span<const float> type_table_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace footnote::nn
