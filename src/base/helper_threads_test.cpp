#include "base/helper_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace footnote {
namespace {

TEST(HelperThreads, DoesBothHalvesAtTheSameTimeWhereAThreadIsIdle) {
  HelperThreads helpers(1);
  // Each half waits for the other, so this ends only if they run in parallel.
  std::latch met(2);
  std::thread::id other;
  helpers.run_both([&] { met.arrive_and_wait(); },
                   [&] {
                     other = std::this_thread::get_id();
                     met.arrive_and_wait();
                   });
  EXPECT_NE(other, std::this_thread::get_id());
}

TEST(HelperThreads, TheOwnerDoesBothWithoutThreads) {
  HelperThreads helpers(0);
  std::vector<std::thread::id> who;
  helpers.run_both([&] { who.push_back(std::this_thread::get_id()); }, [&] { who.push_back(std::this_thread::get_id()); });
  EXPECT_EQ(who, (std::vector{std::this_thread::get_id(), std::this_thread::get_id()}));
  run_both(nullptr, [&] { who.clear(); }, [&] { who.push_back(std::this_thread::get_id()); });
  EXPECT_EQ(who.size(), 1U);
}

TEST(HelperThreads, TheOwnerDoesBothWhileTheThreadIsAtSomethingElse) {
  HelperThreads helpers(1);
  std::latch begun(1), go_on(1);
  std::thread first([&] {
    helpers.run_both([&] { go_on.wait(); },
                     [&] {
                       begun.count_down();
                       go_on.wait();
                     });
  });
  begun.wait();
  std::thread::id who;
  helpers.run_both([] {}, [&] { who = std::this_thread::get_id(); });
  EXPECT_EQ(who, std::this_thread::get_id());
  go_on.count_down();
  first.join();
}

TEST(HelperThreads, HalvesOfHalvesAreDoneToo) {
  HelperThreads helpers(1);
  std::atomic<int> done = 0;
  const auto leaf = [&] { ++done; };
  const auto half = [&] { helpers.run_both(leaf, leaf); };
  helpers.run_both(half, half);
  EXPECT_EQ(done, 4);
}

TEST(HelperThreads, AWaitingOwnerTakesPartInWhatItGaveAway) {
  HelperThreads helpers(1);
  std::latch met(2);
  std::thread::id first, second;
  helpers.run_both([] {},
                   [&] {
                     // Each half waits for the other, so this needs two threads.
                     helpers.run_both(
                         [&] {
                           first = std::this_thread::get_id();
                           met.arrive_and_wait();
                         },
                         [&] {
                           second = std::this_thread::get_id();
                           met.arrive_and_wait();
                         });
                   });
  EXPECT_NE(first, second);
  EXPECT_TRUE(first == std::this_thread::get_id() || second == std::this_thread::get_id());
}

TEST(HelperThreads, NobodyWaitsForAnOwnerThatIsBusy) {
  HelperThreads helpers(1);
  std::latch begun(1), all_done(1);
  std::thread::id other, who;
  helpers.run_both(
      [&] {
        begun.wait();
        all_done.wait();
      },
      [&] {
        other = std::this_thread::get_id();
        begun.count_down();
        helpers.run_both([] {}, [&] { who = std::this_thread::get_id(); });
        all_done.count_down();
      });
  EXPECT_EQ(who, other);
}

TEST(HelperThreads, WhatIsThrownWithinAHalfReachesItsOwner) {
  HelperThreads helpers(1);
  for (int round = 0; round < 100; ++round) {
    const auto fails = [] { throw std::runtime_error("no"); };
    EXPECT_THROW(helpers.run_both([] {}, [&] { helpers.run_both([] {}, fails); }), std::runtime_error);
    EXPECT_THROW(helpers.run_both([] {}, [&] { helpers.run_both(fails, [] {}); }), std::runtime_error);
  }
}

TEST(Share, DoesEveryPartOnce) {
  HelperThreads none(0), one(1);
  for (HelperThreads* helpers : {static_cast<HelperThreads*>(nullptr), &none, &one}) {
    for (const std::size_t parts : {0U, 1U, 2U, 7U}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<std::atomic<int>> done(parts);
        run_parts(helpers, parts, [&](std::size_t part) { ++done[part]; });
        for (const auto& count : done) EXPECT_EQ(count, 1);
        // Nested in a half: shared with the caller.
        run_both(helpers, [] {}, [&] { run_parts(helpers, parts, [&](std::size_t part) { ++done[part]; }); });
        for (const auto& count : done) EXPECT_EQ(count, 2);
      }
    }
  }
}

TEST(HelperThreads, WhatAHalfThrowsReachesItsOwnerAfterTheOtherIsDone) {
  HelperThreads helpers(1);
  for (const bool in_here : {true, false}) {
    std::latch met(2);
    bool other_done = false;
    const auto fails = [&] {
      met.arrive_and_wait();
      throw std::runtime_error("no");
    };
    const auto works = [&] {
      met.arrive_and_wait();
      other_done = true;
    };
    if (in_here) {
      EXPECT_THROW(helpers.run_both(fails, works), std::runtime_error);
    } else {
      EXPECT_THROW(helpers.run_both(works, fails), std::runtime_error);
    }
    EXPECT_TRUE(other_done);
  }
}

TEST(HelperThreads, ManyOwnersAtOnceEachGetTheirOwnWorkDone) {
  HelperThreads helpers(2);
  std::vector<std::thread> owners;
  std::atomic<int> wrong = 0;
  for (int o = 0; o < 6; ++o) {
    owners.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        int here = 0, there = 0;
        helpers.run_both([&] { here = i + 1; }, [&] { there = i + 2; });
        if (here != i + 1 || there != i + 2) ++wrong;
      }
    });
  }
  for (std::thread& owner : owners) owner.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace footnote
