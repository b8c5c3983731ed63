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
  /// By name.
  virtual Result<std::vector<Workspace>> workspaces(const CallContext& call) const = 0;
  virtual Result<Workspace> find_workspace(const CallContext& call, std::string_view name) const = 0;
  /// kAlreadyExists; kInvalidArgument for a bad name.
  virtual Result<Workspace> add_workspace(const CallContext& call, std::string_view name) = 0;
  virtual Result<std::vector<Corpus>> corpora(const CallContext& call, WorkspaceId workspace) const = 0;
  /// kNotFound names the corpora that there are.
  virtual Result<Corpus> find_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name) const = 0;
  virtual Result<Corpus> corpus(const CallContext& call, CorpusId id) const = 0;
  /// The corpus of that name, made in `space` when it is not there. kFailedPrecondition when it is there in another
  /// space, naming the model that it was made with.
  virtual Result<Corpus> ensure_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name,
                                       const EmbeddingSpace& space) = 0;
  /// Replaces the corpus's calibration; nullopt: it has none. kNotFound.
  virtual Result<void> set_gate(const CallContext& call, CorpusId corpus, const std::optional<GateCalibration>& gate) = 0;
  virtual Result<Source> ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) = 0;
  virtual Result<void> mark_synced(const CallContext& call, SourceId source, UtcTime at) = 0;
  /// kAlreadyExists: a key with that hash is there. kNotFound: no such workspace.
  virtual Result<ApiKey> add_key(const CallContext& call, const ApiKey& key) = 0;
  /// Every key of every workspace that ever was, by id; ended ones too.
  virtual Result<std::vector<ApiKey>> keys(const CallContext& call) const = 0;
  /// The key ends at `at`, or when it was to end anyway if that is sooner. kNotFound.
  virtual Result<ApiKey> end_key(const CallContext& call, ApiKeyId id, UtcTime at) = 0;
  /// Marks the key as revoked at `at`; one that is revoked already keeps its time. kNotFound.
  virtual Result<ApiKey> revoke_key(const CallContext& call, ApiKeyId id, UtcTime at) = 0;
  /// Replaces what is known of the use of these keys. Keys that are not there are passed over.
  virtual Result<void> note_key_usage(const CallContext& call, std::span<const std::pair<ApiKeyId, KeyUsage>> usage) = 0;
  /// A random text (256 bits) that hashes of this store's keys are made with: the same for its whole life.
  virtual Result<std::string> key_pepper(const CallContext& call) = 0;
};

}  // namespace footnote
