#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"

namespace footnote {

/// Workspaces, corpora, sources and keys. Thread-safe; writes are durable when they return.
class CatalogStore {
 public:
  virtual ~CatalogStore() = default;
  /// Ordered by name.
  virtual Result<std::vector<Workspace>> workspaces(const CallContext& call) const = 0;
  virtual Result<Workspace> find_workspace(const CallContext& call, std::string_view name) const = 0;
  /// kAlreadyExists; kInvalidArgument for a bad name.
  virtual Result<Workspace> add_workspace(const CallContext& call, std::string_view name) = 0;
  virtual Result<std::vector<Corpus>> corpora(const CallContext& call, WorkspaceId workspace) const = 0;
  /// kNotFound lists the corpora that exist.
  virtual Result<Corpus> find_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name) const = 0;
  virtual Result<Corpus> corpus(const CallContext& call, CorpusId id) const = 0;
  /// Returns the corpus with that name; creates it in `space` if missing. kFailedPrecondition if it exists in another space; the message
  /// names the model it was created with.
  virtual Result<Corpus> ensure_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name,
                                       const EmbeddingSpace& space) = 0;
  /// Replaces the corpus's calibration; nullopt removes it. kNotFound.
  virtual Result<void> set_gate(const CallContext& call, CorpusId corpus, const std::optional<GateCalibration>& gate) = 0;
  virtual Result<Source> ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) = 0;
  virtual Result<void> mark_synced(const CallContext& call, SourceId source, UtcTime at) = 0;
  /// kAlreadyExists: a key with that hash exists. kNotFound: no such workspace.
  virtual Result<ApiKey> add_key(const CallContext& call, const ApiKey& key) = 0;
  /// All keys of all workspaces ever created, ordered by id; includes expired and revoked ones.
  virtual Result<std::vector<ApiKey>> keys(const CallContext& call) const = 0;
  /// Ends the key at `at`, unless it expires sooner. kNotFound.
  virtual Result<ApiKey> end_key(const CallContext& call, ApiKeyId id, UtcTime at) = 0;
  /// Marks the key as revoked at `at`; a key that is already revoked keeps its time. kNotFound.
  virtual Result<ApiKey> revoke_key(const CallContext& call, ApiKeyId id, UtcTime at) = 0;
  /// Replaces the usage data of these keys. Ignores keys that do not exist.
  virtual Result<void> note_key_usage(const CallContext& call, std::span<const std::pair<ApiKeyId, KeyUsage>> usage) = 0;
  /// A random text (256 bits) used to hash this store's keys; never changes.
  virtual Result<std::string> key_pepper(const CallContext& call) = 0;
};

}  // namespace footnote
