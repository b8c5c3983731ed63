#include "engine/ann/sign_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/ann/codes.h"
#include "engine/ann/scan_sizes.h"

namespace footnote::ann {
namespace {

constexpr std::size_t kBlocksAtOnce = kScanBlock / kSignBlockRows;

class SignScan {
 public:
  SignScan(const VectorSpace& space, const SignQuery& query, const std::vector<ScanScope>& scopes, std::size_t candidates,
           HelperThreads* helpers)
      : space_(space), signs_(query), scopes_(scopes), candidates_(candidates), helpers_(helpers) {}

  std::vector<Guess> run() const {
    const Bar bar = likely_bar();
    if (bar.reached > Guesses::kNoFloor) {
      Guesses guesses = guess_all(bar.floor);
      if (guesses.reach(bar.reached)) return guesses.take();
    }
    return guess_all(Guesses::kNoFloor).take();
  }

 private:
  struct Bar {
    float floor = 0;  ///< Below `reached` by more than the rounding error of an estimate.
    float reached = 0;
  };

  Bar likely_bar() const;
  static Bar bar_at_rank(std::span<const float> estimates, std::size_t rank);
  void guess_blocks(std::uint32_t scope, std::size_t begin, std::size_t end, Guesses& guesses) const;
  void guess_part(std::size_t begin, std::size_t end, Guesses& guesses) const;
  Guesses guess_all(float floor) const;

  const VectorSpace& space_;
  const SignQuery& signs_;
  const std::vector<ScanScope>& scopes_;
  const std::size_t candidates_;
  HelperThreads* const helpers_;
};

void SignScan::guess_blocks(std::uint32_t scope_index, std::size_t begin, std::size_t end, Guesses& guesses) const {
  const ScanScope& scope = scopes_[scope_index];
  const Segment& segment = *scope.segment;
  const Codes& codes = segment.codes;
  std::uint16_t sums[kScanBlock];
  for (std::size_t block = begin; block < end; block += kBlocksAtOnce) {
    const std::size_t blocks = std::min(kBlocksAtOnce, end - block);
    space_.kernels->sign_sums(signs_.tables.data(), codes.sign_block(block), codes.sign_row_bytes(), blocks, sums);
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t base = (block + b) * kSignBlockRows;
      const std::uint16_t* const here = sums + b * kSignBlockRows;
      std::uint32_t reaching = space_.kernels->reaching(here, codes.norms() + base, signs_.line, guesses.floor());
      for (; reaching != 0; reaching &= reaching - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(reaching));
        const std::size_t vector = base + lane;
        if (vector >= segment.vector_count()) break;
        if (!scope.all && !scope.shows(segment.row_of(vector))) continue;
        const float estimate = signs_.line.at(here[lane], codes.norms()[vector]);
        // False for NaN, which would break the order.
        if (estimate >= guesses.floor()) {
          guesses.offer({estimate, scope_index, static_cast<std::uint32_t>(vector)});
        }
      }
    }
  }
}

/// Scans the blocks [begin, end), numbered through all scopes.
void SignScan::guess_part(std::size_t begin, std::size_t end, Guesses& guesses) const {
  std::size_t before = 0;
  for (std::uint32_t s = 0; s < scopes_.size(); ++s) {
    const std::size_t count = scopes_[s].segment->codes.sign_block_count();
    const std::size_t from = std::clamp(begin, before, before + count), to = std::clamp(end, before, before + count);
    if (from < to) guess_blocks(s, from - before, to - before, guesses);
    before += count;
  }
}

/// An estimate that the best `candidates_` probably reach, from one block in kSampled. Without it all of the first rows enter, and half of
/// the search's time goes into dropping them again.
SignScan::Bar SignScan::likely_bar() const {
  constexpr std::size_t kSampled = 32;
  std::vector<float> estimates;
  std::uint16_t sums[kSignBlockRows];
  for (const ScanScope& scope : scopes_) {
    const Codes& codes = scope.segment->codes;
    const std::size_t block_bytes = kSignBlockRows * codes.sign_row_bytes();
    for (std::size_t block = kSampled / 2; block < codes.sign_block_count(); block += kSampled) {
      if (block + kSampled < codes.sign_block_count()) prefetch(codes.sign_block(block + kSampled), block_bytes);
      space_.kernels->sign_sums(signs_.tables.data(), codes.sign_block(block), codes.sign_row_bytes(), 1, sums);
      const std::size_t base = block * kSignBlockRows;
      for (std::size_t r = 0; r < kSignBlockRows && base + r < codes.size(); ++r) {
        if (!scope.all && !scope.shows(scope.segment->row_of(base + r))) continue;
        const float estimate = signs_.line.at(sums[r], codes.norms()[base + r]);
        if (!std::isnan(estimate)) estimates.push_back(estimate);
      }
    }
  }
  // 1.5 times the expected rank, to allow for the sample's variance.
  return bar_at_rank(estimates, candidates_ * 3 / 2 / kSampled);
}

/// The estimate at that rank, to the precision of a histogram.
SignScan::Bar SignScan::bar_at_rank(std::span<const float> estimates, std::size_t rank) {
  constexpr Bar kNone{Guesses::kNoFloor, Guesses::kNoFloor};
  if (rank == 0 || rank >= estimates.size()) return kNone;
  const auto [least, most] = std::ranges::minmax(estimates);
  constexpr std::size_t kSteps = 512;
  const float step = (most - least) / kSteps, inverse = 1 / step;
  if (!std::isnormal(step) || !std::isnormal(inverse)) return kNone;  // All equal, or too large to distinguish.
  std::array<std::uint32_t, kSteps + 1> counts{};
  for (const float estimate : estimates) ++counts[static_cast<std::size_t>((estimate - least) * inverse)];
  std::size_t at = kSteps;
  for (std::size_t above = counts[at]; above <= rank; above += counts[at]) --at;
  return {least + (static_cast<float>(at) - 1) * step, least + static_cast<float>(at) * step};
}

Guesses SignScan::guess_all(float floor) const {
  std::size_t blocks = 0;
  for (const ScanScope& scope : scopes_) blocks += scope.segment->codes.sign_block_count();
  const std::size_t parts = helpers_ == nullptr ? 1 : kParts;
  std::vector<Guesses> of_part(parts, Guesses(scopes_, candidates_, floor));
  run_parts(helpers_, parts, [&](std::size_t part) { guess_part(blocks * part / parts, blocks * (part + 1) / parts, of_part[part]); });
  for (std::size_t part = 1; part < parts; ++part) of_part[0].join(of_part[part]);
  return std::move(of_part[0]);
}

}  // namespace

std::vector<Guess> guess_by_signs(const VectorSpace& space, std::span<const float> query, const std::vector<ScanScope>& scopes,
                                  std::size_t candidates, HelperThreads* helpers) {
  SignQuery signs = make_sign_query(query, scopes.front().segment->codes.sign_row_bytes());
  if (space.metric == Metric::kEuclid) {
    // 2 x.q - |x|^2 is the negated squared distance plus |q|^2, which is the same for all rows.
    signs.line = {.slope = 2 * signs.line.slope, .offset = 2 * signs.line.offset, .bend = -1};
  }
  return SignScan(space, signs, scopes, candidates, helpers).run();
}

}  // namespace footnote::ann
