#include "points/answer_points.h"

#include <algorithm>
#include <iterator>

#include "base/json_size.h"

namespace footnote::points {

namespace {

/// Points read between two checks of the memory limit; a payload has at most 1 MiB.
constexpr std::size_t kPointsPerRead = 32;
/// Overhead of a point: the object itself, and its record in the answer.
constexpr std::size_t kBytesPerPoint = 512;
/// Size of a JSON number, plus its digits in the answer.
constexpr std::size_t kBytesPerNumber = 36;

Result<void> append(std::vector<Point> read, Work& work, std::vector<Point>& out) {
  for (const Point& point : read) FOOTNOTE_CHECK(work.hold(held_bytes(point)));
  std::ranges::move(read, std::back_inserter(out));
  return {};
}

template <class Id, class Read>
Result<std::vector<Point>> read_in_slices(std::span<const Id> ids, Work& work, const Read& read) {
  std::vector<Point> out;
  out.reserve(ids.size());
  while (!ids.empty()) {
    const std::span<const Id> slice = ids.first(std::min(ids.size(), kPointsPerRead));
    ids = ids.subspan(slice.size());
    FOOTNOTE_TRY(std::vector<Point> points, read(slice));
    FOOTNOTE_CHECK(append(std::move(points), work, out));
  }
  return out;
}

}  // namespace

std::size_t held_bytes(const Point& point) {
  JsonSize size;
  size.feed(point.payload);
  std::size_t numbers = point.vector.size();
  for (const auto& [name, vector] : point.named_vectors) numbers += vector.size();
  return kBytesPerPoint + point.payload.size() + size.tree_bytes() + numbers * kBytesPerNumber;
}

Result<std::vector<Point>> read_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                       PointVectors vectors, Work& work) {
  return read_in_slices(ids, work, [&](std::span<const PointId> slice) { return store.points(call, corpus, slice, vectors); });
}

Result<std::vector<Point>> read_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                       PointVectors vectors, Work& work) {
  return read_in_slices(chunks, work, [&](std::span<const ChunkId> slice) { return store.points_of(call, corpus, slice, vectors); });
}

Result<std::vector<Point>> scroll_points(const PointStore& store, const CallContext& call, CorpusId corpus, std::optional<PointId> from,
                                         std::size_t limit, PointVectors vectors, Work& work) {
  std::vector<Point> out;
  while (out.size() < limit) {
    const std::size_t wanted = std::min(limit - out.size(), kPointsPerRead);
    // Read one more: it is where the next read starts.
    FOOTNOTE_TRY(std::vector<Point> points, store.scroll(call, corpus, from, wanted + 1, vectors));
    const bool more = points.size() > wanted;
    if (more) {
      from = points.back().id;
      points.pop_back();
    }
    FOOTNOTE_CHECK(append(std::move(points), work, out));
    if (!more) break;
  }
  return out;
}

}  // namespace footnote::points
