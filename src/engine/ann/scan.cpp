#include "engine/ann/scan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>

#include "engine/ann/code_scores.h"
#include "engine/ann/contenders.h"
#include "engine/ann/scan_scope.h"
#include "engine/ann/scan_sizes.h"
#include "engine/ann/sign_scan.h"
#include "engine/rows/top_k.h"

namespace footnote::ann {
namespace {

// Scattered rows are prefetched this many steps ahead.
constexpr std::size_t kAhead = 8;

ScanTask task_of(const VectorSpace& space, std::span<const ScanScope> scopes, const SegmentGraph* graph, std::size_t limit) {
  ScanTask task{.metric = space.metric, .limit = limit};
  std::size_t rows = 0;
  for (const ScanScope& scope : scopes) {
    task.visible += scope.vectors();
    task.held += scope.segment->vector_count();
    rows += scope.segment->rows.size();
    if (graph != nullptr && graph->covers(scope.segment->body.get())) task.visible_in_graph += scope.vectors();
  }
  // A walk also visits vectors of segments that have no visible row.
  if (task.visible_in_graph > 0) task.in_graph = graph->covered();
  task.vectors_per_row = (task.held + rows - 1) / rows;
  return task;
}

class Scan {
 public:
  Scan(const VectorSpace& space, const FlatQuery& query, std::vector<ScanScope> scopes, DamageCount& damaged, ScanReport& report)
      : space_(space),
        query_(query),
        scopes_(std::move(scopes)),
        exact_(space, query.vector, damaged),
        report_(report),
        top_(query.limit) {}

  std::vector<rows::ScoredLabel> full();
  std::vector<rows::ScoredLabel> by_codes();
  std::vector<rows::ScoredLabel> by_signs(std::size_t candidates);
  /// nullopt when the walk got more expensive than a scan.
  std::optional<std::vector<rows::ScoredLabel>> by_graph(const SegmentGraph& graph, std::size_t effort, std::size_t visits_max);

 private:
  void scan_run(const Segment& segment, std::size_t begin, std::size_t end);
  void compare_run(const CodeScores& codes, std::uint32_t scope, std::size_t begin, std::size_t end, Contenders& contenders);
  void prefetch_codes(const Guess& guess) const;
  /// Whether a vector's codes match their checksum; counts those that do not.
  bool is_sound(const Segment& segment, std::size_t vector) const {
    const bool sound = segment.codes.is_sound(vector);
    if (!sound) exact_.note_damage();
    return sound;
  }
  void compare_part(const CodeScores& codes, std::span<const Guess> found, Contenders& contenders) const;
  void compare_guesses(const CodeScores& codes, std::span<const Guess> found, Contenders& contenders);
  void score_rows(std::span<const Candidate> candidates, float* out) const;
  std::vector<rows::ScoredLabel> rescore(const CodeScores& codes, Contenders& contenders);

  const VectorSpace& space_;
  const FlatQuery& query_;
  const std::vector<ScanScope> scopes_;
  const ExactScores exact_;
  ScanReport& report_;
  rows::TopK top_;
};

void Scan::scan_run(const Segment& segment, std::size_t begin, std::size_t end) {
  float scores[kScanBlock];
  for (std::size_t i = begin; i < end;) {
    std::size_t last = i + 1;
    while (last < end && segment.first[last + 1] - segment.first[i] <= kScanBlock) ++last;
    const std::size_t base = segment.first[i];
    const std::size_t count = segment.first[last] - base;
    report_.scanned += count;
    // Rows with more vectors than a block, and rows in a file, are scored one by one.
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
  for (const ScanScope& scope : scopes_) {
    scope.for_each_run([&](std::size_t begin, std::size_t end) { scan_run(*scope.segment, begin, end); });
  }
  report_.rescored = report_.scanned;
  return top_.take();
}

void Scan::compare_run(const CodeScores& codes, std::uint32_t scope, std::size_t begin, std::size_t end, Contenders& contenders) {
  const Segment& segment = *scopes_[scope].segment;
  std::int32_t products[kScanBlock];
  // Vectors are compared block by block; `best` carries over a row that spans two blocks.
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
  // The first `limit` rows are all needed, so score them at once; the rest a few at a time, until the bound ends the loop.
  constexpr std::size_t kRowsAtOnce = 4;
  std::vector<float> scores;
  for (std::size_t c = 0; c < candidates.size();) {
    // Candidates are sorted by upper bound: no later one can enter the top-k.
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

std::vector<rows::ScoredLabel> Scan::by_signs(std::size_t candidates) {
  for (const ScanScope& scope : scopes_) report_.scanned += scope.segment->vector_count();
  const std::vector<Guess> found = guess_by_signs(space_, query_.vector, scopes_, candidates, query_.helpers);
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

/// REQUIRES: `found` contains all guesses of each of its rows.
void Scan::compare_part(const CodeScores& codes, std::span<const Guess> found, Contenders& contenders) const {
  for (std::size_t g = 0; g < found.size();) {
    // Vectors of a row are adjacent.
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
  if (query_.helpers == nullptr) return compare_part(codes, found, contenders);
  const auto row_of = [&](const Guess& guess) { return scopes_[guess.scope].segment->row_of(guess.vector); };
  const auto begins_row = [&](std::size_t g) { return found[g].scope != found[g - 1].scope || row_of(found[g]) != row_of(found[g - 1]); };
  std::size_t begins[kParts + 1] = {};
  for (std::size_t part = 1; part <= kParts; ++part) {
    begins[part] = std::max(begins[part - 1], found.size() * part / kParts);
    while (begins[part] > 0 && begins[part] < found.size() && !begins_row(begins[part])) ++begins[part];
  }
  std::vector<Contenders> of_part(kParts, Contenders(query_.limit));
  run_parts(query_.helpers, kParts,
            [&](std::size_t part) { compare_part(codes, found.subspan(begins[part], begins[part + 1] - begins[part]), of_part[part]); });
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

std::vector<rows::ScoredLabel> scan(const VectorSpace& space, std::span<const SegmentPtr> segments, const SegmentGraph* graph,
                                    const FlatQuery& query, DamageCount& damaged, ScanReport& report) {
  std::vector<ScanScope> scopes = find_scopes(segments, query.generation, query.filter);
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
    // Choose again, as if there were no graph.
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
