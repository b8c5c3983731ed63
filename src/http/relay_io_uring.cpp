#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "http/relay_io.h"

namespace footnote::http {

namespace {

constexpr unsigned kSubmissions = 1'024;  ///< Beyond it a turn is submitted in parts.
constexpr unsigned kCompletions = 8'192;  ///< Beyond it the kernel keeps them for the next turn.
/// Buffers for the kernel's reads. If all are in use, the remaining sockets are read in the next turn. A token fills only the start of one.
constexpr std::uint16_t kBuffers = 256;  // a power of two
constexpr std::size_t kBufferBytes = 4 << 10;
constexpr std::uint16_t kBufferGroup = 1;
constexpr unsigned kFeatureMinWait = 1U << 15;  ///< IORING_FEAT_MIN_TIMEOUT, missing in Debian 12's headers.
constexpr std::chrono::nanoseconds kWaitMax = std::chrono::minutes{1};

/// Memory shared with the kernel.
class Mapping {
 public:
  Mapping() = default;
  /// `descriptor` below 0: anonymous memory.
  Mapping(std::size_t bytes, int descriptor, std::uint64_t offset) : bytes_(bytes) {
    const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
    data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, static_cast<off_t>(offset));
  }
  ~Mapping() {
    if (*this) ::munmap(data_, bytes_);
  }
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, MAP_FAILED)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  explicit operator bool() const { return data_ != MAP_FAILED; }
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + offset);
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

/// A counter shared with the kernel.
std::atomic_ref<unsigned> shared(unsigned* counter) { return std::atomic_ref(*counter); }

/// The submission and completion queues.
class Ring {
 public:
  ~Ring() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool open() {
    io_uring_params params{};
    // The kernel runs its completion work inside our system call, not whenever data arrives: DEFER_TASKRUN, from 6.1, the newest feature we
    // need.
    params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
    params.cq_entries = kCompletions;
    descriptor_ = static_cast<int>(::syscall(__NR_io_uring_setup, kSubmissions, &params));
    if (descriptor_ < 0) return false;
    const std::size_t submission_bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    const std::size_t completion_bytes = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
    can_gather_ = (params.features & kFeatureMinWait) != 0;
    rings_ = Mapping(std::max(submission_bytes, completion_bytes), descriptor_, IORING_OFF_SQ_RING);
    entries_memory_ = Mapping(params.sq_entries * sizeof(io_uring_sqe), descriptor_, IORING_OFF_SQES);
    if (!rings_ || !entries_memory_) return false;
    entries_ = {entries_memory_.at<io_uring_sqe>(0), params.sq_entries};
    submission_head_ = rings_.at<unsigned>(params.sq_off.head);
    submission_tail_ = rings_.at<unsigned>(params.sq_off.tail);
    submission_flags_ = rings_.at<unsigned>(params.sq_off.flags);
    completion_head_ = rings_.at<unsigned>(params.cq_off.head);
    completion_tail_ = rings_.at<unsigned>(params.cq_off.tail);
    completions_ = {rings_.at<io_uring_cqe>(params.cq_off.cqes), params.cq_entries};
    auto* order = rings_.at<unsigned>(params.sq_off.array);
    for (unsigned i = 0; i < params.sq_entries; ++i) order[i] = i;
    return true;
  }

  bool add_buffers(std::uint64_t address, std::uint16_t count, std::uint16_t group) const {
    io_uring_buf_reg request{};
    request.ring_addr = address;
    request.ring_entries = count;
    request.bgid = group;
    return ::syscall(__NR_io_uring_register, descriptor_, IORING_REGISTER_PBUF_RING, &request, 1) == 0;
  }

  /// An empty entry to fill. Submitted by the next `enter`.
  io_uring_sqe& next_entry() {
    if (waiting_entries() == entries_.size()) enter(0, {});
    io_uring_sqe& entry = entries_[tail_++ & (entries_.size() - 1)];
    std::memset(&entry, 0, sizeof entry);
    return entry;
  }

  bool all_submitted() const { return waiting_entries() == 0; }
  /// The kernel holds completions that did not fit the queue; `enter` fetches them.
  bool has_overflow() const { return (shared(submission_flags_).load(std::memory_order_relaxed) & IORING_SQ_CQ_OVERFLOW) != 0; }

  /// Whether `enter` supports a gather time: Linux 6.12 or newer.
  bool can_gather() const { return can_gather_; }

