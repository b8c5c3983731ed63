#include "engine/ann/scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>

#include "base/assert.h"

namespace footnote::ann {
namespace {

// This many vectors are compared before the heap looks at them: their results stay in the first-level cache.
constexpr std::size_t kScanBlock = 512;
// Rows that lie apart are asked for this many steps before they are read.
constexpr std::size_t kAhead = 8;
constexpr std::size_t kBlocksAtOnce = kScanBlock / kSignBlockRows;
// What two threads share is cut into so many parts: the second comes when it can.
constexpr std::size_t kParts = 4;

Kernels::Floats kernel_for(const VectorSpace& space) {
  switch (space.metric) {
    case Metric::kDot: return space.kernels->dot;
    case Metric::kEuclid: return space.kernels->squared_distance;
    case Metric::kManhattan: return space.kernels->manhattan;
  }
  return space.kernels->dot;
}

/// The rows of a segment that a search may find.
struct Scope {
  const Segment* segment = nullptr;
  bool all = false;
  rows::RowBits bits = {};  // Where not all.
  std::size_t rows = 0;

  bool shows(std::size_t row) const { return all || (bits[row / 64] >> (row % 64) & 1) != 0; }
  /// About, where only some rows show.
  std::size_t vectors() const { return (rows * segment->vector_count() + segment->rows.size() - 1) / segment->rows.size(); }
  /// Calls `visit(begin, end)` for the runs of rows.
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    if (all) {
      visit(0, segment->rows.size());
    } else {
      rows::for_each_run(bits, visit);
    }
  }
};

std::vector<Scope> find_scopes(std::span<const SegmentPtr> segments, const FlatQuery& query) {
  std::vector<Scope> scopes;
  for (const SegmentPtr& segment : segments) {
    Scope scope{.segment = segment.get()};
    scope.all = query.filter.passes_all() && segment->rows.all_alive_at(query.generation);
    scope.rows = scope.all ? segment->rows.size() : segment->rows.find_visible(query.generation, query.filter, scope.bits);
    if (scope.rows > 0) scopes.push_back(std::move(scope));
  }
  return scopes;
}

ScanTask task_of(const VectorSpace& space, std::span<const Scope> scopes, const SegmentGraph* graph, std::size_t limit) {
  ScanTask task{.metric = space.metric, .limit = limit};
  std::size_t rows = 0;
  for (const Scope& scope : scopes) {
    task.visible += scope.vectors();
    task.held += scope.segment->vector_count();
    rows += scope.segment->rows.size();
    if (graph != nullptr && graph->covers(scope.segment->body.get())) task.visible_in_graph += scope.vectors();
  }
  // A walk meets what lies in segments without a visible row, too.
  if (task.visible_in_graph > 0) task.in_graph = graph->covered();
  task.vectors_per_row = (task.held + rows - 1) / rows;
  return task;
}

/// A row that may be among the first, and the most that it can be worth.
struct Candidate {
  float upper = 0;
  std::uint32_t scope = 0;
  std::uint32_t row = 0;
};

/// Keeps the rows that may be among the first `limit`, given between which values each of them is.
class Contenders {
 public:
  explicit Contenders(std::size_t limit) : limit_(limit) {}

  float floor() const { return floor_; }
  bool can_enter(float upper) const { return !(upper < floor_); }
  void offer(float lower, const Candidate& candidate) {
    raise_floor(lower);
    kept_.push_back(candidate);
    if (kept_.size() >= prune_at_) prune();
  }
  /// With what another one kept: as if all had been offered to this one.
  void join(const Contenders& other) {
    for (const float lower : other.lowers_) raise_floor(lower);
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  }
  /// Those that can be worth most first.
  std::vector<Candidate> take() {
    prune();
    std::sort(kept_.begin(), kept_.end(), [](const Candidate& a, const Candidate& b) { return a.upper > b.upper; });
    return std::move(kept_);
  }

 private:
  /// To what the first `limit_` surely reach, this one among them.
  void raise_floor(float lower) {
    if (!(lower > floor_) || limit_ == 0) return;
    lowers_.push_back(lower);
    std::push_heap(lowers_.begin(), lowers_.end(), std::greater{});
    if (lowers_.size() > limit_) {
      std::pop_heap(lowers_.begin(), lowers_.end(), std::greater{});
      lowers_.pop_back();
    }
    if (lowers_.size() == limit_) floor_ = lowers_.front();
  }
  void prune() {
    std::erase_if(kept_, [this](const Candidate& candidate) { return !can_enter(candidate.upper); });
    prune_at_ = std::max(prune_at_, 2 * kept_.size());
  }

