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
  std::optional<cpu::CpuLevel> level;  ///< nullopt: the fastest usable level.
  std::size_t threads = 0;             ///< 0: one per CPU.
  std::optional<Pooling> pooling;      ///< Overrides the model's pooling.
  const Kernels* kernels = nullptr;    ///< Overrides the level's kernels, so that tests can emulate a level that the machine lacks.
};

enum class Output { kPooled, kPooledAndTokens };

/// Whether someone waits for the result.
enum class Urgency { kUrgent, kBulk };

struct EncodeOptions {
  Output output = Output::kPooled;
  Urgency urgency = Urgency::kBulk;
};

/// The result for one sequence.
struct Pooled {
  std::vector<float> vector;         ///< hidden() values, normalised to unit length.
  float length = 0;                  ///< The length of the pooled vector before normalisation.
  std::vector<float> token_vectors;  ///< The last hidden state, tokens x hidden(), not normalised; only if requested.
};

/// A BERT-like encoder, opened from a Hugging Face model folder. Its threads sleep when idle; the calling thread works too. Sequences of
/// different calls share micro-batches, urgent ones first. Thread-safe. On one kernel level, the same tokens give the same bytes in any
/// batch, at any position, with any number of threads.
class Encoder {
 public:
  static constexpr std::size_t kThreadsMax = 256;
  /// The maximum number of calls running or waiting.
  static constexpr std::size_t kCallsMax = 256;

  /// Errors of ModelFiles::open(); kFailedPrecondition for a level that the machine lacks; kInvalidArgument for more than kThreadsMax
  /// threads.
  static Result<std::unique_ptr<Encoder>> open(const std::filesystem::path& model_folder, const EncoderOptions& options);
  /// REQUIRES: no call is in progress.
  ~Encoder();

  /// One result for each sequence, in order. Borrows the sequences for the call only.
  /// kInvalidArgument: a sequence is empty, longer than positions_max(), or has an unknown id or type. kCancelled, kDeadlineExceeded: the
  /// call ended; sequences not yet started are dropped. kResourceExhausted: kCallsMax calls are already running or waiting.
  Result<std::vector<Pooled>> encode(const CallContext& call, std::span<const TokenSpan> sequences, const EncodeOptions& options = {});

  const ModelFiles& files() const { return files_; }
  const Tokenizer& tokenizer() const { return *files_.tokenizer; }
  std::size_t hidden() const { return files_.shape.hidden; }
  /// The window that the model was trained for, special tokens included.
  std::size_t tokens_max() const { return files_.tokens_max; }
  /// The longest sequence that encode() accepts.
  std::size_t positions_max() const { return files_.shape.positions; }
  cpu::CpuLevel level() const { return level_; }
  std::size_t threads() const { return threads_.size(); }

 private:
  /// A running call. Guarded by mutex_, except for constants and the results: each result is written by one pass.
  struct Request {
    const CallContext* call;
    std::span<const TokenSpan> sequences;
    EncodeOptions options;
    std::vector<std::size_t> order;  // Longest first, so that the last batches are short.
    std::vector<Pooled> results;
    std::size_t next = 0;     // Index in `order` of the first sequence not yet started.
    std::size_t running = 0;  // Sequences that a pass is encoding now.
    Result<void> status = {};
    CondVar changed = {};

    bool finished() const { return next == order.size() && running == 0; }
  };
  struct Place {
    Request* request;
    std::size_t index;
  };
  /// A running micro-batch, which idle threads may join.
  struct Batch {
    Urgency urgency = Urgency::kBulk;
    std::vector<Place> places;
    std::vector<TokenSpan> sequences;
    std::optional<Pass> pass;
    std::optional<StageBoard> board;
    std::size_t helpers = 0;  // Guarded by mutex_.
    CondVar left = {};
  };
  /// The resources of one working thread; there is one per thread. The second workspace is for an urgent batch that interrupts a bulk
  /// batch.
  struct Seat {
    Workspace bulk;
    Workspace urgent;
    MemoryBlock scratch;
  };

  Encoder(ModelFiles files, cpu::CpuLevel level, Pooling pooling) : files_(std::move(files)), level_(level), pooling_(pooling) {}
  Result<void> check(std::span<const TokenSpan> sequences) const;
  void serve();
  /// Runs or joins a batch; false when there was nothing to do. Urgent work comes first. If `least` is kUrgent, does urgent work only.
  bool work(Seat& seat, Urgency least, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  bool has_work() const FOOTNOTE_TSA(requires_capability(mutex_));
  Seat* take_seat() FOOTNOTE_TSA(requires_capability(mutex_));
  void leave_seat(Seat* seat) FOOTNOTE_TSA(requires_capability(mutex_));
  /// False: no request waits, or memory ran out and the requests ended with an error.
  bool gather(Urgency urgency, Batch& batch) FOOTNOTE_TSA(requires_capability(mutex_));
  bool gather_from_queue(Urgency urgency, Batch& batch) FOOTNOTE_TSA(requires_capability(mutex_));
  /// Memory ran out: ends the batch's requests with an error and empties the batch. It must not refer to a request afterwards, because the
  /// caller frees it.
  void give_up(Batch& batch) FOOTNOTE_TSA(requires_capability(mutex_));
  void end_without_memory(Request& request) FOOTNOTE_TSA(requires_capability(mutex_));
  void prepare(Batch& batch, Seat& seat) FOOTNOTE_TSA(requires_capability(mutex_));
  void run(Batch& batch, Seat& seat, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  void join(Batch& batch, Seat& seat, MutexLock& lock) FOOTNOTE_TSA(requires_capability(mutex_));
  /// Runs the batch's next chunk, or waits until one may be available.
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
  std::deque<Request*> urgent_ FOOTNOTE_TSA(guarded_by(mutex_));  // Requests with sequences not yet started.
  std::deque<Request*> bulk_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<Batch*> joinable_ FOOTNOTE_TSA(guarded_by(mutex_));
  std::vector<Seat*> seats_ FOOTNOTE_TSA(guarded_by(mutex_));  // Seats that no thread uses.
  /// The queue has urgent requests: threads that run a bulk batch check this between chunks.
  std::atomic<bool> urgent_waits_ = false;
  std::size_t calls_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
  bool stopping_ FOOTNOTE_TSA(guarded_by(mutex_)) = false;
  std::vector<std::thread> threads_;  // Must be the last member: the threads have to end before the members they use are destroyed.
};

}  // namespace footnote::nn
