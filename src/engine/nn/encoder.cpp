#include "engine/nn/encoder.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <numeric>
#include <ranges>
#include <system_error>
#include <utility>

#include "base/assert.h"

namespace footnote::nn {
namespace {

// Tokens per micro-batch: enough to read weights from memory rarely, few enough to keep activations in the cache and to end a cancelled
// call soon.
constexpr std::size_t kBatchTokens = 256;

/// The fastest level that works and passes the numeric self-test.
cpu::CpuLevel best_level() {
  for (const cpu::CpuLevel level : std::views::reverse(cpu::usable_cpu_levels())) {
    if (kernels_agree(level)) return level;
  }
  return cpu::CpuLevel::kPortable;
}

}  // namespace

Result<std::unique_ptr<Encoder>> Encoder::open(const std::filesystem::path& model_folder, const EncoderOptions& options) {
  if (options.threads > kThreadsMax) return fail(ErrorCode::kInvalidArgument, "more than {} encoder threads", kThreadsMax);
  if (options.level) FOOTNOTE_CHECK(cpu::require_cpu_level(*options.level));
  const cpu::CpuLevel level = options.level ? *options.level : best_level();
  FOOTNOTE_TRY(ModelFiles files, ModelFiles::open(model_folder));
  const Pooling pooling = options.pooling.value_or(files.pooling);
  std::unique_ptr<Encoder> out(new Encoder(std::move(files), level, pooling));
  const Kernels* kernels = options.kernels != nullptr ? options.kernels : kernels_of(level);
  FOOTNOTE_ASSERT(kernels != nullptr);
  FOOTNOTE_TRY(Transformer transformer, Transformer::load(out->files_, *kernels));
  out->transformer_.emplace(std::move(transformer));
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = options.threads != 0 ? options.threads : std::min(processors, kThreadsMax);
  const std::size_t tokens = std::max(kBatchTokens, out->positions_max());
  for (std::size_t i = 0; i < threads; ++i) {
    FOOTNOTE_TRY(auto bulk, Workspace::make(*out->transformer_, tokens));
    FOOTNOTE_TRY(auto urgent, Workspace::make(*out->transformer_, tokens));
    FOOTNOTE_TRY(auto scratch, MemoryBlock::allocate(Pass::scratch_bytes(*out->transformer_, tokens)));
    out->all_seats_.push_back(std::make_unique<Seat>(std::move(bulk), std::move(urgent), std::move(scratch)));
  }
  {
    const MutexLock lock(out->mutex_);
    for (const auto& seat : out->all_seats_) out->seats_.push_back(seat.get());
  }
  try {
    for (std::size_t i = 0; i < threads; ++i) out->threads_.emplace_back([raw = out.get()] { raw->serve(); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kResourceExhausted, "can't start {} threads: {}", threads, error.what());
  }
  return out;
}

Encoder::~Encoder() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Result<void> Encoder::check(std::span<const TokenSpan> sequences) const {
  const EncoderShape& shape = files_.shape;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const TokenSpan& sequence = sequences[i];
    const auto bad = [&](std::string_view what) { return fail(ErrorCode::kInvalidArgument, "sequence {} {}", i, what); };
    if (sequence.ids.empty()) return bad("has no tokens");
    if (sequence.ids.size() > shape.positions) return bad("is longer than the model's positions");
    if (!sequence.types.empty() && sequence.types.size() != sequence.ids.size()) return bad("has not one type per token");
    if (std::ranges::any_of(sequence.ids, [&](std::uint32_t id) { return id >= shape.vocabulary; })) {
      return bad("has an id outside the vocabulary");
    }
    if (std::ranges::any_of(sequence.types, [&](std::uint8_t type) { return type >= shape.token_types; })) {
      return bad("has a type that the model does not know");
    }
  }
  return {};
}

Result<std::vector<Pooled>> Encoder::encode(const CallContext& call, std::span<const TokenSpan> sequences, const EncodeOptions& options) {
  FOOTNOTE_CHECK(check(sequences));
  FOOTNOTE_CHECK(call.check());
  if (sequences.empty()) return std::vector<Pooled>();
  Request request{.call = &call, .sequences = sequences, .options = options, .order = {}, .results = std::vector<Pooled>(sequences.size())};
  request.order.resize(sequences.size());
  std::iota(request.order.begin(), request.order.end(), std::size_t{0});
  std::ranges::sort(request.order, [&](std::size_t a, std::size_t b) {
    return sequences[a].ids.size() != sequences[b].ids.size() ? sequences[a].ids.size() > sequences[b].ids.size() : a < b;
  });
  // Declared before the lock: a stop request runs this callback at once, and its destructor waits for a running callback.
  const std::stop_callback on_stop(call.stop, [&] {
    const MutexLock lock(mutex_);
    request.changed.notify_all();
  });
  MutexLock lock(mutex_);
  if (calls_ >= kCallsMax) return fail(ErrorCode::kResourceExhausted, "{} calls are waiting already", kCallsMax);
  queue_of(options.urgency).push_back(&request);
  ++calls_;
  if (options.urgency == Urgency::kUrgent) urgent_waits_ = true;
  // The calling thread works too: a short question need not wait for another thread to wake up.
  Seat* seat = take_seat();
  if (!seats_.empty()) work_arrived_.notify_all();
  while (!request.finished()) {
    if (seat != nullptr) {
      if (work(*seat, options.urgency, lock)) continue;
      leave_seat(std::exchange(seat, nullptr));
    } else if (request.next == request.order.size()) {
      request.changed.wait(lock);  // Running passes use the caller's memory, so wait for them in any case.
    } else if (auto alive = call.check(); !alive) {
      drop(request, std::move(alive).error());
    } else {
      request.changed.wait_until(lock, call.deadline);
    }
  }
  if (seat != nullptr) leave_seat(seat);
  --calls_;
  if (!request.status) return std::unexpected(std::move(request.status).error());
  return std::move(request.results);
}

void Encoder::serve() {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (!has_work() || seats_.empty()) {
      work_arrived_.wait(lock);
      continue;
    }
    Seat* seat = take_seat();
    while (work(*seat, Urgency::kBulk, lock)) {
    }
    leave_seat(seat);
  }
}

