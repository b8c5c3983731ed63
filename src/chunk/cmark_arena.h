#pragma once

#include <cmark-gfm.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <memory>

#include "base/call_context.h"

namespace footnote::chunk {

/// The memory of one run of cmark, with a limit. cmark ends the process when an allocation fails. With this arena, a run is abandoned
/// instead when it exceeds the limit, when the system has no memory left, or when its call ends; all its memory is then freed at once. Not
/// thread-safe: create, use and destroy it on one thread, one at a time per thread.
class CmarkArena {
 public:
  /// Reserves address space for `bytes_max`; physical memory is used only when touched. Null if there is not enough.
  static std::unique_ptr<CmarkArena> reserve(std::size_t bytes_max);
  ~CmarkArena();
  CmarkArena(const CmarkArena&) = delete;
  CmarkArena& operator=(const CmarkArena&) = delete;

  /// An allocator that uses the current thread's arena. Valid as long as that exists.
  static cmark_mem* memory();

  /// Calls `work(state)`. False: memory ran out or `call` ended. Then the work was left with longjmp in the middle of an allocation, and
  /// its results must not be used. REQUIRES: during an allocation, no frame of `work` or its callees owns an object with a destructor.
  bool run(void (*work)(void*), void* state, const CallContext& call = {});

  /// Peak memory use so far, including the arena's own bookkeeping.
  std::size_t peak_bytes() const { return top_; }

 private:
  CmarkArena(std::byte* base, std::size_t bytes_max);

  static constexpr std::size_t kClasses = 128;
  struct Free {
    Free* next;
  };

  static void* allocate_zeroed(std::size_t count, std::size_t size);
  static void* reallocate(void* block, std::size_t size);
  static void release(void* block);
  static CmarkArena& current();

  std::byte* take(std::size_t bytes);
  void give_back(std::byte* block);
  bool commit(std::size_t bytes);
  [[noreturn]] void abandon();

  std::byte* const base_;
  const std::size_t bytes_max_;
  std::size_t top_ = 0;        ///< Bytes allocated so far, from base_.
  std::size_t committed_ = 0;  ///< Bytes that are accessible, from base_.
  std::array<Free*, kClasses> free_{};
  std::jmp_buf back_{};
  bool running_ = false;
  const CallContext* call_ = nullptr;  ///< Set during run().
  std::size_t taken_ = 0;              ///< Blocks allocated in this run.
};

}  // namespace footnote::chunk
