#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "domain/ids.h"
#include "domain/place.h"

namespace footnote {

enum class DocumentStatus { kDraft, kReview, kAccepted, kSuperseded, kDeprecated, kArchived };

/// How well a document's claims are backed, strongest first. nullopt if not assessed.
enum class EvidenceTier {
  kGuideline,
  kPeerReviewed,
  kOfficial,
  kPreprint,
  kNews,
  kBlog,
  kSearchHint,
  kUnverified,
};

/// "guideline" ... as parse_evidence_tier reads it.
std::string_view to_string(EvidenceTier tier);
std::string_view to_string(DocumentStatus status);
/// Blogs, search hints and unverified claims: an answer that rests on them alone is tentative.
bool is_weak(EvidenceTier tier);

/// "draft", "review", "accepted", "superseded", "deprecated", "archived"
std::optional<DocumentStatus> parse_document_status(std::string_view name);
/// "guideline", "peer_reviewed", "official", "preprint", "news", "blog", "search_hint", "unverified"
std::optional<EvidenceTier> parse_evidence_tier(std::string_view name);

/// Metadata of a document. Used by filters, boosts and prompts.
struct DocumentAttributes {
  std::string title;
  std::string url;             ///< Empty for files.
  std::string media_type;      ///< "text/markdown", "text/html", "text/plain".
  std::string language;        ///< ISO 639-1; empty if unknown.
  std::string canonical_type;  ///< "runbook", "decision" ...; empty if none of the vocabulary applies.
  DocumentStatus status = DocumentStatus::kAccepted;
  std::optional<EvidenceTier> evidence;
  int priority = 50;  ///< retrieval_priority, 0..100.
  std::vector<std::string> tags;
  /// Only callers with one of these labels find the document; empty: everybody does.
  std::vector<std::string> acl_labels;
  std::optional<UtcTime> updated_at = {};  ///< Last change according to the document itself.
  std::string slug = {};                   ///< The name by which other documents refer to it, besides its key; may be empty.
  std::string canonical_id = {};           ///< The id that its author gave it; may be empty.
  std::string summary = {};                ///< In its author's words, or of the page's description; may be empty.
  std::vector<std::string> owners = {};

  bool operator==(const DocumentAttributes&) const = default;
};

/// One page or file of a corpus, at one version. `key` identifies it inside its corpus: a path relative to its source's folder, or a URL.
struct Document {
  DocumentId id;
  CorpusId corpus;
  SourceId source;
  std::string key;
  int version = 1;
  std::string content_hash;  ///< Hash of the bytes read and of how they were parsed: equal hashes mean that nothing changed.
  DocumentAttributes attributes;
  std::size_t chunk_count = 0;
  UtcTime indexed_at;
};

/// A retrievable passage. `range` counts bytes in its document version's text. `first_line` and `last_line` are its places in the original
/// file: lines, or pages and the like (`places.unit`).
struct Chunk {
  ChunkId id;
  DocumentId document;
  int document_version = 1;
  int ordinal = 0;
  std::string text;
  std::vector<std::string> heading_path;
  std::string symbol;
  std::string source_type;
  std::string content_hash;
  TextRange range;
  int first_line = 1;
  int last_line = 1;
  Places places = {};  ///< Offsets are bytes in this passage's text.
  Generation born = 0;
  std::optional<Generation> died;
};

/// The place in the original of a byte of the passage's text.
inline int place_in(const Chunk& chunk, std::size_t offset) { return place_at(chunk.places, chunk.text, offset, chunk.first_line); }

/// A typed relation between two documents of one corpus, by key.
struct Edge {
  std::string from_key;
  std::string to_key;
  std::string type;        ///< "supersedes", "depends_on", "related_to" ...
  std::string provenance;  ///< "wikilink", "frontmatter_related" ...
  double weight = 1.0;
};

}  // namespace footnote
