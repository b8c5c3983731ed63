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

/// How near two vectors are. Scores count up: of kEuclid and kManhattan they are the distance below zero.
enum class Distance { kCosine, kDot, kEuclid, kManhattan };

/// Where vectors are comparable: one model, one dimension. Vectors of different spaces never meet.
struct EmbeddingSpace {
  std::string model_id;
  int dimension = 0;
  Distance distance = Distance::kCosine;

  bool operator==(const EmbeddingSpace&) const = default;
};

/// A further space of a corpus, whose vectors come from outside and which is searched by its name alone.
struct NamedSpace {
  std::string name;
  int dimension = 0;
  Distance distance = Distance::kCosine;

  bool operator==(const NamedSpace&) const = default;
};

/// Where the gate stands for one corpus, and what was measured there: `footnote calibrate`. It holds for the models that it was
/// measured with alone.
struct GateCalibration {
  double evidence_min = 0;
  double wanted_rate = 0;        ///< The share of foreign questions that may be answered.
  double false_answer_rate = 0;  ///< What it was, on probes that the threshold was not set by.
  double answered_rate = 0;      ///< Of the corpus's own probes, likewise.
  std::int64_t probes = 0;
  std::string embedder;
  std::string judge;  ///< Empty: none took part.
  UtcTime made_at;

  bool operator==(const GateCalibration&) const = default;
};

/// What one search searches.
struct Corpus {
  CorpusId id;
  WorkspaceId workspace;
  std::string name;
  EmbeddingSpace space;
  Generation generation = 0;
  UtcTime created_at;
  std::vector<NamedSpace> named_spaces = {};
  std::optional<GateCalibration> gate = {};

  /// The calibration, when it was made with this embedder and this judge.
  const GateCalibration* gate_for(std::string_view judge) const;
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

/// What a key may do in its workspace. kRead: ask, search, read documents. kIngest: add, replace and delete documents.
/// kAdmin: both, and the workspace's keys. kVisitor: only what a site's visitors may do.
enum class KeyScope { kRead, kIngest, kAdmin, kVisitor };
inline constexpr KeyScope kAllKeyScopes[] = {KeyScope::kRead, KeyScope::kIngest, KeyScope::kAdmin, KeyScope::kVisitor};

/// "read", "ingest", "admin", "visitor"
std::string_view to_string(KeyScope scope);
std::optional<KeyScope> parse_key_scope(std::string_view name);

/// How much one key may ask for. 0: the server's default for the minute, no bound for the day.
struct KeyLimits {
  std::int64_t requests_per_minute = 0;
  std::int64_t requests_per_day = 0;

  bool operator==(const KeyLimits&) const = default;
};

/// What one key has used. `day` counts days since 1970 in UTC; `requests` are those of that day.
struct KeyUsage {
  std::optional<UtcTime> last_used_at;
  std::int64_t day = 0;
  std::int64_t requests = 0;

  bool operator==(const KeyUsage&) const = default;
};

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
  KeyLimits limits;
  KeyUsage usage;
  /// When it was revoked. Set: it is over, whatever a clock says.
  std::optional<UtcTime> revoked_at = {};

  bool has_ended(UtcTime now) const { return revoked_at.has_value() || (expires_at && *expires_at <= now); }
};

}  // namespace footnote
