#include "chunk/cmark_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/assert.h"
#include "base/call_ended.h"

namespace footnote::chunk {

namespace {

constexpr std::size_t kAlign = 16;
/// Header in front of each block: its size class.
constexpr std::size_t kHeader = kAlign;
/// Size classes: one per kAlign bytes up to here, one per power of two above.
constexpr std::size_t kSmallMax = 1024;
constexpr std::size_t kSmallClasses = kSmallMax / kAlign;
constexpr std::size_t kCommitMin = 256u << 10;
/// Blocks between two checks of the call: about a millisecond.
constexpr std::size_t kBlocksBetweenChecks = 4096;

// Thread-local, because cmark's allocator interface has no user pointer.
thread_local CmarkArena* thread_arena = nullptr;

std::size_t class_of(std::size_t bytes) {
  if (bytes <= kSmallMax) return bytes == 0 ? 0 : (bytes - 1) / kAlign;
  return kSmallClasses + static_cast<std::size_t>(std::bit_width(bytes - 1));
}

std::size_t bytes_of(std::size_t size_class) {
  return size_class < kSmallClasses ? (size_class + 1) * kAlign : std::size_t{1} << (size_class - kSmallClasses);
}

std::size_t class_before(const std::byte* block) {
  std::size_t size_class = 0;
  std::memcpy(&size_class, block - kHeader, sizeof size_class);
  return size_class;
}

}  // namespace

std::unique_ptr<CmarkArena> CmarkArena::reserve(std::size_t bytes_max) {
  FOOTNOTE_ASSERT(thread_arena == nullptr);
  // Reserved without access, the addresses do not count against memory limits; commit() makes them accessible step by step.
  void* base = ::mmap(nullptr, bytes_max, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  return std::unique_ptr<CmarkArena>(new CmarkArena(static_cast<std::byte*>(base), bytes_max));
}

CmarkArena::CmarkArena(std::byte* base, std::size_t bytes_max) : base_(base), bytes_max_(bytes_max) { thread_arena = this; }

CmarkArena::~CmarkArena() {
  thread_arena = nullptr;
  ::munmap(base_, bytes_max_);
}

cmark_mem* CmarkArena::memory() {
  static cmark_mem memory{&CmarkArena::allocate_zeroed, &CmarkArena::reallocate, &CmarkArena::release};
  return &memory;
}

bool CmarkArena::run(void (*work)(void*), void* state, const CallContext& call) {
  running_ = true;
  call_ = &call;
  // NOLINTNEXTLINE(cert-err52-cpp): an exception cannot pass through the library's C code.
  if (setjmp(back_) != 0) {
    running_ = false;
    return false;
  }
  work(state);
  running_ = false;
  return true;
}

CmarkArena& CmarkArena::current() {
  FOOTNOTE_ASSERT(thread_arena != nullptr);
  return *thread_arena;
}

void CmarkArena::abandon() {
  FOOTNOTE_ASSERT(running_);
  std::longjmp(back_, 1);  // NOLINT(cert-err52-cpp)
}

bool CmarkArena::commit(std::size_t bytes) {
  if (bytes > bytes_max_) return false;
  if (bytes <= committed_) return true;
  const std::size_t wanted = std::min(bytes_max_, std::max(bytes, committed_ + std::max(kCommitMin, committed_ / 4)));
  const std::size_t rounded = std::min(bytes_max_, (wanted + kCommitMin - 1) / kCommitMin * kCommitMin);
  if (::mprotect(base_, rounded, PROT_READ | PROT_WRITE) != 0) return false;
  committed_ = rounded;
  return true;
}

/// A block of at least `bytes` with unspecified content.
std::byte* CmarkArena::take(std::size_t bytes) {
  if (bytes > bytes_max_) abandon();
  if (++taken_ % kBlocksBetweenChecks == 0 && has_ended(*call_)) abandon();
  const std::size_t size_class = class_of(bytes);
  if (Free* known = free_[size_class]) {
    free_[size_class] = known->next;
    return reinterpret_cast<std::byte*>(known);
  }
  const std::size_t end = top_ + kHeader + bytes_of(size_class);
  if (!commit(end)) abandon();
  std::byte* block = base_ + top_ + kHeader;
  top_ = end;
  std::memcpy(block - kHeader, &size_class, sizeof size_class);
  return block;
}

void CmarkArena::give_back(std::byte* block) {
  const std::size_t size_class = class_before(block);
  free_[size_class] = ::new (block) Free{free_[size_class]};
}

void* CmarkArena::allocate_zeroed(std::size_t count, std::size_t size) {
  CmarkArena& arena = current();
  if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size) arena.abandon();
  std::byte* block = arena.take(count * size);
  std::memset(block, 0, count * size);
  return block;
}

void* CmarkArena::reallocate(void* block, std::size_t size) {
  CmarkArena& arena = current();
  if (block == nullptr) return arena.take(size);
  auto* old = static_cast<std::byte*>(block);
  const std::size_t old_bytes = bytes_of(class_before(old));
  if (size <= old_bytes) return block;
  std::byte* moved = arena.take(size);
  std::memcpy(moved, old, old_bytes);
  arena.give_back(old);
  return moved;
}

void CmarkArena::release(void* block) {
  if (block != nullptr) current().give_back(static_cast<std::byte*>(block));
}

}  // namespace footnote::chunk
