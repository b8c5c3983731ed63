#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/ids.h"

namespace footnote {

/// The workspace that is there from the start.
inline constexpr std::string_view kDefaultWorkspace = "default";
/// The corpus that is meant where none is named.
inline constexpr std::string_view kDefaultCorpus = "memory";

/// The tenant: owns everything below it. Nothing crosses it.
struct Workspace {
  WorkspaceId id;
  std::string name;
  UtcTime created_at;
};

/// Where vectors are comparable: one model, one dimension. Vectors of different spaces never meet.
struct EmbeddingSpace {
  std::string model_id;
  int dimension = 0;

  bool operator==(const EmbeddingSpace&) const = default;
};

/// What one search searches.
struct Corpus {
  CorpusId id;
  WorkspaceId workspace;
  std::string name;
  EmbeddingSpace space;
  Generation generation = 0;
  UtcTime created_at;
};

enum class SourceKind { kFolder, kUpload, kText, kUrl, kSitemap, kFeed, kGit };

/// Where documents come from; it can be read again.
struct Source {
  SourceId id;
  CorpusId corpus;
  SourceKind kind = SourceKind::kFolder;
  std::string location;  ///< Folder or address; empty for uploads and texts.
  std::optional<UtcTime> synced_at;
};

enum class KeyScope { kRead, kIngest, kAdmin, kVisitor };

/// An API key as it is kept: only a hash of the secret.
struct ApiKey {
  ApiKeyId id;
  WorkspaceId workspace;
  std::string name;
  std::string display_prefix;
  std::string secret_hash;
  std::vector<KeyScope> scopes;
  UtcTime created_at;
  std::optional<UtcTime> expires_at;
  std::optional<UtcTime> last_used_at;
};

}  // namespace footnote
