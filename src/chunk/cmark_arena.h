#pragma once

#include <cmark-gfm.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <memory>

#include "base/call_context.h"

namespace footnote::chunk {

/// The memory of one run of cmark, with a limit. cmark ends the process when an allocation fails; here a run past the limit, past what
/// the machine gives or past the end of its call is abandoned instead, and its memory goes back in one step. Not thread-safe: create, use
/// and destroy it on one thread, one at a time per thread.
class CmarkArena {
 public:
  /// Reserves addresses for `bytes_max`; memory is taken only as it is used. Null if there are none.
  static std::unique_ptr<CmarkArena> reserve(std::size_t bytes_max);
  ~CmarkArena();
  CmarkArena(const CmarkArena&) = delete;
  CmarkArena& operator=(const CmarkArena&) = delete;

  /// Allocates from the thread's arena. Valid while that lives.
  static cmark_mem* memory();

  /// Calls `work(state)`. False: the memory did not suffice or `call` ended, and the work stopped in the middle of an allocation; whatever
  /// it built must not be used. REQUIRES: while it allocates, no frame of `work` or of what it calls owns anything that a destructor would
  /// release.
  bool run(void (*work)(void*), void* state, const CallContext& call = {});

  /// Bytes in use at most so far, including what the arena keeps about them.
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
  std::size_t top_ = 0;        ///< Bytes handed out, from base_.
  std::size_t committed_ = 0;  ///< Bytes that may be touched, from base_.
  std::array<Free*, kClasses> free_{};
  std::jmp_buf back_{};
  bool running_ = false;
  const CallContext* call_ = nullptr;  ///< While running.
  std::size_t taken_ = 0;              ///< Blocks since the start of the run.
};

}  // namespace footnote::chunk
