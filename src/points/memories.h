#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "points/point_search.h"
#include "points/point_writer.h"
#include "ports/catalog_store.h"
#include "ports/embedder.h"
#include "ports/point_store.h"

namespace footnote::points {

/// The collection for notes, one per workspace; created by the first note.
inline constexpr std::string_view kMemoriesCollection = "agent-memories";

inline constexpr std::size_t kMemoryTextBytesMax = 16'000;
inline constexpr std::size_t kMemoryNameBytesMax = 200;  ///< Limit on an agent's name and on a note's id.
inline constexpr std::size_t kMemoryMetadataBytesMax = 8'192;
inline constexpr std::chrono::days kMemoryLifetimeMax{3'660};
inline constexpr std::size_t kMemoriesFoundDefault = 10;
inline constexpr std::size_t kMemoriesFoundMax = 100;
struct MemoryOptions {
  int vector_size = 384;
  std::size_t sweep_step = 1'000;  ///< Notes examined (and at most removed) per commit of a sweep.
  int sweep_steps_max = 10;        ///< Steps per sweep in each collection.
};

struct NewMemory {
  std::string agent;
  std::string id;  ///< Empty: generated.
  std::string text;
  JsonObject metadata;
  std::optional<UtcTime> expires_at;
};

struct Memory {
  std::string id;
  std::string agent;
  std::string text;
  JsonObject metadata;
  std::optional<UtcTime> created_at;  ///< Unknown for points that were not written through this class.
  std::optional<UtcTime> expires_at;
};

struct WrittenMemory {
  Memory memory;
  bool is_new = true;
};

struct MemoryQuery {
  std::string agent;
  std::string text;
  std::size_t limit = kMemoriesFoundDefault;
  std::optional<double> score_min;  ///< Minimum cosine.
};

struct FoundMemory {
  Memory memory;
  double score = 0;
};

/// Notes that agents write for themselves, stored as points of one collection. Each note belongs to one agent of one workspace; no other
/// agent can find, replace or remove it through this class. A note disappears at the moment it expires; `sweep` removes its point later.
/// Points upserted into that collection with `agent_id` and `text` in their payload are notes as well. Thread-safe; borrows its ports.
/// kInvalidArgument, and kTooLarge for a text past its bound, name the field. kFailedPrecondition: the collection or the embedder has
/// another size than configured, or another model; nothing is changed then. Errors of the embedder.
class Memories {
 public:
  struct Ports {
    PointStore& points;
    CatalogStore& catalog;
    const PointSearch& search;
    PointWriter& writer;
    Embedder& embedder;
    const Clock& clock;
  };
  Memories(const Ports& ports, const MemoryOptions& options) : ports_(ports), options_(options) {}

  /// The space in which the collection is created.
  EmbeddingSpace space() const { return ports_.embedder.space(); }

  /// Adds a note, or replaces the agent's note of the same id as a whole, so writing is idempotent. Durable and searchable when it returns.
  Result<WrittenMemory> write(const CallContext& call, WorkspaceId workspace, const NewMemory& memory);
  /// Closest first. A note longer than the model's window is embedded as the mean of its windows.
  Result<std::vector<FoundMemory>> search(const CallContext& call, WorkspaceId workspace, const MemoryQuery& query) const;
  /// kNotFound: the agent has no such note.
  Result<void> forget(const CallContext& call, WorkspaceId workspace, std::string_view agent, std::string_view id);
  /// Removes expired notes of every workspace and returns their number. Examines a bounded number of notes per collection; the next sweep
  /// continues from there.
  Result<std::size_t> sweep(const CallContext& call);

 private:
  Result<void> check_corpus(const Corpus& corpus) const;
  /// nullopt: no note was written yet.
  Result<std::optional<Corpus>> find_corpus(const CallContext& call, WorkspaceId workspace) const;
  Result<Corpus> ensure_corpus(const CallContext& call, WorkspaceId workspace);
  Result<std::vector<float>> embed(const CallContext& call, std::string_view text, EmbedKind kind) const;
  Result<std::size_t> sweep_corpus(const CallContext& call, const Corpus& corpus);

  const Ports ports_;
  const MemoryOptions options_;
  Mutex mutex_;
  std::map<CorpusId, PointId> next_to_sweep_ FOOTNOTE_TSA(guarded_by(mutex_));
};

}  // namespace footnote::points
