#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/nn/memory_block.h"
#include "engine/nn/transformer.h"

namespace footnote::nn {

/// Memory for one pass over at most `tokens_max()` tokens. Used by one pass at a time.
class Workspace {
 public:
  static Result<Workspace> make(const Transformer& transformer, std::size_t tokens_max);
  std::size_t tokens_max() const { return tokens_max_; }

 private:
  friend class Pass;
  std::size_t tokens_max_ = 0;
  std::size_t capacity_ = 0;  // Rows of every buffer. More than tokens, because kernels read past the last token.
  MemoryBlock memory_;
  float* hidden_ = nullptr;
  float* mixed_ = nullptr;  // The output of attention; kFloat and kInt8.
  float* wide_ = nullptr;   // Results of a few rows before conversion to the next format.
  Rows hidden_rows_;
  Rows projected_;
  Rows mixed_rows_;
  Rows feed_rows_;
};

/// Runs all layers over some sequences, stored one after the other without padding. The work is a list of stages that run in order; the
/// chunks of a stage may run on any threads in any order. A sequence's bytes depend on its own tokens alone. REQUIRES: ids, types and
/// lengths are in the model's range, and all tokens fit the workspace.
class Pass {
 public:
  /// `threads`: the number of threads that may help. Borrows everything.
  Pass(const Transformer& transformer, std::span<const TokenSpan> sequences, Workspace& workspace, std::size_t threads);

  /// Bytes of scratch memory that each thread needs.
  static std::size_t scratch_bytes(const Transformer& transformer, std::size_t tokens_max);

  std::size_t stages() const { return stages_.size(); }
  std::size_t chunks(std::size_t stage) const { return stages_[stage].chunks; }
  /// Thread-safe for different chunks of one stage. REQUIRES: all earlier stages are done.
  void run(std::size_t stage, std::size_t chunk, std::byte* scratch) const;

  /// The last hidden states, tokens x hidden, after all stages. A view into the workspace.
  std::span<const float> hidden() const;

 private:
  enum class Step : std::uint8_t {
    kEmbed,
    kProject,  // Queries, keys and values.
    kAttend,
    kOutput,  // Adds the output of attention to the hidden state and normalises it.
    kFeedIn,
    kFeedOut,
    // For few rows, split among the threads: all steps that need no other rows are fused.
    kToFirstAttention,
    kToNextAttention,
    // For even fewer rows: the columns are split, and steps that need whole rows are separate stages.
    kProjectColumns,
    kSplitHeads,
    kPrepareMixed,
    kOutputColumns,
    kOutputNorm,
    kFeedInColumns,
    kPrepareFeed,
    kFeedOutColumns,
    kFeedOutNorm,
  };
  struct Stage {
    Step step;
    std::uint16_t layer;
    std::uint32_t chunks;
  };
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t size() const { return end - begin; }
  };

  void plan_by_rows();
  void plan_by_shares();
  void plan_by_columns();
  std::uint32_t column_chunks(std::size_t columns) const;
  Range columns_of(const Matrix& matrix, std::size_t chunk, std::size_t chunks) const;
  Range rows_of(std::size_t chunk) const;

  void embed(Range rows) const;
  void project(const Transformer::Layer& layer, Range rows, float* wide) const;
  void split_heads(Range rows, float* wide) const;
  void attend(std::size_t chunk, std::byte* scratch) const;
  void prepare_mixed(Range rows) const;
  void output(const Transformer::Layer& layer, Range rows) const;
  void feed_in(const Transformer::Layer& layer, Range rows, float* wide) const;
  void prepare_feed(const Matrix& next, Range rows, float* wide) const;
  void feed_out(const Transformer::Layer& layer, Range rows) const;
  void normalise(const Norm& norm, Range rows) const;
  void multiply(const Rows& left, const Matrix& matrix, Range rows, Range columns, Epilogue epilogue, float* out, std::size_t out_stride,
                const Rows& out_rows = {}) const;
  std::size_t wide_stride() const;
  bool writes_rows() const { return transformer_.kernels().format == Format::kBf16; }
  bool is_int8() const { return transformer_.kernels().format == Format::kInt8; }

  const Transformer& transformer_;
  const std::span<const TokenSpan> sequences_;
  Workspace& workspace_;
  const std::size_t threads_;
  std::vector<std::size_t> first_row_;  // First row of each sequence, and the end of the last one.
  std::vector<Stage> stages_;
  std::size_t head_groups_ = 1;
};

}  // namespace footnote::nn