  /// Submits the filled entries, then waits for that many completions; after `gather_time` for one.
  void enter(unsigned completions_min, std::chrono::nanoseconds time_max, std::chrono::nanoseconds gather_time = {}) {
    shared(submission_tail_).store(tail_, std::memory_order_release);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time_max);
    const __kernel_timespec time{seconds.count(), (time_max - seconds).count()};
    io_uring_getevents_arg argument{};
    argument.ts = reinterpret_cast<std::uint64_t>(&time);
    argument.pad = static_cast<unsigned>(gather_time / std::chrono::microseconds{1});  // min_wait_usec in newer headers
    const unsigned flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG;
    // The queues show the outcome.
    (void)::syscall(__NR_io_uring_enter, descriptor_, waiting_entries(), completions_min, flags, &argument, sizeof argument);
  }

  template <class Take>
  void take_completions(Take take) {
    const unsigned end = shared(completion_tail_).load(std::memory_order_acquire);
    unsigned head = *completion_head_;
    for (; head != end; ++head) take(completions_[head & (completions_.size() - 1)]);
    shared(completion_head_).store(head, std::memory_order_release);
  }

 private:
  unsigned waiting_entries() const { return tail_ - shared(submission_head_).load(std::memory_order_acquire); }

  int descriptor_ = -1;
  bool can_gather_ = false;
  Mapping rings_;
  Mapping entries_memory_;
  std::span<io_uring_sqe> entries_;
  std::span<io_uring_cqe> completions_;
  unsigned* submission_head_ = nullptr;
  unsigned* submission_tail_ = nullptr;
  unsigned* submission_flags_ = nullptr;
  unsigned* completion_head_ = nullptr;
  unsigned* completion_tail_ = nullptr;
  unsigned tail_ = 0;  // end of the filled entries
};

/// Buffers from which the kernel picks one for each read.
class Buffers {
 public:
  bool open(const Ring& ring) {
    ring_ = Mapping(kBuffers * sizeof(io_uring_buf), -1, 0);
    memory_ = Mapping(kBuffers * kBufferBytes, -1, 0);
    if (!ring_ || !memory_ || !ring.add_buffers(reinterpret_cast<std::uint64_t>(ring_.at<void>(0)), kBuffers, kBufferGroup)) return false;
    for (std::uint16_t i = 0; i < kBuffers; ++i) give(i);
    publish();
    return true;
  }
  char* data(std::uint16_t buffer) const { return memory_.at<char>(buffer * kBufferBytes); }
  void give(std::uint16_t buffer) {
    // Not through `bufs` of io_uring_buf_ring: in C++ its offset is eight bytes too large.
    io_uring_buf& entry = ring_.at<io_uring_buf>(0)[tail_++ & (kBuffers - 1)];
    entry.addr = reinterpret_cast<std::uint64_t>(data(buffer));
    entry.len = kBufferBytes;
    entry.bid = buffer;
  }
  void publish() { std::atomic_ref(ring_.at<io_uring_buf_ring>(0)->tail).store(tail_, std::memory_order_release); }

 private:
  Mapping ring_;
  Mapping memory_;
  std::uint16_t tail_ = 0;
};

/// The operation of a completion: the lowest bits of user_data; the other bits are the pair's address.
enum class Kind : std::uint64_t { kRead, kWrite, kCancel, kWake };
constexpr std::uint64_t kKindMask = 3;
static_assert(alignof(RelayPair) > kKindMask);

std::uint64_t tagged(const RelayPair* pair, Kind kind) { return reinterpret_cast<std::uint64_t>(pair) | static_cast<std::uint64_t>(kind); }

class UringRelayIo final : public RelayIo {
 public:
  UringRelayIo(int wake, Handler& handler) : wake_(wake), handler_(handler) {}

  bool open() {
    if (!ring_.open() || !buffers_.open(ring_)) return false;
    await_wake();
    return true;
  }

  bool start(RelayPair& pair) override {
    await_bytes(pair);
    return true;
  }

  void stop(RelayPair& pair) override {
    if (std::exchange(pair.stopping, true)) return;
    if (pair.reading) {
      io_uring_sqe& entry = ring_.next_entry();
      entry.opcode = IORING_OP_ASYNC_CANCEL;
      entry.fd = -1;
      entry.addr = tagged(&pair, Kind::kRead);
      entry.user_data = tagged(nullptr, Kind::kCancel);
    }
    settle(pair);
  }