  const std::size_t limit_;
  float floor_ = -std::numeric_limits<float>::infinity();
  std::vector<float> lowers_;  // The least in front.
  std::vector<Candidate> kept_;
  std::size_t prune_at_ = 1024;
};

/// The query's codes against those of rows, and how far off that can be.
///
/// With x = s a + r, where s a is what the codes stand for and r the rest, and the query likewise,
///   x.q = (s a).(s' b) + r.(s' b) + x.r',  so it is off by |r| |s' b| + |x| |r'| at most.
/// On top comes what rounding does to the full product.
class CodeScores {
 public:
  CodeScores(const VectorSpace& space, std::span<const float> query) : space_(space), codes_(Codes::stride_for(space.dimension)) {
    facts_ = encode(query, codes_.data());
    length_ = facts_.norm + facts_.error;
    // A sum over lanes of 16 rounds once a step and once in each of a few halvings.
    constexpr float kUnit = std::numeric_limits<float>::epsilon();
    slack_ = (static_cast<float>(space.dimension) / 16 + 16) * kUnit;
  }

  void products(const Codes& codes, std::size_t first, std::size_t count, std::int32_t* out) const {
    space_.kernels->dot_codes(codes_.data(), codes.codes(first), codes.stride(), count, out);
  }

  struct Bounds {
    float lower;
    float upper;
  };
  /// Of a row whose codes are damaged: it is worth what its full numbers say.
  static constexpr Bounds kUnknown{-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
  /// Of the product, or of the squared distance below zero.
  Bounds bounds(const CodeFacts& row, std::int32_t product) const {
    const float middle = this->middle(row, product), off = this->off(row);
    if (space_.metric == Metric::kDot) return known(middle - off, middle + off);
    const float squares = facts_.norm * facts_.norm + row.norm * row.norm;
    const float rounding = 2 * slack_ * squares;
    return known(2 * (middle - off) - squares - rounding, std::min(0.0F, 2 * (middle + off) - squares + rounding));
  }
  /// Whether a row's product lies below surely: cheaper to tell than its bounds.
  bool is_below(float floor, const CodeFacts& row, std::int32_t product) const {
    return space_.metric == Metric::kDot && middle(row, product) + off(row) < floor;
  }
  GraphPoint point() const { return {codes_.data(), facts_.scale, facts_.norm}; }
  /// The score that stands for such a value.
  float to_score(float value) const { return space_.metric == Metric::kDot ? value : -std::sqrt(std::max(0.0F, -value)); }

 private:
  float middle(const CodeFacts& row, std::int32_t product) const { return facts_.scale * row.scale * static_cast<float>(product); }
  float off(const CodeFacts& row) const { return length_ * row.error + facts_.error * row.norm + slack_ * (facts_.norm * row.norm); }
  /// Numbers too large to compute with rule nothing out.
  static Bounds known(float lower, float upper) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return {std::isnan(lower) ? -kInfinity : lower, std::isnan(upper) ? kInfinity : upper};
  }

  const VectorSpace& space_;
  AlignedArray<std::int8_t> codes_;
  CodeFacts facts_;
  float length_ = 0;
  float slack_ = 0;
};

class Scan {
 public:
  Scan(const VectorSpace& space, const FlatQuery& query, std::vector<Scope> scopes, DamageCount& damaged, ScanReport& report)
      : space_(space),
        query_(query),
        scopes_(std::move(scopes)),
        exact_(space, query.vector, damaged),
        report_(report),
        top_(query.limit) {}

  std::vector<rows::ScoredLabel> full();
  std::vector<rows::ScoredLabel> by_codes();
  std::vector<rows::ScoredLabel> by_signs(std::size_t candidates);
  /// Nothing when the walk would have become dearer than a scan.
  std::optional<std::vector<rows::ScoredLabel>> by_graph(const SegmentGraph& graph, std::size_t effort, std::size_t visits_max);

 private:
  struct Guess {
    float estimate = 0;
    std::uint32_t scope = 0;
    std::uint32_t vector = 0;
  };
  class Guesses;

