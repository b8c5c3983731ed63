#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/call_context.h"
#include "points/fusion.h"
#include "points/point_matcher.h"
#include "ports/point_store.h"
#include "ports/vector_store.h"

namespace footnote::points {

/// A vector to be near to: given, or that of a point, which is then left out itself.
struct Nearest {
  std::variant<std::vector<float>, PointId> to;
};
/// Fuses the lists of the prefetches.
struct FuseLists {
  Fusion fusion = Fusion::kRanks;
  double rank_constant = kRankConstantDefault;
  std::vector<double> weights;
};
/// By the numbers or times of a payload's key; points without one are left out.
struct OrderBy {
  JsonPath path;
  bool descending = false;
  std::optional<double> start_from;  ///< A number, or a time in milliseconds.
};
/// By id.
struct AllPoints {};

struct PointQuery {
  std::variant<AllPoints, Nearest, FuseLists, OrderBy> what;
  std::string space;                 ///< The further space to search; "" for the corpus's own.
  std::vector<PointQuery> prefetch;  ///< Nearest and OrderBy look only at what these found.
  std::optional<PointFilter> filter;
  std::optional<double> score_threshold;
  std::size_t limit = 10;
  std::size_t offset = 0;
};

/// A point that was found. `score` is as clients know it: of Euclid and Manhattan the distance, lower is better.
struct ScoredPoint {
  Point point;
  double score = 0;
};

struct PointGroup {
  PayloadKey value;
  std::vector<ScoredPoint> hits;
};

struct FacetHit {
  PayloadKey value;
  std::size_t count = 0;
};

/// Finds points. One query sees one generation. Thread-safe; borrows its ports.
/// kInvalidArgument names the field: an unknown space, another dimension, a vector without direction.
class PointSearch {
 public:
  PointSearch(const PointStore& store, const VectorSearch& vectors) : store_(store), vectors_(vectors), matcher_(store) {}

  /// Best first, equal scores by chunk.
  Result<std::vector<ScoredPoint>> query(const CallContext& call, const Corpus& corpus, const PointQuery& query, PointVectors with) const;
  /// The best `group_size` of each of the best `query.limit` values of a key, best groups first.
  Result<std::vector<PointGroup>> groups(const CallContext& call, const Corpus& corpus, PointQuery query, const JsonPath& group_by,
                                         std::size_t group_size, PointVectors with) const;
  /// By id from `from` on.
  Result<std::vector<Point>> scroll(const CallContext& call, const Corpus& corpus, const PointFilter* filter,
                                    const std::optional<PointId>& from, std::size_t limit, PointVectors with) const;
  Result<std::size_t> count(const CallContext& call, const Corpus& corpus, const PointFilter& filter) const;
  /// How often each value of a key comes, the most frequent first.
  Result<std::vector<FacetHit>> facet(const CallContext& call, const Corpus& corpus, const JsonPath& key, const PointFilter* filter,
                                      std::size_t limit) const;
  /// The points that meet a filter in the store's newest state.
  Result<ChunkList> matching(const CallContext& call, const Corpus& corpus, const PointFilter& filter) const {
    return matcher_.matching(call, corpus.id, corpus.generation, filter);
  }

 private:
  class Run;

  const PointStore& store_;
  const VectorSearch& vectors_;
  const PointMatcher matcher_;
};

/// How a corpus's space of that name measures ("" for its own). kInvalidArgument: it has none of that name.
struct SpaceShape {
  int dimension = 0;
  Distance distance = Distance::kCosine;
};
Result<SpaceShape> shape_of(const Corpus& corpus, std::string_view space);

/// Lower is better.
inline bool counts_down(Distance distance) { return distance == Distance::kEuclid || distance == Distance::kManhattan; }

}  // namespace footnote::points
