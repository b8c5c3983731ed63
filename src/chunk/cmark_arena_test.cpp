#include "chunk/cmark_arena.h"

#include <gtest/gtest.h>

#include <cstring>

namespace footnote::chunk {
namespace {

struct Request {
  std::size_t bytes = 0;
  int times = 1;
  bool keep = true;
  void* last = nullptr;
};

void allocate(void* state) {
  auto& request = *static_cast<Request*>(state);
  for (int i = 0; i < request.times; ++i) {
    request.last = CmarkArena::memory()->calloc(1, request.bytes);
    if (!request.keep) CmarkArena::memory()->free(request.last);
  }
}

TEST(CmarkArena, GivesUpWhenItIsFullAndTheThreadLivesOn) {
  constexpr std::size_t kBytes = 1u << 20;
  Request fits{.bytes = 1000, .times = 900};
  EXPECT_TRUE(CmarkArena::reserve(kBytes)->run(&allocate, &fits));
  Request too_many{.bytes = 1000, .times = 1100};
  EXPECT_FALSE(CmarkArena::reserve(kBytes)->run(&allocate, &too_many));
  Request too_large{.bytes = kBytes + 1};
  EXPECT_FALSE(CmarkArena::reserve(kBytes)->run(&allocate, &too_large));
  EXPECT_TRUE(CmarkArena::reserve(kBytes)->run(&allocate, &fits));
}

TEST(CmarkArena, UsesFreedBlocksAgain) {
  const auto arena = CmarkArena::reserve(1u << 20);
  Request request{.bytes = 5000, .times = 100'000, .keep = false};
  EXPECT_TRUE(arena->run(&allocate, &request));
  EXPECT_LT(arena->peak_bytes(), 20'000u);
}

TEST(CmarkArena, GivesUpWhenItsCallEnds) {
  CallContext late;
  late.deadline = {};
  const auto arena = CmarkArena::reserve(1u << 20);
  Request request{.bytes = 10, .times = 100'000, .keep = false};
  EXPECT_FALSE(arena->run(&allocate, &request, late));
  EXPECT_TRUE(arena->run(&allocate, &request));
}

void grow(void* state) {
  auto* text = static_cast<char*>(CmarkArena::memory()->calloc(1, 10));
  std::memcpy(text, "footnote", 9);
  for (std::size_t size = 10; size < 100'000; size = size * 3 / 2) text = static_cast<char*>(CmarkArena::memory()->realloc(text, size));
  *static_cast<bool*>(state) = std::strcmp(text, "footnote") == 0;
}

TEST(CmarkArena, MovedBlocksKeepTheirContent) {
  const auto arena = CmarkArena::reserve(1u << 20);
  bool same = false;
  EXPECT_TRUE(arena->run(&grow, &same));
  EXPECT_TRUE(same);
}

}  // namespace
}  // namespace footnote::chunk