  void scan_run(const Segment& segment, std::size_t begin, std::size_t end);
  void compare_run(const CodeScores& codes, std::uint32_t scope, std::size_t begin, std::size_t end, Contenders& contenders);
  void guess_blocks(const SignQuery& signs, std::uint32_t scope, std::size_t begin, std::size_t end, Guesses& guesses) const;
  void guess_share(const SignQuery& signs, std::size_t begin, std::size_t end, Guesses& guesses) const;
  struct Bar {
    float floor = 0;  ///< Lower by more than rounding moves an estimate.
    float reached = 0;
  };
  Bar likely_bar(const SignQuery& signs, std::size_t candidates) const;
  Guesses guess_all(const SignQuery& signs, std::size_t candidates, float floor) const;
  std::vector<Guess> guess(const SignQuery& signs, std::size_t candidates);
  void prefetch_codes(const Guess& guess) const;
  /// Whether a vector's codes are; counts those that are not.
  bool is_sound(const Segment& segment, std::size_t vector) const {
    const bool sound = segment.codes.is_sound(vector);
    if (!sound) exact_.note_damage();
    return sound;
  }
  void compare_share(const CodeScores& codes, std::span<const Guess> found, Contenders& contenders) const;
  void compare_guesses(const CodeScores& codes, std::span<const Guess> found, Contenders& contenders);
  void score_rows(std::span<const Candidate> candidates, float* out) const;
  std::vector<rows::ScoredLabel> rescore(const CodeScores& codes, Contenders& contenders);

  const VectorSpace& space_;
  const FlatQuery& query_;
  const std::vector<Scope> scopes_;
  const ExactScores exact_;
  ScanReport& report_;
  rows::TopK top_;
};

/// The first `limit` by estimate, equal ones by label. Once it has seen a few times as many, it counts what it keeps by how high it lies:
/// so the floor rises with every guess, and choosing among them is left to the end.
class Scan::Guesses {
 public:
  /// `floor`: what the first `limit` are thought to reach; see reach().
  Guesses(const std::vector<Scope>& scopes, std::size_t limit, float floor)
      : scopes_(scopes), limit_(limit), cut_at_((floor > kNoFloor ? kRoom : 2) * limit), floor_(floor) {}
  static constexpr float kNoFloor = std::numeric_limits<float>::lowest();

  /// True when so many are known to reach it.
  bool reach(float estimate) const {
    return static_cast<std::size_t>(std::ranges::count_if(kept_, [&](const Guess& guess) { return guess.estimate >= estimate; })) >= limit_;
  }

  /// None that lies below is wanted.
  float floor() const { return floor_; }
  /// REQUIRES: guesses come in the order of scopes and vectors.
  void offer(const Guess& guess) {
    kept_.push_back(guess);
    if (step_ > 0) count(guess.estimate);
    if (kept_.size() < cut_at_) return;
    cut();
    count_anew();
  }
  /// With those of another one, which all come after: as if all had been offered to this one.
  void join(const Guesses& other) {
    floor_ = std::max(floor_, other.floor_);
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  }
  /// In the order that they came in.
  std::vector<Guess> take() {
    cut();
    return std::move(kept_);
  }

 private:
  static constexpr std::size_t kSteps = 512;
  /// Guesses are kept until there are so many times `limit_`.
  static constexpr std::size_t kRoom = 8;

  void count(float estimate) {
    const float steps = (estimate - low_) * inverse_;
    const std::size_t at = steps < kSteps - 1 ? static_cast<std::size_t>(std::max(0.0F, steps)) : kSteps - 1;
    ++counts_[at];
    if (at >= lowest_) ++counted_;
    while (counted_ - counts_[lowest_] >= limit_) counted_ -= counts_[lowest_++];
    // Half a step lower than need be: more than rounding moves an estimate, here and where kernels compare it with the floor.
    floor_ = low_ + (static_cast<float>(lowest_) - 0.5F) * step_;
  }

