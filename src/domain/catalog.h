#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "domain/ids.h"
#include "domain/profile.h"

namespace footnote {

/// The workspace that always exists.
inline constexpr std::string_view kDefaultWorkspace = "default";
/// The corpus used if none is named.
inline constexpr std::string_view kDefaultCorpus = "memory";

/// The tenant: owns everything below it. Nothing is shared between workspaces.
struct Workspace {
  WorkspaceId id;
  std::string name;
  UtcTime created_at;
};

/// How vectors are compared. A higher score is better: for kEuclid and kManhattan it is the negative distance.
enum class Distance { kCosine, kDot, kEuclid, kManhattan };

/// Vectors are comparable only within one space: one model, one dimension.
struct EmbeddingSpace {
  std::string model_id;
  int dimension = 0;
  Distance distance = Distance::kCosine;

  bool operator==(const EmbeddingSpace&) const = default;
};

/// An additional space of a corpus: its vectors come from clients, and it is searched only by name.
struct NamedSpace {
  std::string name;
  int dimension = 0;
  Distance distance = Distance::kCosine;

  bool operator==(const NamedSpace&) const = default;
};

/// A corpus's gate threshold and what `footnote calibrate`, or the server in the background, measured for it. Valid only for the models it
/// was measured with.
struct GateCalibration {
  double evidence_min = 0;       ///< The least probability of the best passage, 0..1.
  double wanted_rate = 0;        ///< Target: the share of unrelated questions that may be answered.
  double false_answer_rate = 0;  ///< The share of unrelated held-out probes that were answered.
  double answered_rate = 0;      ///< The share of the corpus's own held-out probes that were answered.
  std::int64_t probes = 0;
  std::string embedder;
  std::string judge;  ///< Empty: no judge was used.
  UtcTime made_at;
  std::optional<SignalScale> cosine = {};       ///< Set if the embedder is not built in.
  std::optional<SignalScale> judge_scale = {};  ///< Set if the judge is not built in.
  bool automatic = false;                       ///< True: fitted by the server in the background, which does not change the threshold.
  std::int64_t passages = 0;                    ///< Passages in the corpus at the time of the calibration; 0: unknown.

  bool operator==(const GateCalibration&) const = default;
};

/// The unit of search.
struct Corpus {
  CorpusId id;
  WorkspaceId workspace;
  std::string name;
  EmbeddingSpace space;
  Generation generation = 0;
  UtcTime created_at;
  std::vector<NamedSpace> named_spaces = {};
  std::optional<GateCalibration> gate = {};

  /// The calibration, if it was made with this corpus's embedder and this judge; else null.
  const GateCalibration* gate_for(std::string_view judge) const;
};

enum class SourceKind { kFolder, kUpload, kText, kUrl, kSitemap, kFeed, kGit };

/// Where documents come from; can be synced again.
struct Source {
  SourceId id;
  CorpusId corpus;
  SourceKind kind = SourceKind::kFolder;
  std::string location;  ///< Folder or URL; empty for uploads and texts.
  std::optional<UtcTime> synced_at;
};

/// What a key may do in its workspace. kRead: ask, search, read documents. kIngest: add, replace and delete documents. kAdmin: both, and
/// manage the workspace's keys. kVisitor: only what a site's visitors may do.
enum class KeyScope { kRead, kIngest, kAdmin, kVisitor };
inline constexpr KeyScope kAllKeyScopes[] = {KeyScope::kRead, KeyScope::kIngest, KeyScope::kAdmin, KeyScope::kVisitor};

/// "read", "ingest", "admin", "visitor"
std::string_view to_string(KeyScope scope);
std::optional<KeyScope> parse_key_scope(std::string_view name);

/// Rate limits of one key. 0: the server's default per minute, no limit per day.
struct KeyLimits {
  std::int64_t requests_per_minute = 0;
  std::int64_t requests_per_day = 0;

  bool operator==(const KeyLimits&) const = default;
};

/// Usage of one key. `day` counts days since 1970 in UTC; `requests` are those of that day.
struct KeyUsage {
  std::optional<UtcTime> last_used_at;
  std::int64_t day = 0;
  std::int64_t requests = 0;

  bool operator==(const KeyUsage&) const = default;
};

/// A stored API key: only a hash of the secret is kept.
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
  /// Labels of the documents that its holder finds besides those without labels.
  std::vector<std::string> labels = {};
  /// The first key of the line that this one continues by rotation; none: this one.
  ApiKeyId origin = {};
  /// When it was revoked. If set, the key is invalid whatever the clock says.
  std::optional<UtcTime> revoked_at = {};

  bool has_ended(UtcTime now) const { return revoked_at.has_value() || (expires_at && *expires_at <= now); }
};

}  // namespace footnote
