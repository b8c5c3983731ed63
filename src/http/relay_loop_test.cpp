#include "http/relay_loop.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cstddef>
#include <functional>
#include <latch>
#include <vector>

#include "http/test_socket.h"

namespace footnote::http {
namespace {

using namespace testing;
using Backend = RelayLoop::Backend;
using End = RelayLoop::End;

constexpr RelayLoop::Times kPatientTimes{std::chrono::hours{1}, std::nullopt};

std::pair<TestSocket, TestSocket> make_pair() {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  return {TestSocket(ends[0]), TestSocket(ends[1])};
}

/// Forwards bytes unchanged until one of them is '!'. `upstream` and `client` are the test's ends.
class Handed final : public RelayLoop::Stream {
 public:
  Handed() {
    std::tie(from_, upstream) = make_pair();
    std::tie(to_, client) = make_pair();
  }
  void add_to(RelayLoop& loop, RelayLoop::Times times = kPatientTimes) {
    id = loop.add(from_.descriptor(), to_.descriptor(), *this, times);
  }
  /// Waits for the end.
  RelayLoop::Ended ended() {
    EXPECT_TRUE(eventually([this] { return has_ended(); }));
    MutexLock lock(mutex_);
    return ended_.value_or(RelayLoop::Ended{});
  }
  bool has_ended() {
    MutexLock lock(mutex_);
    return ended_.has_value();
  }
  /// The loop's ends; the test may use them again after the end.
  TestSocket& from() { return from_; }
  TestSocket& to() { return to_; }

  TestSocket upstream;
  TestSocket client;
  std::uint64_t id = 0;
  std::function<void()> meanwhile;  ///< Called with the bytes, on the loop's thread.

 private:
  bool on_bytes(std::string_view bytes, std::string& output) override {
    if (meanwhile) meanwhile();
    output += bytes;
    return bytes.find('!') == std::string_view::npos;
  }
  void on_keep_alive(std::string& output) override { output += "alive "; }
  void on_end(RelayLoop::Ended ended) override {
    MutexLock lock(mutex_);
    EXPECT_FALSE(ended_) << "on_end called twice";
    ended_ = std::move(ended);
  }

