#include "engine/nn/memory_block.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace footnote::nn {
namespace {

constexpr std::size_t kLarge = 6U << 20;

bool is_zero(const MemoryBlock& block) {
  return std::all_of(block.data(), block.data() + block.size(), [](std::byte byte) { return byte == std::byte{0}; });
}

std::size_t resident_pages(MemoryBlock& block) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(block.size() / page);
  EXPECT_EQ(::mincore(block.data(), pages.size() * page, pages.data()), 0);
  return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char flags) { return (flags & 1) != 0; }));
}

TEST(MemoryBlock, IsZeroAndAligned) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, kLarge, kLarge + 1}) {
    const auto block = MemoryBlock::allocate(size);
    ASSERT_TRUE(block) << block.error().message;
    EXPECT_EQ(block->size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block->data()) % 64, 0U);
    EXPECT_TRUE(is_zero(*block));
  }
}

TEST(MemoryBlock, IsZeroWhereAnotherLay) {
  for (const std::size_t size : {std::size_t{5000}, kLarge}) {
    for (int round = 0; round < 4; ++round) {
      auto block = MemoryBlock::allocate(size);
      ASSERT_TRUE(block) << block.error().message;
      EXPECT_TRUE(is_zero(*block));
      std::memset(block->data(), 0xAB, block->size());
    }
  }
}

TEST(MemoryBlock, OfALargeOneOnlyWhatIsUsedTakesMemory) {
  auto block = MemoryBlock::allocate(kLarge);
  ASSERT_TRUE(block) << block.error().message;
  EXPECT_EQ(resident_pages(*block), 0U);
  block->data()[0] = std::byte{1};
  EXPECT_GT(resident_pages(*block), 0U);
  EXPECT_LT(resident_pages(*block), kLarge / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace footnote::nn
