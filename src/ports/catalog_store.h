#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"

namespace footnote {

/// Workspaces, corpora, sources and keys. Thread-safe; writes are durable when they return.
class CatalogStore {
 public:
  virtual ~CatalogStore() = default;
  virtual Result<Workspace> find_workspace(const CallContext& call, std::string_view name) const = 0;
  virtual Result<std::vector<Corpus>> corpora(const CallContext& call, WorkspaceId workspace) const = 0;
  /// kNotFound names the corpora that there are.
  virtual Result<Corpus> find_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name) const = 0;
  virtual Result<Corpus> corpus(const CallContext& call, CorpusId id) const = 0;
  /// The corpus of that name, made in `space` when it is not there. kFailedPrecondition when it is there in another
  /// space, naming the model that it was made with.
  virtual Result<Corpus> ensure_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name,
                                       const EmbeddingSpace& space) = 0;
  virtual Result<Source> ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) = 0;
  virtual Result<void> mark_synced(const CallContext& call, SourceId source, UtcTime at) = 0;
  virtual Result<ApiKey> add_key(const CallContext& call, const ApiKey& key) = 0;
  virtual Result<std::optional<ApiKey>> find_key(const CallContext& call, std::string_view secret_hash) const = 0;
};

}  // namespace footnote