  TestSocket from_;
  TestSocket to_;
  Mutex mutex_;
  std::optional<RelayLoop::Ended> ended_ FOOTNOTE_TSA(guarded_by(mutex_));
};

class RelayLoopTest : public ::testing::TestWithParam<Backend> {
 protected:
  RelayLoop loop_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Backends, RelayLoopTest, ::testing::Values(Backend::kBest, Backend::kEpoll),
                         [](const auto& param) { return param.param == Backend::kBest ? "Best" : "Epoll"; });

TEST_P(RelayLoopTest, HandsOnWhatComesUntilTheStreamSaysThatItIsDone) {
  Handed stream;
  stream.upstream.send("before ");
  stream.add_to(loop_);
  EXPECT_EQ(stream.client.read_exactly(7), "before ");
  for (int i = 0; i < 100; ++i) {
    stream.upstream.send("piece ");
    ASSERT_EQ(stream.client.read_exactly(6), "piece ");
  }
  stream.upstream.send("end!");
  const RelayLoop::Ended ended = stream.ended();
  EXPECT_EQ(ended.end, End::kDone);
  EXPECT_EQ(ended.unsent, "end!") << "output of the last bytes is returned as unsent";
  stream.upstream.send("next");
  EXPECT_EQ(stream.from().read_exactly(4), "next") << "the loop reads no more";
}

TEST_P(RelayLoopTest, AnUpstreamThatEndsOrBreaksIsToldApart) {
  Handed ends;
  ends.add_to(loop_);
  ends.upstream.send("last");
  ends.upstream.close();
  EXPECT_EQ(ends.ended().end, End::kUpstreamEnded);
  EXPECT_EQ(ends.ended().error, 0);
  ends.to().close();
  EXPECT_EQ(ends.client.read_to_end() + ends.ended().unsent, "last");

  Handed breaks;
  breaks.from().send("never read");  // closing a Unix socket with unread data resets it
  breaks.add_to(loop_);
  breaks.upstream.close();
  EXPECT_EQ(breaks.ended().end, End::kUpstreamEnded);
  EXPECT_EQ(breaks.ended().error, ECONNRESET);
}

TEST_P(RelayLoopTest, WhatAClientDoesNotTakeComesBackAndNothingIsLost) {
  Handed stream;
  stream.add_to(loop_);
  std::string sent;
  while (!stream.has_ended()) {
    const std::string piece = std::to_string(sent.size()) + std::string(3'000, '.');
    const ssize_t size = ::send(stream.upstream.descriptor(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0) sent += piece.substr(0, static_cast<std::size_t>(size));
  }
  EXPECT_EQ(stream.ended().end, End::kGivenBack);
  EXPECT_FALSE(stream.ended().unsent.empty());
  stream.upstream.close();
  stream.to().half_close();
  const std::string taken = stream.client.read_to_end();
  EXPECT_TRUE(taken + stream.ended().unsent + stream.from().read_to_end() == sent);
}

TEST_P(RelayLoopTest, AClientThatIsGoneGivesTheStreamBack) {
  Handed stream;
  stream.add_to(loop_);
  stream.client.close();
  stream.upstream.send("word");
  EXPECT_EQ(stream.ended().end, End::kGivenBack);
  EXPECT_EQ(stream.ended().unsent, "word");
}

TEST_P(RelayLoopTest, GivesBackWhenAsked) {
  Handed stream;
  Handed other;
  stream.add_to(loop_);
  other.add_to(loop_);
  stream.upstream.send("one");
  EXPECT_EQ(stream.client.read_exactly(3), "one");
  loop_.give_back(stream.id);
  EXPECT_EQ(stream.ended().end, End::kGivenBack);
  stream.upstream.send("two");
  EXPECT_EQ(stream.from().read_exactly(3), "two");
  loop_.give_back(stream.id);
  loop_.give_back(~std::uint64_t{0});
  other.upstream.send("three");
  EXPECT_EQ(other.client.read_exactly(5), "three") << "other streams continue";
  EXPECT_FALSE(other.has_ended());
  loop_.give_back(other.id);
  other.ended();
}

TEST_P(RelayLoopTest, SilenceIsFilledAndThenEnds) {
  Handed stream;
  stream.add_to(loop_, {std::chrono::milliseconds{400}, std::chrono::milliseconds{20}});
  EXPECT_EQ(stream.client.read_exactly(12), "alive alive ");
  EXPECT_EQ(stream.ended().end, End::kSilent);
}

TEST_P(RelayLoopTest, WhoTalksIsNotSilent) {
  Handed stream;
  stream.add_to(loop_, {kPatience, std::chrono::milliseconds{1}});
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{200};
  std::size_t sent = 0;
  while (std::chrono::steady_clock::now() < end) {
    stream.upstream.send("x");
    ++sent;
    stream.client.read_some(std::chrono::milliseconds{1});
  }
  EXPECT_FALSE(stream.has_ended());
  stream.upstream.send("!");
  EXPECT_EQ(stream.ended().end, End::kDone);
  stream.to().close();
  std::string all = stream.client.read_to_end() + stream.ended().unsent;
  for (std::size_t at = 0; (at = all.find("alive ")) != std::string::npos;) all.erase(at, 6);
  EXPECT_EQ(all, std::string(sent, 'x') + "!");
}

TEST_P(RelayLoopTest, MoreStreamsThanATurnHasRoomFor) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  constexpr std::size_t kStreams = 400;
  std::latch all_added(1);
  Handed first;
  first.meanwhile = [&] { all_added.wait(); };
  first.add_to(loop_);
  first.upstream.send("!");
  std::vector<std::unique_ptr<Handed>> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<Handed>());
    streams.back()->upstream.send("a");
    streams.back()->add_to(loop_);
  }
  all_added.count_down();  // the next turn handles them all
  first.ended();
  for (int round = 0; round < 3; ++round) {
    for (auto& stream : streams) stream->upstream.send("bcd");
  }
  for (auto& stream : streams) ASSERT_EQ(stream->client.read_exactly(10), "abcdbcdbcd");
  for (auto& stream : streams) stream->upstream.send("!");
  for (auto& stream : streams) EXPECT_EQ(stream->ended().end, End::kDone);
}

TEST_P(RelayLoopTest, MuchOfOneStreamComesWholeAndInOrder) {
  Handed stream;
  stream.add_to(loop_);
  std::string sent;
  for (int i = 0; sent.size() < (4U << 20); ++i) sent += std::to_string(i) + ' ';
  std::thread upstream([&] {
    std::string_view rest = sent;
    while (!rest.empty() && !stream.has_ended()) {
      pollfd entry{stream.upstream.descriptor(), POLLOUT, 0};
      ::poll(&entry, 1, 10);
      const ssize_t size = ::send(stream.upstream.descriptor(), rest.data(), std::min<std::size_t>(rest.size(), 100'000), MSG_NOSIGNAL);
      if (size > 0) rest.remove_prefix(static_cast<std::size_t>(size));
    }
    sent.resize(sent.size() - rest.size());
    stream.upstream.close();
  });
  std::string got;
  while (!stream.has_ended()) {
    if (stream.client.read_some(std::chrono::milliseconds{10})) got += *stream.client.read_exactly(stream.client.buffered().size());
  }
  upstream.join();
  // If the client was too slow, the stream was given back: the rest must still be complete.
  stream.to().half_close();
  got += stream.client.read_to_end();
  EXPECT_TRUE(got + stream.ended().unsent + stream.from().read_to_end() == sent);
}

TEST(RelayLoop, ItsEndIsNotWaitedForByStreams) {
  for (const Backend backend : {Backend::kBest, Backend::kEpoll}) {
    Handed quiet;
    Handed busy;
    {
      RelayLoop loop(backend);
      quiet.add_to(loop);
      busy.add_to(loop);
      busy.upstream.send("x");
      EXPECT_EQ(busy.client.read_exactly(1), "x");
    }
    EXPECT_FALSE(quiet.has_ended() || busy.has_ended());
    busy.upstream.send("y");
    EXPECT_EQ(busy.from().read_exactly(1), "y") << "the loop no longer reads it";
  }
}

/// Denies io_uring to this thread and its children, as the default rules of containers do.
bool refuse_io_uring() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(rules), rules};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(RelayLoop, EpollServesWhereIoUringIsRefused) {
  bool refused = false;
  std::thread([&] {
    refused = refuse_io_uring();
    if (!refused) return;
    errno = 0;
    EXPECT_EQ(::syscall(__NR_io_uring_setup, 1, nullptr), -1);
    EXPECT_EQ(errno, EPERM);
    RelayLoop loop(Backend::kBest);
    Handed stream;
    stream.add_to(loop);
    stream.upstream.send("word");
    EXPECT_EQ(stream.client.read_exactly(4), "word");
    stream.upstream.send("!");
    EXPECT_EQ(stream.ended().end, End::kDone);
  }).join();
  if (!refused) GTEST_SKIP() << "no seccomp filter can be set here";
}

}  // namespace
}  // namespace footnote::http
