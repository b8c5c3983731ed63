#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "chunk/chunker.h"
#include "chunk/parse.h"
#include "ingest/ingestor.h"
#include "ingest/secret_filter.h"

namespace footnote::ingest {

/// Longer keys are refused.
inline constexpr std::size_t kKeyBytesMax = 1024;
/// A document that takes longer to parse is skipped with a warning. The largest documents take a few seconds.
inline constexpr std::chrono::seconds kParseTimeMax{60};

/// A document prepared for the embedder.
struct Prepared {
  enum class State {
    kReady,      ///< To be embedded and committed.
    kUnchanged,  ///< The live document has the same content.
    kLeftOut,    ///< A problem; the live document, if any, is kept.
    kGone,       ///< A problem: the file is no longer text, so this source's live document is out of date.
  };
  State state = State::kLeftOut;
  std::string key;
  SourceId source;
  bool is_update = false;
  std::string content_hash;
  chunk::ParsedDocument document;
  std::vector<chunk::Piece> pieces;
  std::vector<Problem> problems;
  std::size_t secret_passages = 0;  ///< Kept out of `pieces`.
  std::optional<OriginalFile> original = {};

  std::size_t bytes() const { return document.text.size() * 2 + (original ? original->bytes.size() : 0); }
};

/// Detects, parses and chunks. Borrows everything. Thread-safe.
class Preparer {
 public:
  Preparer(const CallContext& call, const ChunkReader& reader, CorpusId corpus, const IngestOptions& options)
      : call_(call), reader_(reader), corpus_(corpus), options_(options) {}

  /// Errors come from the store or the call.
  Result<Prepared> prepare(SourceId source, const MemoryDocument& given) const;

 private:
  void settle(Prepared& out, const std::optional<Document>& live, SecretFilter& filter) const;
  void refuse_content(Prepared& out, const std::optional<Document>& live, std::string reason) const;
  bool is_foreign(const Prepared& prepared, const std::optional<Document>& live) const;

  const CallContext& call_;
  const ChunkReader& reader_;
  const CorpusId corpus_;
  const IngestOptions& options_;
};

/// "<sha256>-p<version>", plus the cut if not by headings and the version of the secret rules: equal hashes mean an unchanged document.
std::string document_hash(std::string_view bytes, const IngestOptions& options = {});

}  // namespace footnote::ingest
