#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace footnote::nn {

/// Shares out work that is made of stages, one after the other, each of chunks that any threads may run at once. Threads come
/// and go as they like: whoever is there takes the next chunk, and whoever ends the last one of a stage opens the next.
/// Thread-safe, without a lock.
class StageBoard {
 public:
  struct Chunk {
    std::uint32_t stage;
    std::uint32_t index;
  };

  /// REQUIRES: every stage has a chunk.
  explicit StageBoard(std::vector<std::uint32_t> chunks_of_stage);

  /// The next chunk, when there is one to run now.
  std::optional<Chunk> take();
  /// The chunk was run: what it wrote can be read by whoever takes a chunk of a later stage, and after finished().
  void done(const Chunk& chunk);
  bool finished() const { return stage_of(state_.load(std::memory_order_acquire)) == chunks_.size(); }

  /// Until there may be something to take, or all is done. Looks a while for itself, as stages are short; then sleeps.
  void wait() const;

 private:
  /// Without sleep; false when nothing came up.
  bool look() const;
  static std::uint32_t stage_of(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 32); }
  static std::uint32_t next_of(std::uint64_t state) { return static_cast<std::uint32_t>(state); }
  /// Whether a thread that found nothing would find something now.
  bool changed(std::uint64_t state) const { return stage_of(state) == chunks_.size() || next_of(state) < chunks_[stage_of(state)]; }

  const std::vector<std::uint32_t> chunks_;
  alignas(64) std::atomic<std::uint64_t> state_{0};  // The stage, and the next chunk of it.
  alignas(64) std::atomic<std::uint32_t> done_{0};   // Chunks of this stage.
};

}  // namespace footnote::nn
