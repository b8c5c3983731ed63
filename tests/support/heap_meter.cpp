#include "support/heap_meter.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace {

// Zero-initialised before any allocation. Signed, because memory allocated before counting began may be freed.
std::atomic<std::int64_t> in_use;
std::atomic<std::int64_t> peak;

void note_taken(std::size_t bytes) {
  const std::int64_t now = in_use.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
  std::int64_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

void note_given_back(std::size_t bytes) { in_use.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }

}  // namespace

namespace footnote {

HeapMeter::HeapMeter() : base_(static_cast<std::size_t>(in_use.load())) { peak.store(in_use.load()); }

std::size_t HeapMeter::peak_bytes() const { return static_cast<std::size_t>(peak.load()) - base_; }

}  // namespace footnote

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FOOTNOTE_SANITIZED_HEAP
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FOOTNOTE_SANITIZED_HEAP
#endif

// The names are the C library's and the sanitizers'.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" {

#ifdef FOOTNOTE_SANITIZED_HEAP

std::size_t __sanitizer_get_allocated_size(const volatile void* block);

void __sanitizer_malloc_hook(const volatile void* /*block*/, std::size_t size) { note_taken(size); }
void __sanitizer_free_hook(const volatile void* block) {
  if (block != nullptr) note_given_back(__sanitizer_get_allocated_size(block));
}

#else

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);

void* malloc(std::size_t size) {
  void* block = __libc_malloc(size);
  note_taken(::malloc_usable_size(block));
  return block;
}

void* calloc(std::size_t count, std::size_t size) {
  void* block = __libc_calloc(count, size);
  note_taken(::malloc_usable_size(block));
  return block;
}

void* realloc(void* block, std::size_t size) {
  const std::size_t before = ::malloc_usable_size(block);
  void* moved = __libc_realloc(block, size);
  if (moved == nullptr && size != 0) return nullptr;
  note_taken(::malloc_usable_size(moved));
  note_given_back(before);
  return moved;
}

void* memalign(std::size_t alignment, std::size_t size) {
  void* block = __libc_memalign(alignment, size);
  note_taken(::malloc_usable_size(block));
  return block;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

void free(void* block) {
  note_given_back(::malloc_usable_size(block));
  __libc_free(block);
}

#endif
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