  /// Leaves the first `limit_`, in their order.
  void cut() {
    std::erase_if(kept_, [this](const Guess& guess) { return guess.estimate < floor_; });
    if (kept_.size() <= limit_) return;
    // Bare numbers are put in order several times as fast as guesses; only those that are as good as the last are told apart by label.
    std::vector<float> estimates(kept_.size());
    std::ranges::transform(kept_, estimates.begin(), &Guess::estimate);
    const auto last = estimates.begin() + static_cast<std::ptrdiff_t>(limit_) - 1;
    std::nth_element(estimates.begin(), last, estimates.end(), std::greater{});
    cut_below(*last);
  }
  /// REQUIRES: fewer than `limit_` lie above `least`, and with those that are equal to it there are as many or more.
  void cut_below(float least) {
    std::vector<Guess> equal;
    std::size_t above = 0;
    for (const Guess& guess : kept_) {
      if (guess.estimate > least) ++above;
      if (guess.estimate == least) equal.push_back(guess);
    }
    const auto name = [this](const Guess& guess) { return std::pair(label_of(guess), guess.vector); };
    const auto last = equal.begin() + static_cast<std::ptrdiff_t>(limit_ - above) - 1;
    std::ranges::nth_element(equal, last, {}, name);
    const auto last_name = name(*last);
    std::erase_if(kept_,
                  [&](const Guess& guess) { return guess.estimate < least || (guess.estimate == least && name(guess) > last_name); });
  }
  void count_anew() {
    const auto [least, most] = std::ranges::minmax(kept_, {}, &Guess::estimate);
    low_ = floor_ = least.estimate;
    // Those that come may lie twice as high.
    const float step = 2 * (most.estimate - low_) / kSteps;
    step_ = std::isnormal(step) && std::isnormal(1 / step) ? step : 0;
    inverse_ = 1 / step_;
    cut_at_ = (step_ > 0 ? kRoom : 2) * limit_;
    counts_.fill(0);
    counted_ = lowest_ = 0;
    if (step_ == 0) return;  // All alike, or too large to tell apart.
    for (const Guess& guess : kept_) count(guess.estimate);
  }
  std::int64_t label_of(const Guess& guess) const {
    const Segment& segment = *scopes_[guess.scope].segment;
    return segment.rows.label(segment.row_of(guess.vector));
  }

