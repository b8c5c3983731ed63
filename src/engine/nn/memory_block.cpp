#include "engine/nn/memory_block.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace footnote::nn {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = 2U << 20;

}  // namespace

void MemoryBlock::Free::operator()(std::byte* bytes) const { std::free(bytes); }

Result<MemoryBlock> MemoryBlock::allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) return fail(ErrorCode::kResourceExhausted, "no memory for {} bytes", bytes);
  if (alignment == kHugePage) ::madvise(memory, rounded, MADV_HUGEPAGE);  // Only a hint.
  // Pages given back read as zero and take no memory until written.
  const bool given_back = alignment == kHugePage && ::madvise(memory, rounded, MADV_DONTNEED) == 0;
  if (!given_back) std::memset(memory, 0, rounded);
  return MemoryBlock(memory, bytes);
}

}  // namespace footnote::nn
