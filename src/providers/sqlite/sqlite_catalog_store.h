#pragma once

#include "ports/catalog_store.h"
#include "providers/sqlite/sqlite_store.h"

namespace footnote {

inline constexpr std::size_t kCorpusNameBytesMax = 200;
inline constexpr int kDimensionMax = 16'384;

/// kInvalidArgument: a name of a workspace, corpus, alias or key that is empty, too long or not printable UTF-8.
Result<void> check_corpus_name(std::string_view name);

/// Implements ports/catalog_store.h (CatalogStore) over the embedded database. The workspace "default" always exists. kInvalidArgument: a
/// corpus name that is empty, too long or not printable UTF-8, or a dimension out of range. kAlreadyExists: a key with that secret exists.
class SqliteCatalogStore final : public CatalogStore {
 public:
  explicit SqliteCatalogStore(SqliteStore& store) : store_(store) {}

  Result<std::vector<Workspace>> workspaces(const CallContext& call) const override;
  Result<Workspace> find_workspace(const CallContext& call, std::string_view name) const override;
  Result<Workspace> add_workspace(const CallContext& call, std::string_view name) override;
  Result<std::vector<Corpus>> corpora(const CallContext& call, WorkspaceId workspace) const override;
  Result<Corpus> find_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name) const override;
  Result<Corpus> corpus(const CallContext& call, CorpusId id) const override;
  Result<Corpus> ensure_corpus(const CallContext& call, WorkspaceId workspace, std::string_view name, const EmbeddingSpace& space) override;
  Result<void> set_gate(const CallContext& call, CorpusId corpus, const std::optional<GateCalibration>& gate) override;
  Result<Source> ensure_source(const CallContext& call, CorpusId corpus, SourceKind kind, std::string_view location) override;
  Result<void> mark_synced(const CallContext& call, SourceId source, UtcTime at) override;
  Result<ApiKey> add_key(const CallContext& call, const ApiKey& key) override;
  Result<std::vector<ApiKey>> keys(const CallContext& call) const override;
  Result<ApiKey> end_key(const CallContext& call, ApiKeyId id, UtcTime at) override;
  Result<ApiKey> revoke_key(const CallContext& call, ApiKeyId id, UtcTime at) override;
  Result<void> note_key_usage(const CallContext& call, std::span<const std::pair<ApiKeyId, KeyUsage>> usage) override;
  Result<std::string> key_pepper(const CallContext& call) override;

 private:
  Result<ApiKey> change_key(const CallContext& call, sql::SqlText change, ApiKeyId id, UtcTime at);

  SqliteStore& store_;
};

}  // namespace footnote
