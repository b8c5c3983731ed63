#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/call_context.h"
#include "base/result.h"
#include "engine/cpu/cpu_level.h"
#include "engine/nn/model_files.h"
#include "engine/nn/transformer.h"
#include "engine/nn/worker_pool.h"

namespace footnote::nn {

struct EncoderOptions {
  std::optional<cpu::CpuLevel> level;  ///< The best that works when it is not said.
  std::size_t threads = 0;             ///< 0: one for each processor.
};

enum class Output { kPooled, kPooledAndTokens };

/// One sequence, encoded.
struct Pooled {
  std::vector<float> vector;         ///< hidden() numbers of unit length.
  float length = 0;                  ///< Of the pooled vector before it was made one.
  std::vector<float> token_vectors;  ///< The last hidden state, tokens x hidden(), not normalised; when asked for.
};

/// A BERT encoder opened from a Hugging Face model folder. It has worker threads of its own, which sleep when idle.
/// Thread-safe. The same tokens give the same bytes alone or in any batch, at any position and with any number of
/// threads, on one kernel level.
class Encoder {
 public:
  static constexpr std::size_t kThreadsMax = 256;

  /// Errors of ModelFiles::open; kFailedPrecondition for a level that the machine lacks; kInvalidArgument for more
  /// than kThreadsMax threads.
  static Result<std::unique_ptr<Encoder>> open(const std::filesystem::path& model_folder, const EncoderOptions& options);

  /// One result for each sequence, in order. Borrows the sequences for the call only. kInvalidArgument: a sequence is
  /// empty, longer than positions_max(), or has an id or type that the model does not. kCancelled, kDeadlineExceeded:
  /// as the call says, checked between micro-batches. kResourceExhausted: too many calls at once.
  Result<std::vector<Pooled>> encode(const CallContext& call, std::span<const TokenSpan> sequences, Output output = Output::kPooled);

  const WordPiece& tokenizer() const { return files_.tokenizer; }
  std::size_t hidden() const { return files_.shape.hidden; }
  /// The model's window, [CLS] and [SEP] included: what its authors trained for.
  std::size_t tokens_max() const { return files_.tokens_max; }
  /// The longest sequence that encode() takes.
  std::size_t positions_max() const { return files_.shape.positions; }
  cpu::CpuLevel level() const { return level_; }
  std::size_t threads() const { return pool_->threads(); }

 private:
  struct Batch {
    std::vector<TokenSpan> sequences;
    std::vector<std::size_t> places;  // Where each sequence stands in the call.
  };

  Encoder(ModelFiles files, cpu::CpuLevel level) : files_(std::move(files)), level_(level) {}
  Result<void> check(std::span<const TokenSpan> sequences) const;
  std::vector<Batch> make_batches(std::span<const TokenSpan> sequences) const;
  void run_batch(const Batch& batch, std::size_t worker, Output output, std::vector<Pooled>& results);
  void pool(std::span<const float> token_vectors, Pooled& result) const;

  // Constant after open.
  const ModelFiles files_;
  const cpu::CpuLevel level_;
  std::optional<const Transformer> transformer_;
  // One a worker; only that worker touches it.
  std::vector<Transformer::Workspace> workspaces_;
  std::unique_ptr<WorkerPool> pool_;  // Last: its threads end before anything they use.
};

}  // namespace footnote::nn