  const std::vector<Scope>& scopes_;
  const std::size_t limit_;
  std::size_t cut_at_;
  float floor_;
  std::vector<Guess> kept_;
  // How many of those kept lie in each step from low_ on; counted_ of them from step lowest_ on.
  std::array<std::uint32_t, kSteps> counts_{};
  float low_ = 0;
  float step_ = 0;  // 0: nothing is counted.
  float inverse_ = 0;
  std::size_t lowest_ = 0;
  std::size_t counted_ = 0;
};

void Scan::scan_run(const Segment& segment, std::size_t begin, std::size_t end) {
  float scores[kScanBlock];
  for (std::size_t i = begin; i < end;) {
    std::size_t last = i + 1;
    while (last < end && segment.first[last + 1] - segment.first[i] <= kScanBlock) ++last;
    const std::size_t base = segment.first[i];
    const std::size_t count = segment.first[last] - base;
    report_.scanned += count;
    // A row with more vectors than a block, or in a file, is looked at by itself.
    if (count > kScanBlock || !segment.raw.in_order_in_memory()) {
      for (; i < last; ++i) top_.offer(segment.rows.label(i), exact_.of_row(segment, i));
      continue;
    }
    exact_.of_run(segment, base, count, scores);
    for (; i < last; ++i) {
      top_.offer(segment.rows.label(i), *std::max_element(scores + (segment.first[i] - base), scores + (segment.first[i + 1] - base)));
    }
  }
}

std::vector<rows::ScoredLabel> Scan::full() {
  for (const Scope& scope : scopes_) {
    scope.for_each_run([&](std::size_t begin, std::size_t end) { scan_run(*scope.segment, begin, end); });
  }
  report_.rescored = report_.scanned;
  return top_.take();
}

void Scan::compare_run(const CodeScores& codes, std::uint32_t scope, std::size_t begin, std::size_t end, Contenders& contenders) {
  const Segment& segment = *scopes_[scope].segment;
  std::int32_t products[kScanBlock];
  // Vectors are taken block by block; a row whose vectors lie in two of them is carried over.
  CodeScores::Bounds best{-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  std::size_t row = begin;
  const std::size_t vectors_end = segment.first[end];
  for (std::size_t base = segment.first[begin]; base < vectors_end; base += kScanBlock) {
    const std::size_t count = std::min(kScanBlock, vectors_end - base);
    codes.products(segment.codes, base, count, products);
    const bool all_sound = segment.codes.are_sound(base, count);
    const bool may_skip = all_sound && segment.one_vector_each();
    for (std::size_t v = 0; v < count; ++v) {
      if (may_skip && codes.is_below(contenders.floor(), segment.codes.facts(base + v), products[v])) {
        ++row;
        continue;
      }
      const bool sound = all_sound || is_sound(segment, base + v);
      const auto bounds = sound ? codes.bounds(segment.codes.facts(base + v), products[v]) : CodeScores::kUnknown;
      best = {std::max(best.lower, bounds.lower), std::max(best.upper, bounds.upper)};
      if (base + v + 1 != segment.first[row + 1]) continue;
      if (contenders.can_enter(best.upper)) {
        contenders.offer(best.lower, {best.upper, scope, static_cast<std::uint32_t>(row)});
      }
      best.lower = best.upper = -std::numeric_limits<float>::infinity();
      ++row;
    }
  }
  report_.scanned += vectors_end - segment.first[begin];
}

void Scan::score_rows(std::span<const Candidate> candidates, float* out) const {
  const auto fetch = [&](std::size_t c) {
    if (c >= candidates.size()) return;
    const Segment& segment = *scopes_[candidates[c].scope].segment;
    prefetch(segment.raw.at(segment.first[candidates[c].row]), space_.stride * sizeof(float));
  };
  constexpr std::size_t kRowsAhead = 2;
  for (std::size_t c = 0; c < kRowsAhead; ++c) fetch(c);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    fetch(c + kRowsAhead);
    out[c] = exact_.of_row(*scopes_[candidates[c].scope].segment, candidates[c].row);
  }
}

std::vector<rows::ScoredLabel> Scan::rescore(const CodeScores& codes, Contenders& contenders) {
  const std::vector<Candidate> candidates = contenders.take();
  // Until there are as many as are asked for, none can be left out; from then on a few at a time.
  constexpr std::size_t kRowsAtOnce = 4;
  std::vector<float> scores;
  for (std::size_t c = 0; c < candidates.size();) {
    // None of those that follow can be worth more.
    if (codes.to_score(candidates[c].upper) < top_.floor()) break;
    const bool first = c == 0;
    const std::span<const Candidate> some =
        std::span(candidates).subspan(c, std::min(candidates.size() - c, first ? std::max(query_.limit, kRowsAtOnce) : kRowsAtOnce));
    scores.resize(some.size());
    const std::size_t parts = first && query_.helpers != nullptr ? kParts : 1;
    run_parts(first ? query_.helpers : nullptr, parts, [&](std::size_t part) {
      const std::size_t begin = some.size() * part / parts, end = some.size() * (part + 1) / parts;
      score_rows(some.subspan(begin, end - begin), scores.data() + begin);
    });
    for (std::size_t i = 0; i < some.size(); ++i, ++c) {
      if (codes.to_score(some[i].upper) < top_.floor()) return top_.take();
      const Segment& segment = *scopes_[some[i].scope].segment;
      top_.offer(segment.rows.label(some[i].row), scores[i]);
      report_.rescored += segment.first[some[i].row + 1] - segment.first[some[i].row];
    }
  }
  return top_.take();
}

std::vector<rows::ScoredLabel> Scan::by_codes() {
  const CodeScores codes(space_, query_.vector);
  Contenders contenders(query_.limit);
  for (std::uint32_t s = 0; s < scopes_.size(); ++s) {
    scopes_[s].for_each_run([&](std::size_t begin, std::size_t end) { compare_run(codes, s, begin, end, contenders); });
  }
  return rescore(codes, contenders);
}

void Scan::guess_blocks(const SignQuery& signs, std::uint32_t scope_index, std::size_t begin, std::size_t end, Guesses& guesses) const {
  const Scope& scope = scopes_[scope_index];
  const Segment& segment = *scope.segment;
  const Codes& codes = segment.codes;
  std::uint16_t sums[kScanBlock];
  for (std::size_t block = begin; block < end; block += kBlocksAtOnce) {
    const std::size_t blocks = std::min(kBlocksAtOnce, end - block);
    space_.kernels->sign_sums(signs.tables.data(), codes.sign_block(block), codes.sign_row_bytes(), blocks, sums);
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t base = (block + b) * kSignBlockRows;
      const std::uint16_t* const here = sums + b * kSignBlockRows;
      std::uint32_t reaching = space_.kernels->reaching(here, codes.norms() + base, signs.line, guesses.floor());
      for (; reaching != 0; reaching &= reaching - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(reaching));
        const std::size_t vector = base + lane;
        if (vector >= segment.vector_count()) break;
        if (!scope.all && !scope.shows(segment.row_of(vector))) continue;
        const float estimate = signs.line.at(here[lane], codes.norms()[vector]);
        // Never NaN, which has no place in an order.
        if (estimate >= guesses.floor()) {
          guesses.offer({estimate, scope_index, static_cast<std::uint32_t>(vector)});
        }
      }
    }
  }
}