bool Encoder::has_work() const { return !urgent_.empty() || !bulk_.empty() || !joinable_.empty(); }

Encoder::Seat* Encoder::take_seat() {
  if (seats_.empty()) return nullptr;
  Seat* seat = seats_.back();
  seats_.pop_back();
  return seat;
}

void Encoder::leave_seat(Seat* seat) {
  seats_.push_back(seat);
  if (has_work()) work_arrived_.notify_one();
}

bool Encoder::work(Seat& seat, Urgency least, MutexLock& lock) {
  Batch batch;
  if (gather(Urgency::kUrgent, batch) || (least == Urgency::kBulk && gather(Urgency::kBulk, batch))) {
    run(batch, seat, lock);
    return true;
  }
  const auto urgent = std::ranges::find(joinable_, Urgency::kUrgent, &Batch::urgency);
  if (urgent != joinable_.end()) {
    join(**urgent, seat, lock);
  } else if (least == Urgency::kBulk && !joinable_.empty()) {
    join(*joinable_.back(), seat, lock);
  } else {
    return false;
  }
  return true;
}

bool Encoder::gather(Urgency urgency, Batch& batch) {
  try {
    return gather_from_queue(urgency, batch);
  } catch (const std::bad_alloc&) {
    // The request that ran out of memory is the first of the queue; some of its sequences may be in the batch.
    std::deque<Request*>& queue = queue_of(urgency);
    if (!queue.empty()) end_without_memory(*queue.front());
    give_up(batch);
    return false;
  }
}

void Encoder::end_without_memory(Request& request) {
  drop(request, Error{ErrorCode::kUnavailable, "out of memory", {}});
  if (request.finished()) request.changed.notify_all();
}

void Encoder::give_up(Batch& batch) {
  batch.places.resize(batch.sequences.size());  // The last place may have no sequence.
  for (const Place& place : batch.places) --place.request->running;
  for (const Place& place : batch.places) end_without_memory(*place.request);
  batch.places.clear();
  batch.sequences.clear();
}

// Round robin: a request that still has sequences goes to the end of its queue.
bool Encoder::gather_from_queue(Urgency urgency, Batch& batch) {
  std::deque<Request*>& queue = queue_of(urgency);
  std::size_t tokens = 0;
  bool full = false;
  while (!queue.empty() && !full) {
    Request& request = *queue.front();
    if (auto alive = request.call->check(); !alive) {
      drop(request, std::move(alive).error());
      if (request.finished()) request.changed.notify_all();
      continue;
    }
    for (; request.next < request.order.size(); ++request.next) {
      const std::size_t index = request.order[request.next];
      const std::size_t length = request.sequences[index].ids.size();
      full = !batch.places.empty() && tokens + length > kBatchTokens;
      if (full) break;
      tokens += length;
      batch.places.push_back({&request, index});
      batch.sequences.push_back(request.sequences[index]);
      ++request.running;
    }
    if (request.next < request.order.size()) queue.push_back(&request);
    queue.pop_front();
  }
  if (urgency == Urgency::kUrgent) urgent_waits_ = !queue.empty();
  batch.urgency = urgency;
  return !batch.places.empty();
}

