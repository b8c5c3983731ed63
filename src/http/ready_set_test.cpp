#include "http/ready_set.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "http/test_socket.h"

namespace footnote::http {
namespace {

using namespace testing;

/// One end in a set, the other for the test to write to.
class Watched final : public ReadySet::Reader {
 public:
  explicit Watched(ReadySet& set) : set_(set) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    near_ = TestSocket(ends[0]);
    far_ = TestSocket(ends[1]);
    EXPECT_TRUE(set_.add(near_.descriptor(), *this));
  }
  ~Watched() override { leave(); }
  void on_readable() override {
    ++calls_;
    if (then_) then_();
  }
  void leave() { set_.remove(near_.descriptor(), *this); }

  TestSocket near_;
  TestSocket far_;
  int calls_ = 0;
  std::function<void()> then_;

 private:
  ReadySet& set_;
};

bool is_readable(const ReadySet& set) {
  pollfd entry{set.descriptor(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(ReadySet, CallsWhoHasSomethingToReadAsLongAsItIsThere) {
  ReadySet set;
  Watched busy(set);
  Watched quiet(set);
  EXPECT_FALSE(is_readable(set));
  set.serve();
  EXPECT_EQ(busy.calls_, 0);
  busy.far_.send("x");
  EXPECT_TRUE(is_readable(set));
  set.serve();
  set.serve();
  EXPECT_EQ(busy.calls_, 2);
  EXPECT_TRUE(busy.near_.read_exactly(1));
  EXPECT_FALSE(is_readable(set));
  set.serve();
  EXPECT_EQ(busy.calls_, 2);
  busy.far_.close();
  set.serve();
  EXPECT_EQ(busy.calls_, 3) << "an end is something to read";
  EXPECT_EQ(quiet.calls_, 0);
}

TEST(ReadySet, WhoLeftHearsNothingAlsoInTheSameTurn) {
  ReadySet set;
  Watched one(set);
  Watched other(set);
  one.then_ = [&] { other.leave(); };
  other.then_ = [&] { one.leave(); };
  one.far_.send("x");
  other.far_.send("x");
  set.serve();
  set.serve();
  EXPECT_EQ(one.calls_ + other.calls_, 2) << "the one that was first, twice";
  EXPECT_TRUE(one.calls_ == 0 || other.calls_ == 0);
}

TEST(ReadySet, ServesABoundedNumberATurnAndEveryoneInTheEnd) {
  ReadySet set;
  std::vector<std::unique_ptr<Watched>> all;
  for (std::size_t i = 0; i < ReadySet::kReadyMax + 1; ++i) {
    all.push_back(std::make_unique<Watched>(set));
    all.back()->far_.send("x");
  }
  const auto served = [&] { return std::ranges::count_if(all, [](const auto& watched) { return watched->calls_ > 0; }); };
  set.serve();
  EXPECT_EQ(served(), ReadySet::kReadyMax);
  set.serve();
  EXPECT_EQ(served(), ReadySet::kReadyMax + 1);
}

}  // namespace
}  // namespace footnote::http