/// Of the blocks of all scopes, counted through, those of [begin, end).
void Scan::guess_share(const SignQuery& signs, std::size_t begin, std::size_t end, Guesses& guesses) const {
  std::size_t before = 0;
  for (std::uint32_t s = 0; s < scopes_.size(); ++s) {
    const std::size_t count = scopes_[s].segment->codes.sign_block_count();
    const std::size_t from = std::clamp(begin, before, before + count), to = std::clamp(end, before, before + count);
    if (from < to) guess_blocks(signs, s, from - before, to - before, guesses);
    before += count;
  }
}

/// What the first `candidates` probably reach, by the estimates of one block in kSampled. Without it each of the first rows is taken for
/// one of them, and half of a search's time goes into letting go of those again.
Scan::Bar Scan::likely_bar(const SignQuery& signs, std::size_t candidates) const {
  constexpr std::size_t kSampled = 32;
  std::vector<float> estimates;
  float least = std::numeric_limits<float>::max(), most = Guesses::kNoFloor;
  std::uint16_t sums[kSignBlockRows];
  for (const Scope& scope : scopes_) {
    const Codes& codes = scope.segment->codes;
    const std::size_t block_bytes = kSignBlockRows * codes.sign_row_bytes();
    for (std::size_t block = kSampled / 2; block < codes.sign_block_count(); block += kSampled) {
      if (block + kSampled < codes.sign_block_count()) prefetch(codes.sign_block(block + kSampled), block_bytes);
      space_.kernels->sign_sums(signs.tables.data(), codes.sign_block(block), codes.sign_row_bytes(), 1, sums);
      const std::size_t base = block * kSignBlockRows;
      for (std::size_t r = 0; r < kSignBlockRows && base + r < codes.size(); ++r) {
        if (!scope.all && !scope.shows(scope.segment->row_of(base + r))) continue;
        const float estimate = signs.line.at(sums[r], codes.norms()[base + r]);
        if (std::isnan(estimate)) continue;
        estimates.push_back(estimate);
        least = std::min(least, estimate);
        most = std::max(most, estimate);
      }
    }
  }
  // Half as many again as would be the right number on average.
  const std::size_t rank = candidates * 3 / 2 / kSampled;
  constexpr std::size_t kSteps = 512;
  const float step = (most - least) / kSteps, inverse = 1 / step;
  const bool can_tell = rank > 0 && rank < estimates.size() && std::isnormal(step) && std::isnormal(inverse);
  if (!can_tell) return {Guesses::kNoFloor, Guesses::kNoFloor};  // Too few, all alike, or too large to tell apart.
  std::array<std::uint32_t, kSteps + 1> counts{};
  for (const float estimate : estimates) ++counts[static_cast<std::size_t>((estimate - least) * inverse)];
  std::size_t at = kSteps;
  for (std::size_t above = counts[at]; above <= rank; above += counts[at]) --at;
  return {least + (static_cast<float>(at) - 1) * step, least + static_cast<float>(at) * step};
}

Scan::Guesses Scan::guess_all(const SignQuery& signs, std::size_t candidates, float floor) const {
  std::size_t blocks = 0;
  for (const Scope& scope : scopes_) blocks += scope.segment->codes.sign_block_count();
  const std::size_t parts = query_.helpers == nullptr ? 1 : kParts;
  std::vector<Guesses> of_part(parts, Guesses(scopes_, candidates, floor));
  run_parts(query_.helpers, parts,
            [&](std::size_t part) { guess_share(signs, blocks * part / parts, blocks * (part + 1) / parts, of_part[part]); });
  for (std::size_t part = 1; part < parts; ++part) of_part[0].join(of_part[part]);
  return std::move(of_part[0]);
}

std::vector<Scan::Guess> Scan::guess(const SignQuery& signs, std::size_t candidates) {
  for (const Scope& scope : scopes_) report_.scanned += scope.segment->vector_count();
  const Bar bar = likely_bar(signs, candidates);
  if (bar.reached > Guesses::kNoFloor) {
    Guesses guesses = guess_all(signs, candidates, bar.floor);
    if (guesses.reach(bar.reached)) return guesses.take();
  }
  return guess_all(signs, candidates, Guesses::kNoFloor).take();
}

