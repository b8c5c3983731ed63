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

/// Whether points are read with their vectors.
enum class PointVectors { kLeftOut, kRead };

/// A point as a condition sees it. Good for the length of the call that it is given to.
struct PointView {
  ChunkId chunk;
  PointId id;
  std::string_view payload;                   ///< The text of a JSON object.
  std::span<const std::string_view> vectors;  ///< The names of its vectors; "" is the one of the corpus's own space.
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

/// Points by their ids, the declared keys of their payloads, and the collections that they are in. Every chunk of a corpus is a
/// point; a point from outside is written by ChunkStore::commit (ChunkDraft::point). Thread-safe; writes are durable when they
/// return, and make no generation. What belongs to another workspace reads as kNotFound.
class PointStore {
 public:
  virtual ~PointStore() = default;

  /// The live ones of these, in the order asked for.
  virtual Result<std::vector<Point>> points(const CallContext& call, CorpusId corpus, std::span<const PointId> ids,
                                            PointVectors vectors) const = 0;
  /// Those of these chunks that are still kept, dead ones too, in the order asked for.
  virtual Result<std::vector<Point>> points_of(const CallContext& call, CorpusId corpus, std::span<const ChunkId> chunks,
                                               PointVectors vectors) const = 0;
  /// Live ones by id from `from` on (inclusive; null: from the first), at most `limit`.
  virtual Result<std::vector<Point>> scroll(const CallContext& call, CorpusId corpus, const std::optional<PointId>& from, std::size_t limit,
                                            PointVectors vectors) const = 0;
  /// Every live one by id, all of one state: for exports.
  virtual Result<void> each(const CallContext& call, CorpusId corpus, const std::function<Result<void>(const Point&)>& take) const = 0;
  /// Those visible in a generation, in any order; only of `among` where it is not null. An error of the visitor ends it.
  virtual Result<void> visit(const CallContext& call, CorpusId corpus, Generation generation, const std::vector<ChunkId>* among,
                             const PointVisitor& visitor) const = 0;
  /// The chunks visible in a generation whose declared key has one of these values, in ascending order. nullopt: that key is not
  /// declared to be looked up (see is_looked_up).
  virtual Result<std::optional<std::vector<ChunkId>>> looked_up(const CallContext& call, CorpusId corpus, Generation generation,
                                                                std::string_view field, std::span<const PayloadKey> values) const = 0;

  /// Declares a key of payloads; an earlier declaration of it is replaced. kInvalidArgument: no JsonPath.
  virtual Result<void> put_index(const CallContext& call, CorpusId corpus, const PayloadIndex& index) = 0;
  /// False when it was not declared.
  virtual Result<bool> delete_index(const CallContext& call, CorpusId corpus, std::string_view field) = 0;
  /// By field.
  virtual Result<std::vector<PayloadIndex>> indexes(const CallContext& call, CorpusId corpus) const = 0;

  /// By its name, or by an alias of it. kNotFound.
  virtual Result<Collection> collection(const CallContext& call, WorkspaceId workspace, std::string_view name) const = 0;
  /// kAlreadyExists: a collection or an alias of that name. kInvalidArgument: a bad name or dimension, two spaces of one name.
  virtual Result<Collection> create_collection(const CallContext& call, const Collection& wanted) = 0;
  virtual Result<void> set_config(const CallContext& call, CorpusId corpus, std::string_view config) = 0;
  /// It and all that is in it are gone, its aliases too; turns that were asked of it stay. kNotFound.
  virtual Result<void> delete_collection(const CallContext& call, CorpusId corpus) = 0;
  /// By alias.
  virtual Result<std::vector<CollectionAlias>> aliases(const CallContext& call, WorkspaceId workspace) const = 0;
  /// All of them, in order, or none. kNotFound: no such collection or alias. kAlreadyExists: a collection has that name.
  virtual Result<void> change_aliases(const CallContext& call, WorkspaceId workspace, std::span<const AliasChange> changes) = 0;
};

}  // namespace footnote
