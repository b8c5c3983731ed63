#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/catalog.h"

namespace footnote {

/// Sources of one workspace; more are refused.
inline constexpr std::size_t kSourcesMax = 1'000;
inline constexpr std::size_t kSourceTitleBytesMax = 1'000;
inline constexpr std::size_t kSourceLocationBytesMax = 4'096;
inline constexpr std::size_t kSourceContentBytesMax = 1u << 20;
inline constexpr std::size_t kSourceOptionsMax = 32;
/// Failures remembered for one source; beyond it documents are tried again at every sync.
inline constexpr std::size_t kSourceFailuresMax = 1'000;
/// The shortest schedule.
inline constexpr std::chrono::seconds kSyncIntervalMin{60};

/// "folder", "upload", "text", "url", "sitemap", "feed", "git"
std::string_view to_string(SourceKind kind);
std::optional<SourceKind> parse_source_kind(std::string_view name);

/// What a source is, as its owner describes it. (corpus, kind, location) identifies it.
struct SourceSpec {
  CorpusId corpus;
  SourceKind kind = SourceKind::kFolder;
  std::string location;                             ///< A folder or an address. A text without an address: "sha256:" and its digest.
  std::string title = {};                           ///< Of the source; of the document if it is a text.
  std::string content = {};                         ///< Of a text; else empty.
  std::map<std::string, std::string> options = {};  ///< Of its kind: "prefix", "max_pages" ...
  std::chrono::seconds interval{0};                 ///< Synced this often; 0: when somebody asks.
  bool watch = false;                               ///< Synced when the folder changes.

  bool operator==(const SourceSpec&) const = default;
};

/// A stored source.
struct SourceRecord {
  SourceId id;
  WorkspaceId workspace;
  SourceSpec spec;
  UtcTime created_at = {};
  std::optional<UtcTime> synced_at = {};  ///< The end of its last complete sync.
  std::optional<UtcTime> next_at = {};    ///< Of the schedule.
  std::string error = {};                 ///< Why the last sync ended early; empty if it did not.
};

/// Live documents and passages of a source.
struct SourceCounts {
  std::int64_t documents = 0;
  std::int64_t chunks = 0;

  bool operator==(const SourceCounts&) const = default;
};

/// A document that could not be ingested. It is tried again when its stamp differs, or from `next_at` on.
struct SourceFailure {
  std::string key;
  std::string stamp;  ///< See ingest::SourceItem.
  std::string reason;
  int attempts = 1;
  UtcTime next_at = {};

  bool operator==(const SourceFailure&) const = default;
};

/// The wait before a document that failed this often is tried again: one minute, then twice as long each time, at most a day.
std::chrono::seconds source_retry_wait(int attempts);

/// kInvalidArgument, with the field, if the description breaks a limit above.
Result<void> check_source_spec(const SourceSpec& spec);

}  // namespace footnote
