#include "points/point_matcher.h"

#include <algorithm>
#include <iterator>

namespace footnote::points {

namespace {

std::vector<ChunkId> both(const std::vector<ChunkId>& a, const std::vector<ChunkId>& b) {
  std::vector<ChunkId> out;
  std::ranges::set_intersection(a, b, std::back_inserter(out));
  return out;
}

}  // namespace

Result<ChunkList> PointMatcher::matching(const CallContext& call, CorpusId corpus, Generation generation, const PointFilter& filter,
                                         Work& work) const {
  Key key{corpus, generation, filter.text};
  if (ChunkList known = find(key)) return known;
  FOOTNOTE_TRY(Candidates found, candidates(call, corpus, generation, filter.conditions));
  std::vector<ChunkId> chunks;
  if (found.exact) {
    chunks = *std::move(found.chunks);
  } else {
    FilterRun run(work.left());
    FOOTNOTE_CHECK(
        store_.visit(call, corpus, generation, found.chunks ? &*found.chunks : nullptr, [&](const PointView& point) -> Result<void> {
          FOOTNOTE_TRY(const Json payload, parse_json(point.payload));
          const std::size_t before = run.steps();
          if (payload.is_object() && run.matches(filter.conditions, point, payload.get_object())) chunks.push_back(point.chunk);
          return work.spend(run.steps() - before);
        }));
    std::ranges::sort(chunks);
  }
  ChunkList out = std::make_shared<const std::vector<ChunkId>>(std::move(chunks));
  keep(std::move(key), out);
  return out;
}

Result<PointMatcher::Candidates> PointMatcher::candidates(const CallContext& call, CorpusId corpus, Generation generation,
                                                          const PayloadFilter& filter) const {
  Candidates out;
  bool all = filter.should.empty() && filter.must_not.empty() && filter.min_should.empty();
  for (const Condition& condition : filter.must) {
    FOOTNOTE_TRY(auto found, look_up(call, corpus, generation, condition));
    if (!found) {
      all = false;
    } else {
      out.chunks = out.chunks ? both(*out.chunks, *found) : *std::move(found);
    }
  }
  out.exact = all && out.chunks.has_value();
  return out;
}

Result<std::optional<std::vector<ChunkId>>> PointMatcher::look_up(const CallContext& call, CorpusId corpus, Generation generation,
                                                                  const Condition& condition) const {
  if (const auto* ids = std::get_if<HasId>(&condition)) {
    FOOTNOTE_TRY(const auto points, store_.points(call, corpus, ids->ids, PointVectors::kLeftOut));
    std::vector<ChunkId> chunks;
    for (const Point& point : points) {
      // The point changed since this generation and had another chunk then, which only a full scan finds.
      if (point.version > generation) return std::nullopt;
      chunks.push_back(point.chunk);
    }
    if (points.size() < ids->ids.size()) return std::nullopt;  // a missing point may have existed in this generation
    std::ranges::sort(chunks);
    return chunks;
  }
  const auto* field = std::get_if<FieldCondition>(&condition);
  const auto* match = field == nullptr ? nullptr : std::get_if<MatchAny>(&field->test);
  if (match == nullptr) return std::nullopt;
  return store_.looked_up(call, corpus, generation, field->field, match->values.keys());
}

ChunkList PointMatcher::find(const Key& key) const {
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->chunks;
}

void PointMatcher::keep(Key key, const ChunkList& chunks) const {
  if (chunks->size() > kMatchedIdsKeptMax) return;
  const MutexLock lock(mutex_);
  if (by_key_.contains(key)) return;
  ids_kept_ += chunks->size();
  entries_.push_front({key, chunks});
  by_key_.emplace(std::move(key), entries_.begin());
  while (entries_.size() > kMatchesKeptMax || ids_kept_ > kMatchedIdsKeptMax) {
    ids_kept_ -= entries_.back().chunks->size();
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

}  // namespace footnote::points
