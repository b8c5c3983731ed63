#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/call_context.h"
#include "points/examples.h"
#include "points/fusion.h"
#include "points/point_matcher.h"
#include "ports/point_store.h"
#include "ports/vector_store.h"

namespace footnote::points {

struct Nearest {
  Example to;
  std::optional<Diversify> diversify;
};
/// Fuses the lists of the prefetches.
struct FuseLists {
  Fusion fusion = Fusion::kRanks;
  double rank_constant = kRankConstantDefault;
  std::vector<double> weights;
};
/// Orders by the numbers or times of a payload key; points without one are left out.
struct OrderBy {
  JsonPath path;
  bool descending = false;
  std::optional<double> start_from;  ///< A number, or a time in microseconds.
};
/// Orders by id.
struct AllPoints {};
/// Random points.
struct Sample {};

/// The collection, and its space, that the points of examples are looked up in.
struct LookupFrom {
  std::string collection;
  std::optional<std::string> space;  ///< Default: the space that is searched.
};

struct PointQuery {
  std::variant<AllPoints, Nearest, FuseLists, OrderBy, Recommend, Discover, Sample> what;
  std::string space;  ///< The named space to search; "" for the corpus's own.
  std::optional<LookupFrom> lookup_from;
  std::vector<PointQuery> prefetch;   ///< All but FuseLists consider only the results of these.
  std::optional<PointFilter> filter;  ///< Applies to the prefetches too.
  std::optional<double> score_threshold;
  std::size_t limit = 10;
  std::size_t offset = 0;
};

/// A search result. `score` is what clients expect: for Euclid and Manhattan the distance, lower is better.
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

/// Searches points. One query sees one generation. Thread-safe; borrows its ports. kInvalidArgument names the field: an unknown space, a
/// wrong dimension, a zero vector; or the request's work is used up.
class PointSearch {
 public:
  /// `work_max`: steps of one request; 0: no limit.
  PointSearch(const PointStore& store, const VectorSearch& vectors, std::size_t work_max = 0)
      : store_(store), vectors_(vectors), work_max_(work_max), matcher_(store) {}

  /// Starts the budget of one request: pass it to all queries of that request.
  Work new_work() const { return Work(work_max_); }

  /// Best first, equal scores by chunk.
  Result<std::vector<ScoredPoint>> query(const CallContext& call, const Corpus& corpus, const PointQuery& query, PointVectors with,
                                         Work& work) const;
  /// The best `group_size` points of each of the best `query.limit` values of a key, best groups first.
  Result<std::vector<PointGroup>> groups(const CallContext& call, const Corpus& corpus, PointQuery query, const JsonPath& group_by,
                                         std::size_t group_size, PointVectors with, Work& work) const;
  /// In id order, starting at `from`.
  Result<std::vector<Point>> scroll(const CallContext& call, const Corpus& corpus, const PointFilter* filter,
                                    const std::optional<PointId>& from, std::size_t limit, PointVectors with, Work& work) const;
  Result<std::size_t> count(const CallContext& call, const Corpus& corpus, const PointFilter& filter, Work& work) const;
  /// Counts the occurrences of each value of a key, most frequent first.
  Result<std::vector<FacetHit>> facet(const CallContext& call, const Corpus& corpus, const JsonPath& key, const PointFilter* filter,
                                      std::size_t limit, Work& work) const;
  /// The points that match a filter in the store's newest state.
  Result<ChunkList> matching(const CallContext& call, const Corpus& corpus, const PointFilter& filter, Work& work) const {
    return matcher_.matching(call, corpus.id, corpus.generation, filter, work);
  }

 private:
  class Run;

  const PointStore& store_;
  const VectorSearch& vectors_;
  const std::size_t work_max_;
  const PointMatcher matcher_;
};

/// The shape and distance of the corpus's space of that name ("" for its own). kInvalidArgument: there is no such space.
struct SpaceShape {
  int dimension = 0;
  Distance distance = Distance::kCosine;
};
Result<SpaceShape> shape_of(const Corpus& corpus, std::string_view space);

/// Whether lower scores are better.
inline bool counts_down(Distance distance) { return distance == Distance::kEuclid || distance == Distance::kManhattan; }

}  // namespace footnote::points
