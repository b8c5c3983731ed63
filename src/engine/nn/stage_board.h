#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace footnote::nn {

/// Distributes work in stages that run in order. A stage consists of chunks that any threads may run in parallel. Threads may join and
/// leave at any time: a thread takes the next chunk, and the thread that finishes the last chunk of a stage opens the next stage.
/// Thread-safe and lock-free.
class StageBoard {
 public:
  struct Chunk {
    std::uint32_t stage;
    std::uint32_t index;
  };

  /// REQUIRES: every stage has a chunk.
  explicit StageBoard(std::vector<std::uint32_t> chunks_of_stage);

  /// The next chunk that can run now, if any.
  std::optional<Chunk> take();
  /// Marks the chunk as done. Its writes happen-before any take() of a later stage, and before finished() returns true.
  void done(const Chunk& chunk);
  bool finished() const { return stage_of(state_.load(std::memory_order_acquire)) == chunks_.size(); }

  /// Waits until there may be a chunk, or all is done. Spins for a while, because stages are short; then sleeps.
  void wait() const;

 private:
  /// Spins without sleeping; false when nothing changed.
  bool look() const;
  static std::uint32_t stage_of(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 32); }
  static std::uint32_t next_of(std::uint64_t state) { return static_cast<std::uint32_t>(state); }
  /// Whether a thread that found no chunk in `state` might find one now.
  bool changed(std::uint64_t state) const { return stage_of(state) == chunks_.size() || next_of(state) < chunks_[stage_of(state)]; }

  const std::vector<std::uint32_t> chunks_;
  alignas(64) std::atomic<std::uint64_t> state_{0};  // The current stage and its next chunk.
  alignas(64) std::atomic<std::uint32_t> done_{0};   // Chunks done in this stage.
};

}  // namespace footnote::nn
