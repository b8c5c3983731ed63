#include "http/relay_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <system_error>
#include <utility>

namespace footnote::http {

namespace {

constexpr std::chrono::nanoseconds kLongWait = std::chrono::minutes{1};
/// When pieces arrive closer together than this, turns are spaced by it: a turn then handles several pieces, and the loop and its clients
/// wake up less often, which costs as much as a piece itself.
constexpr std::chrono::microseconds kGatherTime{1'000};
/// With fewer streams there is little to batch.
constexpr std::size_t kGatherStreamsMin = 8;
/// A read of this size belongs to a response that arrives at full speed: batching would slow it down.
constexpr std::size_t kBulkBytes = 4 << 10;

int make_wake() {
  const int wake = ::eventfd(0, EFD_CLOEXEC);
  if (wake < 0) throw std::system_error(errno, std::system_category(), "eventfd");
  return wake;
}

}  // namespace

RelayLoop::RelayLoop(Backend backend) : wake_(make_wake()) {
  std::promise<bool> started;
  std::future<bool> is_ready = started.get_future();
  // Created on the thread: io_uring may be used only by the thread that creates it.
  thread_ = std::thread([this, backend, started = std::move(started)]() mutable {
    if (backend == Backend::kBest) io_ = make_uring_relay_io(wake_, *this);
    if (io_ == nullptr) io_ = make_epoll_relay_io(wake_, *this);
    const bool ready = io_ != nullptr;
    started.set_value(ready);
    if (ready) run();
  });
  if (is_ready.get()) return;
  thread_.join();
  ::close(wake_);
  throw std::system_error(EMFILE, std::system_category(), "epoll");
}

RelayLoop::~RelayLoop() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
  thread_.join();
  ::close(wake_);
}

std::uint64_t RelayLoop::add(int upstream, int client, Stream& stream, Times times) {
  auto link = std::make_unique<Link>();
  link->from = upstream;
  link->to = client;
  link->stream = &stream;
  link->times = times;
  {
    MutexLock lock(mutex_);
    link->id = ++ids_;
  }
  const std::uint64_t id = link->id;
  send({id, std::move(link)});
  return id;
}

void RelayLoop::give_back(std::uint64_t id) { send({id, nullptr}); }

void RelayLoop::send(Command command) {
  bool is_first = false;
  {
    MutexLock lock(mutex_);
    is_first = commands_.empty();
    commands_.push_back(std::move(command));
  }
  const std::uint64_t one = 1;
  if (is_first) (void)!::write(wake_, &one, sizeof one);
}

void RelayLoop::run() {
  now_ = Clock::now();
  while (take_commands()) {
    check_deadlines();
    write_all();
    remove_stopped();
    io_->wait(next_check_ == Clock::time_point::max() ? kLongWait : std::max(next_check_ - now_, Clock::duration::zero()), gather_time());
    last_turn_ = std::exchange(now_, Clock::now());
    reads_ = 0;
    has_bulk_ = false;
    io_->dispatch();
  }
  io_.reset();
}

/// How long to wait for more input before the next turn. Batching starts when turns follow each other quickly, and continues while it
/// yields more than one piece per turn.
std::chrono::nanoseconds RelayLoop::gather_time() {
  gathering_ =
      !has_bulk_ && links_.size() >= kGatherStreamsMin && (gathering_ ? reads_ > 1 : reads_ > 0 && now_ - last_turn_ < kGatherTime);
  if (!gathering_) return std::chrono::nanoseconds{0};
  return std::max<std::chrono::nanoseconds>(now_ + kGatherTime - Clock::now(), std::chrono::nanoseconds{0});
}

/// False if the loop must end.
bool RelayLoop::take_commands() {
  std::vector<Command> commands;
  {
    MutexLock lock(mutex_);
    if (ending_) return false;
    commands.swap(commands_);
  }
  for (Command& command : commands) {
    if (command.added) {
      start(std::move(command.added));
    } else if (const auto found = links_.find(command.id); found != links_.end()) {
      end(*found->second, End::kGivenBack);
    }
  }
  return true;
}

void RelayLoop::start(std::unique_ptr<Link> link) {
  link->last_input = link->last_output = now_;
  if (!io_->start(*link)) return link->stream->on_end({});
  check_times(*link);
  const std::uint64_t id = link->id;
  links_.emplace(id, std::move(link));
}

/// Deadlines only move later, so they are checked when the earliest may have passed, not with each piece.
void RelayLoop::check_deadlines() {
  if (now_ < next_check_) return;
  next_check_ = Clock::time_point::max();
  for (const auto& [id, link] : links_) check_times(*link);
}

void RelayLoop::check_times(Link& link) {
  if (link.ended) return;
  const Clock::time_point silent = link.last_input + link.times.silence_max;
  if (now_ >= silent) return end(link, End::kSilent);
  next_check_ = std::min(next_check_, silent);
  if (!link.times.keep_alive_time) return;
  if (now_ >= link.last_output + *link.times.keep_alive_time) {
    link.last_output = now_;
    link.stream->on_keep_alive(link.made);
    await_write(link);
  }
  next_check_ = std::min(next_check_, link.last_output + *link.times.keep_alive_time);
}

void RelayLoop::await_write(Link& link) {
  if (!std::exchange(link.to_write, true)) to_write_.push_back(&link);
}

/// Output of a turn is sent at its end: one write per client, however many pieces it got.
void RelayLoop::write_all() {
  for (Link* link : to_write_) {
    link->to_write = false;
    if (link->ended || link->writing || link->made.empty()) continue;
    link->output = std::move(link->made);
    link->made = std::string();
    io_->write(*link);
  }
  to_write_.clear();
}

/// Not before the end of the turn: until then its lists and the I/O may point to them.
void RelayLoop::remove_stopped() {
  for (const Link* link : stopped_) {
    const auto found = links_.find(link->id);
    const std::unique_ptr<Link> removed = std::move(found->second);
    links_.erase(found);
    removed->ended->unsent = removed->output + removed->made;
    removed->stream->on_end(*std::move(removed->ended));
  }
  stopped_.clear();
}

void RelayLoop::end(Link& link, End end, int error) {
  // The first reason is kept, except that a stream being given back may still report how its upstream ended.
  const bool known = link.ended && link.ended->end != End::kGivenBack;
  if (!known) link.ended = Ended{end, error, {}};
  io_->stop(link);
}

void RelayLoop::on_read(RelayPair& pair, std::string_view bytes) {
  auto& link = static_cast<Link&>(pair);
  ++reads_;
  has_bulk_ = has_bulk_ || bytes.size() >= kBulkBytes;
  link.last_input = link.last_output = now_;
  if (!link.stream->on_bytes(bytes, link.made)) return end(link, End::kDone);
  await_write(link);
}

void RelayLoop::on_read_end(RelayPair& pair, int error) { end(static_cast<Link&>(pair), End::kUpstreamEnded, error); }

void RelayLoop::on_written(RelayPair& pair, std::size_t bytes, int error) {
  auto& link = static_cast<Link&>(pair);
  if (error == 0 && bytes == link.output.size()) {
    // Do not reuse the buffer for the next piece: with many streams it would be out of the CPU cache, while freshly freed memory is still
    // in it.
    std::string().swap(link.output);
    if (!link.made.empty()) await_write(link);
    return;
  }
  link.output.erase(0, bytes);
  end(link, End::kGivenBack);
}

void RelayLoop::on_stopped(RelayPair& pair) { stopped_.push_back(&static_cast<Link&>(pair)); }

}  // namespace footnote::http
