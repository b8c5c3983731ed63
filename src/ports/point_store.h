#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/call_context.h"
#include "domain/point.h"

namespace footnote {

/// Whether to read points with their vectors.
enum class PointVectors { kLeftOut, kRead };

/// A point as seen by a condition. Valid during the call it is passed to.
struct PointView {
  ChunkId chunk;
  PointId id;
  std::string_view payload;                   ///< A JSON object as text.
  std::span<const std::string_view> vectors;  ///< Names of its vectors; "" is the corpus's own space.
};
using PointVisitor = std::function<Result<void>(const PointView&)>;

struct MakeAlias {
  std::string alias;
  std::string collection;
};
struct DropAlias {
  std::string alias;
};
struct RenameAlias {
  std::string from;
  std::string to;
};
using AliasChange = std::variant<MakeAlias, DropAlias, RenameAlias>;

/// Points by id, indexed keys of their payloads, and the collections they belong to. Every chunk of a corpus is a point; external points
/// are written by ChunkStore::commit (ChunkDraft::point). Thread-safe; writes are durable when they return, and create no generation.
/// Objects of other workspaces are kNotFound.
class PointStore {
 public:
  virtual ~PointStore() = default;

  /// The live ones of these points, in the requested order.
  virtual Result<std::vector<Point>> points(const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                            PointVectors vectors) const = 0;
  /// The points of those chunks that are still stored, including dead ones, in the requested order.
  virtual Result<std::vector<Point>> points_of(const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                               PointVectors vectors) const = 0;
  /// Live points ordered by id, starting at `from` (inclusive; null: from the first), at most `limit`.
  virtual Result<std::vector<Point>> scroll(const CallContext& call, CorpusId corpus, const std::optional<PointId>& from, std::size_t limit,
                                            PointVectors vectors) const = 0;
  /// All live points ordered by id, from one consistent state: for exports.
  virtual Result<void> each(const CallContext& call, CorpusId corpus, const std::function<Result<void>(const Point&)>& take) const = 0;
  /// Points visible in a generation, in any order; restricted to `among` if not null. An error of the visitor ends the visit.
  virtual Result<void> visit(const CallContext& call, CorpusId corpus, Generation generation, const std::vector<ChunkId>* among,
                             const PointVisitor& visitor) const = 0;
  /// Chunks visible in a generation whose indexed key has one of these values, ascending. nullopt: that key is not indexed for lookups (see
  /// is_looked_up).
  virtual Result<std::optional<std::vector<ChunkId>>> looked_up(const CallContext& call, CorpusId corpus, Generation generation,
                                                                std::string_view field, std::span<const PayloadKey> values) const = 0;

  /// Declares a payload index and replaces an earlier declaration. kInvalidArgument: not a valid JsonPath.
  virtual Result<void> put_index(const CallContext& call, CorpusId corpus, const PayloadIndex& index) = 0;
  /// False if it was not declared.
  virtual Result<bool> delete_index(const CallContext& call, CorpusId corpus, std::string_view field) = 0;
  /// Ordered by field.
  virtual Result<std::vector<PayloadIndex>> indexes(const CallContext& call, CorpusId corpus) const = 0;

  /// Looks up a collection by name or alias. kNotFound.
  virtual Result<Collection> collection(const CallContext& call, WorkspaceId workspace, std::string_view name) const = 0;
  /// kAlreadyExists: a collection or alias has that name. kInvalidArgument: bad name or dimension, or two spaces with one name.
  virtual Result<Collection> create_collection(const CallContext& call, const Collection& wanted) = 0;
  virtual Result<void> set_config(const CallContext& call, CorpusId corpus, std::string_view config) = 0;
  /// Deletes the collection with its contents and aliases; turns about it are kept. kNotFound.
  virtual Result<void> delete_collection(const CallContext& call, CorpusId corpus) = 0;
  /// Ordered by alias.
  virtual Result<std::vector<CollectionAlias>> aliases(const CallContext& call, WorkspaceId workspace) const = 0;
  /// All in order, or none. kNotFound: no such collection or alias. kAlreadyExists: a collection has that name.
  virtual Result<void> change_aliases(const CallContext& call, WorkspaceId workspace, std::span<const AliasChange> changes) = 0;
};

}  // namespace footnote
