#include "engine/nn/stage_board.h"

namespace footnote::nn {
namespace {

// Some hundred microseconds: the length of a stage of a short question. A sleeping thread wakes up late, and perhaps on another CPU.
constexpr int kLooks = 4000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

StageBoard::StageBoard(std::vector<std::uint32_t> chunks_of_stage) : chunks_(std::move(chunks_of_stage)) {}

std::optional<StageBoard::Chunk> StageBoard::take() {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  while (true) {
    const std::uint32_t stage = stage_of(state);
    if (stage == chunks_.size() || next_of(state) >= chunks_[stage]) return std::nullopt;
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) return Chunk{stage, next_of(state)};
  }
}

void StageBoard::done(const Chunk& chunk) {
  // Acquire-release: each thread adds its writes to those that the next one sees; the last publishes all of them.
  if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 < chunks_[chunk.stage]) return;
  done_.store(0, std::memory_order_relaxed);
  state_.store(std::uint64_t{chunk.stage + 1} << 32, std::memory_order_release);
  state_.notify_all();
}

bool StageBoard::look() const {
  for (int i = 0; i < kLooks; ++i) {
    if (changed(state_.load(std::memory_order_acquire))) return true;
    pause_briefly();
  }
  return false;
}

void StageBoard::wait() const {
  if (look()) return;
  for (std::uint64_t state = state_.load(std::memory_order_acquire); !changed(state); state = state_.load(std::memory_order_acquire)) {
    state_.wait(state, std::memory_order_acquire);
  }
}

}  // namespace footnote::nn
