// Loaded before the program (LD_PRELOAD): makes one allocation fail, selected by a test while the program runs.
//
// FAILING_MALLOC_FILE names a file with two 64-bit numbers that a test shares with the program. While the first is positive, every
// allocation decrements it, and the one that reaches zero fails. The second is the number of bytes currently allocated.

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

// glibc's own functions, which the functions below call.
extern "C" {
void* __libc_malloc(std::size_t size);
void __libc_free(void* block);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

struct Shared {
  std::atomic<std::int64_t> left;
  std::atomic<std::int64_t> bytes;
};
static_assert(sizeof(Shared) == 16);

Shared* open_shared() {
  const char* const path = std::getenv("FAILING_MALLOC_FILE");
  const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const address = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return address == MAP_FAILED ? nullptr : static_cast<Shared*>(address);
}

Shared* shared = nullptr;
__attribute__((constructor)) void start() { shared = open_shared(); }

bool fails() {
  if (shared == nullptr || shared->left.load(std::memory_order_relaxed) <= 0) return false;
  return shared->left.fetch_sub(1) == 1;
}

void count(void* block, int sign) {
  if (shared != nullptr && block != nullptr) shared->bytes += sign * static_cast<std::int64_t>(::malloc_usable_size(block));
}

void* counted(void* block) {
  count(block, +1);
  return block;
}

void* failed() {
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return fails() ? failed() : counted(__libc_malloc(size)); }
void* calloc(std::size_t count, std::size_t size) { return fails() ? failed() : counted(__libc_calloc(count, size)); }
void* memalign(std::size_t alignment, std::size_t size) { return fails() ? failed() : counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  void* const block = memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

void* realloc(void* block, std::size_t size) {
  if (fails()) return failed();
  count(block, -1);
  void* const moved = __libc_realloc(block, size);
  if (moved == nullptr && size > 0) return counted(block), nullptr;
  return counted(moved);
}

void free(void* block) {
  count(block, -1);
  __libc_free(block);
}

}  // extern "C"