std::vector<rows::ScoredLabel> Scan::by_signs(std::size_t candidates) {
  SignQuery signs = make_sign_query(query_.vector, scopes_.front().segment->codes.sign_row_bytes());
  if (space_.metric == Metric::kEuclid) {
    // Twice the product less the square of the row: the squared distance below zero, but for the query's own.
    signs.line = {.slope = 2 * signs.line.slope, .offset = 2 * signs.line.offset, .bend = -1};
  }
  const std::vector<Guess> found = guess(signs, candidates);
  const CodeScores codes(space_, query_.vector);
  Contenders contenders(query_.limit);
  compare_guesses(codes, found, contenders);
  return rescore(codes, contenders);
}

void Scan::prefetch_codes(const Guess& guess) const {
  const Codes& codes = scopes_[guess.scope].segment->codes;
  prefetch(codes.codes(guess.vector), codes.stride());
  codes.prefetch_facts(guess.vector);
}

/// REQUIRES: of a row's guesses all are in `found`.
void Scan::compare_share(const CodeScores& codes, std::span<const Guess> found, Contenders& contenders) const {
  for (std::size_t g = 0; g < found.size();) {
    // One row's vectors follow each other.
    const std::uint32_t scope = found[g].scope;
    const Segment& segment = *scopes_[scope].segment;
    const std::size_t row = segment.row_of(found[g].vector);
    const std::size_t vectors_end = segment.first[row + 1];
    CodeScores::Bounds best{-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
    for (; g < found.size() && found[g].scope == scope && found[g].vector < vectors_end; ++g) {
      if (g + kAhead < found.size()) prefetch_codes(found[g + kAhead]);
      std::int32_t product = 0;
      codes.products(segment.codes, found[g].vector, 1, &product);
      const bool sound = is_sound(segment, found[g].vector);
      const auto bounds = sound ? codes.bounds(segment.codes.facts(found[g].vector), product) : CodeScores::kUnknown;
      best = {std::max(best.lower, bounds.lower), std::max(best.upper, bounds.upper)};
    }
    if (contenders.can_enter(best.upper)) contenders.offer(best.lower, {best.upper, scope, static_cast<std::uint32_t>(row)});
  }
}

void Scan::compare_guesses(const CodeScores& codes, std::span<const Guess> found, Contenders& contenders) {
  report_.compared = found.size();
  if (query_.helpers == nullptr) return compare_share(codes, found, contenders);
  const auto row_of = [&](const Guess& guess) { return scopes_[guess.scope].segment->row_of(guess.vector); };
  const auto begins_row = [&](std::size_t g) { return found[g].scope != found[g - 1].scope || row_of(found[g]) != row_of(found[g - 1]); };
  std::size_t begins[kParts + 1] = {};
  for (std::size_t part = 1; part <= kParts; ++part) {
    begins[part] = std::max(begins[part - 1], found.size() * part / kParts);
    while (begins[part] > 0 && begins[part] < found.size() && !begins_row(begins[part])) ++begins[part];
  }
  std::vector<Contenders> of_part(kParts, Contenders(query_.limit));
  run_parts(query_.helpers, kParts,
            [&](std::size_t part) { compare_share(codes, found.subspan(begins[part], begins[part + 1] - begins[part]), of_part[part]); });
  for (const Contenders& part : of_part) contenders.join(part);
}

std::optional<std::vector<rows::ScoredLabel>> Scan::by_graph(const SegmentGraph& graph, std::size_t effort, std::size_t visits_max) {
  constexpr std::uint32_t kNoScope = 0xFFFFFFFF;
  std::unordered_map<const SegmentBody*, std::uint32_t> scopes;
  for (std::uint32_t s = 0; s < scopes_.size(); ++s) scopes.emplace(scopes_[s].segment->body.get(), s);
  std::vector<std::uint32_t> scope_of(graph.body_count(), kNoScope);
  std::vector<bool> covered(scopes_.size(), false);
  for (std::uint32_t b = 0; b < scope_of.size(); ++b) {
    const auto found = scopes.find(graph.body(b));
    if (found == scopes.end()) continue;
    scope_of[b] = found->second;
    covered[found->second] = true;
  }
  const std::function<bool(std::uint32_t)> shows = [&](std::uint32_t node) {
    const auto [body, vector] = graph.place(node);
    const std::uint32_t s = scope_of[body];
    return s != kNoScope && scopes_[s].shows(scopes_[s].segment->row_of(vector));
  };
  const bool all_show = std::ranges::none_of(scope_of, [&](std::uint32_t s) { return s == kNoScope || !scopes_[s].all; });
  const CodeScores codes(space_, query_.vector);
  const Nearness nearness(space_.metric, Codes::stride_for(space_.dimension), *space_.kernels);
  std::size_t visited = 0;
  const Graph::Walk walk{.effort = effort, .visits_max = visits_max, .accepts = all_show ? nullptr : &shows};
  const auto hits = graph.graph().search(codes.point(), graph.points(), nearness, walk, visited);
  report_.scanned += visited;
  if (!hits) return std::nullopt;
  std::vector<Guess> found;
  found.reserve(hits->size());
  for (const GraphHit& hit : *hits) {
    const auto [body, vector] = graph.place(hit.node);
    found.push_back({hit.nearness, scope_of[body], vector});
  }
  std::ranges::sort(found, {}, [](const Guess& guess) { return std::pair(guess.scope, guess.vector); });
  Contenders contenders(query_.limit);
  compare_guesses(codes, found, contenders);
  for (std::uint32_t s = 0; s < scopes_.size(); ++s) {
    if (covered[s]) continue;
    scopes_[s].for_each_run([&](std::size_t begin, std::size_t end) { compare_run(codes, s, begin, end, contenders); });
  }
  return rescore(codes, contenders);
}

}  // namespace