void Encoder::prepare(Batch& batch, Seat& seat) {
  const bool urgent = batch.urgency == Urgency::kUrgent;
  batch.pass.emplace(*transformer_, batch.sequences, urgent ? seat.urgent : seat.bulk, threads_.size());
  std::vector<std::uint32_t> chunks(batch.pass->stages());
  for (std::size_t stage = 0; stage < chunks.size(); ++stage) chunks[stage] = static_cast<std::uint32_t>(batch.pass->chunks(stage));
  batch.board.emplace(std::move(chunks));
  joinable_.push_back(&batch);
}

void Encoder::run(Batch& batch, Seat& seat, MutexLock& lock) {
  const bool urgent = batch.urgency == Urgency::kUrgent;
  try {
    prepare(batch, seat);
  } catch (const std::bad_alloc&) {
    return give_up(batch);
  }
  lock.native().unlock();
  while (!batch.board->finished()) {
    if (!urgent && urgent_waits_) {
      lock.native().lock();
      run_urgent(seat, lock);
      lock.native().unlock();
    }
    run_chunk(batch, seat);
  }
  std::exception_ptr thrown;
  try {
    pool(batch);
  } catch (...) {  // Last resort: out of memory.
    thrown = std::current_exception();
  }
  lock.native().lock();

  std::erase(joinable_, &batch);
  while (batch.helpers > 0) batch.left.wait(lock);
  for (const Place& place : batch.places) {
    Request& request = *place.request;
    --request.running;
    if (thrown) end_without_memory(request);
    if (request.finished()) request.changed.notify_all();
  }
}

void Encoder::run_chunk(Batch& batch, Seat& seat) {
  if (const auto chunk = batch.board->take()) {
    batch.pass->run(chunk->stage, chunk->index, seat.scratch.data());
    batch.board->done(*chunk);
  } else {
    batch.board->wait();
  }
}

void Encoder::run_urgent(Seat& seat, MutexLock& lock) {
  Batch batch;
  if (gather(Urgency::kUrgent, batch)) run(batch, seat, lock);
}

void Encoder::join(Batch& batch, Seat& seat, MutexLock& lock) {
  const bool urgent = batch.urgency == Urgency::kUrgent;
  ++batch.helpers;
  lock.native().unlock();
  while (!batch.board->finished() && (urgent || !urgent_waits_)) {
    run_chunk(batch, seat);
  }
  lock.native().lock();
  if (batch.board->finished()) std::erase(joinable_, &batch);  // No thread needs to join it any more.
  if (--batch.helpers == 0) batch.left.notify_all();
}

void Encoder::drop(Request& request, Error error) {
  if (request.status) request.status = std::unexpected(std::move(error));
  request.next = request.order.size();
  std::erase(queue_of(request.options.urgency), &request);
}

void Encoder::pool(const Batch& batch) const {
  std::span<const float> rest = batch.pass->hidden();
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    const std::span<const float> own = rest.first(batch.sequences[i].ids.size() * hidden());
    rest = rest.subspan(own.size());
    Request& request = *batch.places[i].request;
    request.results[batch.places[i].index] = pool_one(own, request.options.output);
  }
}

Pooled Encoder::pool_one(std::span<const float> token_vectors, Output output) const {
  const std::size_t width = hidden();
  const std::size_t rows = pooling_ == Pooling::kMean ? token_vectors.size() / width : 1;
  Pooled out;
  out.vector.assign(width, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t k = 0; k < width; ++k) out.vector[k] += token_vectors[row * width + k];
  }
  double squares = 0;
  for (const float value : out.vector) squares += static_cast<double>(value) * value;
  const double length = std::sqrt(squares);
  const auto factor = static_cast<float>(length > 0 ? 1.0 / length : 0.0);
  for (float& value : out.vector) value *= factor;
  out.length = static_cast<float>(length / static_cast<double>(rows));
  if (output == Output::kPooledAndTokens) out.token_vectors.assign(token_vectors.begin(), token_vectors.end());
  return out;
}

}  // namespace footnote::nn