  void write(RelayPair& pair) override {
    pair.writing = true;
    io_uring_sqe& entry = ring_.next_entry();
    entry.opcode = IORING_OP_SEND;
    entry.flags = IOSQE_CQE_SKIP_SUCCESS;
    entry.fd = pair.to;
    entry.addr = reinterpret_cast<std::uint64_t>(pair.output.data());
    entry.len = static_cast<unsigned>(std::min<std::size_t>(pair.output.size(), 1U << 30));
    // All or nothing: only a failure completes and ends the wait.
    entry.msg_flags = MSG_DONTWAIT | MSG_WAITALL | MSG_NOSIGNAL;
    entry.user_data = tagged(&pair, Kind::kWrite);
    writing_.push_back(&pair);
  }

  void wait(std::chrono::nanoseconds time_max, std::chrono::nanoseconds gather_time) override {
    if (gather_time.count() > 0 && !ring_.can_gather()) {
      ring_.enter(0, {});
      std::this_thread::sleep_for(gather_time);
      gather_time = {};
    }
    ring_.enter(gather_time.count() > 0 ? kBuffers : 1, std::min(time_max, kWaitMax), gather_time);
  }

  void dispatch() override {
    const bool all_submitted = ring_.all_submitted();
    const auto take_one = [this](const io_uring_cqe& completion) { take(completion); };
    ring_.take_completions(take_one);
    while (ring_.has_overflow()) {
      ring_.enter(0, {});
      ring_.take_completions(take_one);
    }
    if (all_submitted) take_writes();
    std::erase_if(writing_, [](const RelayPair* pair) { return !pair->writing; });
    buffers_.publish();
  }

 private:
  void await_bytes(RelayPair& pair) {
    pair.reading = true;
    io_uring_sqe& entry = ring_.next_entry();
    entry.opcode = IORING_OP_RECV;
    entry.fd = pair.from;
    entry.ioprio = IORING_RECV_MULTISHOT;
    entry.flags = IOSQE_BUFFER_SELECT;
    entry.buf_group = kBufferGroup;
    entry.user_data = tagged(&pair, Kind::kRead);
  }

  void await_wake() {
    io_uring_sqe& entry = ring_.next_entry();
    entry.opcode = IORING_OP_READ;
    entry.fd = wake_;
    entry.addr = reinterpret_cast<std::uint64_t>(&woken_);
    entry.len = sizeof woken_;
    entry.user_data = tagged(nullptr, Kind::kWake);
  }

  void take(const io_uring_cqe& completion) {
    auto* pair = reinterpret_cast<RelayPair*>(completion.user_data & ~kKindMask);
    switch (static_cast<Kind>(completion.user_data & kKindMask)) {
      case Kind::kRead: return take_read(*pair, completion);
      case Kind::kWrite: return take_write(*pair, static_cast<std::size_t>(std::max(completion.res, 0)), std::max(-completion.res, 0));
      case Kind::kCancel: return;
      case Kind::kWake: return await_wake();
    }
  }

  /// A write never waits, so it is finished once submitted, and is complete unless it failed.
  void take_writes() {
    for (RelayPair* pair : writing_) {
      if (pair->writing) take_write(*pair, pair->output.size(), 0);
    }
  }

  void take_write(RelayPair& pair, std::size_t bytes, int error) {
    pair.writing = false;
    handler_.on_written(pair, bytes, error);
    settle(pair);
  }

  void take_read(RelayPair& pair, const io_uring_cqe& completion) {
    pair.reading = (completion.flags & IORING_CQE_F_MORE) != 0;
    const int result = completion.res;
    if (result > 0) {
      const auto buffer = static_cast<std::uint16_t>(completion.flags >> IORING_CQE_BUFFER_SHIFT);
      handler_.on_read(pair, {buffers_.data(buffer), static_cast<std::size_t>(result)});
      buffers_.give(buffer);
    } else if (result != -ENOBUFS && result != -ECANCELED && result != -EAGAIN && result != -EINTR) {
      handler_.on_read_end(pair, -result);
    }
    if (!pair.reading && !pair.stopping) await_bytes(pair);
    settle(pair);
  }

  void settle(RelayPair& pair) {
    if (!pair.stopping || pair.reading || pair.writing || std::exchange(pair.stopped, true)) return;
    handler_.on_stopped(pair);
  }

  const int wake_;
  Handler& handler_;
  // The ring must be destroyed before the memory that it refers to.
  std::uint64_t woken_ = 0;
  Buffers buffers_;
  Ring ring_;
  std::vector<RelayPair*> writing_;
};

}  // namespace

std::unique_ptr<RelayIo> make_uring_relay_io(int wake, RelayIo::Handler& handler) {
  auto io = std::make_unique<UringRelayIo>(wake, handler);
  return io->open() ? std::move(io) : nullptr;
}

}  // namespace footnote::http