ExactScores::ExactScores(const VectorSpace& space, std::span<const float> query, DamageCount& damaged)
    : space_(space), kernel_(kernel_for(space)), damaged_(damaged), query_(space.stride) {
  FOOTNOTE_ASSERT(query.size() == space.dimension);
  std::copy(query.begin(), query.end(), query_.data());
}

float ExactScores::to_score(float measured) const {
  switch (space_.metric) {
    case Metric::kDot: return measured;
    case Metric::kEuclid: return 0.0F - std::sqrt(measured);  // never -0
    case Metric::kManhattan: return 0.0F - measured;
  }
  return measured;
}

float ExactScores::of_vector(const Segment& segment, std::size_t vector) const {
  float out = 0;
  if (segment.raw.is_sound(vector)) {
    kernel_(query_.data(), segment.raw.at(vector), space_.stride, 1, &out);
  } else {
    note_damage();
    AlignedFloats decoded(space_.stride);
    if (segment.codes.is_sound(vector)) segment.codes.decode(vector, {decoded.data(), space_.dimension});
    kernel_(query_.data(), decoded.data(), space_.stride, 1, &out);
  }
  return to_score(out);
}

float ExactScores::of_row(const Segment& segment, std::size_t row) const {
  float best = -std::numeric_limits<float>::infinity();
  for (std::size_t v = segment.first[row]; v < segment.first[row + 1]; ++v) best = std::max(best, of_vector(segment, v));
  return best;
}

void ExactScores::of_run(const Segment& segment, std::size_t first, std::size_t count, float* out) const {
  kernel_(query_.data(), segment.raw.at(first), space_.stride, count, out);
  if (space_.metric == Metric::kDot) return;
  std::transform(out, out + count, out, [this](float measured) { return to_score(measured); });
}

std::vector<rows::ScoredLabel> scan(const VectorSpace& space, std::span<const SegmentPtr> segments, const SegmentGraph* graph,
                                    const FlatQuery& query, DamageCount& damaged, ScanReport& report) {
  std::vector<Scope> scopes = find_scopes(segments, query);
  if (scopes.empty() || query.limit == 0) return {};
  ScanTask task = task_of(space, scopes, graph, query.limit);
  report.plan = query.plan.value_or(choose_plan(task));
  if (report.plan == ScanPlan::kGraph) {
    if (task.visible_in_graph > 0) {
      const std::size_t effort = query.effort != 0 ? query.effort : graph_effort(task);
      const std::size_t visits_max = query.plan ? task.in_graph : graph_visits_max(task);
      Scan walk(space, query, scopes, damaged, report);
      if (auto found = walk.by_graph(*graph, effort, visits_max)) return *std::move(found);
    }
    // As if there were none.
    task.in_graph = task.visible_in_graph = 0;
    report.plan = choose_plan(task);
  }
  Scan scan(space, query, std::move(scopes), damaged, report);
  switch (report.plan) {
    case ScanPlan::kFull: return scan.full();
    case ScanPlan::kCodes: return scan.by_codes();
    case ScanPlan::kSigns: return scan.by_signs(std::min(sign_candidates(query.limit), task.held));
    case ScanPlan::kGraph: break;
  }
  return {};
}

}  // namespace footnote::ann
