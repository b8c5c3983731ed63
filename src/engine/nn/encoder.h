#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/call_context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "engine/cpu/cpu_level.h"
#include "engine/nn/model_files.h"
#include "engine/nn/pass.h"
#include "engine/nn/stage_board.h"
#include "engine/nn/transformer.h"

namespace footnote::nn {

struct EncoderOptions {
  std::optional<cpu::CpuLevel> level;  ///< The best that works when it is not said.
  std::size_t threads = 0;             ///< 0: one for each processor.
  std::optional<Pooling> pooling;      ///< Another than the model's own.
  const Kernels* kernels = nullptr;    ///< Instead of a level's: for tests of a level that the machine lacks.
};

enum class Output { kPooled, kPooledAndTokens };

/// Somebody waits for an answer, or work that may wait.
enum class Urgency { kUrgent, kBulk };

struct EncodeOptions {
  Output output = Output::kPooled;
  Urgency urgency = Urgency::kBulk;
};

/// One sequence, encoded.
struct Pooled {
  std::vector<float> vector;         ///< hidden() numbers of unit length.
  float length = 0;                  ///< What the pooled vector was divided by to be of unit length.
  std::vector<float> token_vectors;  ///< The last hidden state, tokens x hidden(), not normalised; when asked for.
};

/// A BERT-shaped encoder opened from a Hugging Face model folder. Its threads sleep when idle; a caller's own thread works
/// along. Sequences of different calls share micro-batches, urgent ones first. Thread-safe. The same tokens give the same
/// bytes alone or in any batch, at any position and with any number of threads, on one kernel level.
class Encoder {
 public:
  static constexpr std::size_t kThreadsMax = 256;
  /// Calls that may be under way or waiting at once.
  static constexpr std::size_t kCallsMax = 256;

  /// Errors of ModelFiles::open; kFailedPrecondition for a level that the machine lacks; kInvalidArgument for more
  /// than kThreadsMax threads.
  static Result<std::unique_ptr<Encoder>> open(const std::filesystem::path& model_folder, const EncoderOptions& options);
  /// REQUIRES: no call is under way.
  ~Encoder();

  /// One result for each sequence, in order. Borrows the sequences for the call only. kInvalidArgument: a sequence is
  /// empty, longer than positions_max(), or has an id or type that the model does not. kCancelled, kDeadlineExceeded:
  /// as the call says; what was not begun is dropped. kResourceExhausted: kCallsMax calls are in already.
  Result<std::vector<Pooled>> encode(const CallContext& call, std::span<const TokenSpan> sequences, const EncodeOptions& options = {});

  const ModelFiles& files() const { return files_; }
  const Tokenizer& tokenizer() const { return *files_.tokenizer; }
  std::size_t hidden() const { return files_.shape.hidden; }
  /// The model's window, marks included: what its authors trained for.
  std::size_t tokens_max() const { return files_.tokens_max; }
  /// The longest sequence that encode() takes.
  std::size_t positions_max() const { return files_.shape.positions; }
  cpu::CpuLevel level() const { return level_; }
  std::size_t threads() const { return threads_.size(); }

 private:
  /// A call under way. Guarded by mutex_ but for what is constant and the results, each of which one pass writes.
  struct Request {
    const CallContext* call;
    std::span<const TokenSpan> sequences;
    EncodeOptions options;
    std::vector<std::size_t> order;  // Longest first, so that what is left for the end is short.
    std::vector<Pooled> results;
    std::size_t next = 0;     // In `order`: not begun yet.
    std::size_t running = 0;  // In passes.
    Result<void> status = {};
    CondVar changed = {};

    bool finished() const { return next == order.size() && running == 0; }
  };
  struct Place {
    Request* request;
    std::size_t index;
  };
  /// A micro-batch under way, which idle threads may join.
  struct Batch {
    Urgency urgency = Urgency::kBulk;
    std::vector<Place> places;
    std::vector<TokenSpan> sequences;
    std::optional<Pass> pass;
    std::optional<StageBoard> board;
    std::size_t helpers = 0;  // Guarded by mutex_.
    CondVar left = {};
  };
  /// What a thread needs to work: one of as many as there are threads. The second workspace is for an urgent batch that is
  /// run in the midst of one that can wait.
  struct Seat {
    Workspace bulk;
    Workspace urgent;
    MemoryBlock scratch;
  };

  Encoder(ModelFiles files, cpu::CpuLevel level, Pooling pooling) : files_(std::move(files)), level_(level), pooling_(pooling) {}
  Result<void> check(std::span<const TokenSpan> sequences) const;
  void serve();
  /// Runs a batch or joins one; false when there was nothing to do. Urgent work first; with kUrgent nothing else.
  bool work(Seat& seat, Urgency least, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  bool has_work() const FOOTNOTE_TSA(requires_capability(mutex_));
  Seat* take_seat() FOOTNOTE_TSA(requires_capability(mutex_));
  void leave_seat(Seat* seat) FOOTNOTE_TSA(requires_capability(mutex_));
  bool gather(Urgency urgency, Batch& batch) FOOTNOTE_TSA(requires_capability(mutex_));
  void run(Batch& batch, Seat& seat, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  void join(Batch& batch, Seat& seat, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  /// Runs the batch's next chunk, or waits until there may be one.
  static void run_chunk(Batch& batch, Seat& seat);
  void run_urgent(Seat& seat, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  void drop(Request& request, Error error) FOOTNOTE_TSA(requires_capability(mutex_));
  std::deque<Request*>& queue_of(Urgency urgency) FOOTNOTE_TSA(requires_capability(mutex_)) {
    return urgency == Urgency::kUrgent ? urgent_ : bulk_;
  }
  void pool(const Batch& batch) const;
  Pooled pool_one(std::span<const float> token_vectors, Output output) const;

  // Constant after open.
  const ModelFiles files_;
  const cpu::CpuLevel level_;
  const Pooling pooling_;
  std::optional<const Transformer> transformer_;
  std::vector<std::unique_ptr<Seat>> all_seats_;

  Mutex mutex_;
  CondVar work_arrived_;
  std::deque<Request*> urgent_ FOOTNOTE_TSA(guarded_by(mutex_));  // Requests with sequences not begun yet.
  std::deque<Request*> bulk_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<Batch*> joinable_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<Seat*> seats_ FOOTNOTE_TSA(guarded_by(mutex_));  // Free ones.
  /// There are urgent requests in the queue: who runs a batch that can wait looks at it between chunks.
  std::atomic<bool> urgent_waits_ = false;
  std::size_t calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool stopping_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::vector<std::thread> threads_;  // Last: they end before anything they use.
};

}  // namespace footnote::nn
