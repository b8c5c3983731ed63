#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "domain/document.h"
#include "domain/ids.h"
#include "domain/retrieval.h"

namespace footnote {

/// One live chunk as indexes need it: words, vectors, and filterable attributes.
struct IndexRow {
  ChunkId chunk;
  DocumentId document;
  Generation born = 0;
  std::string document_key;
  DocumentAttributes attributes;
  std::vector<std::string> heading_path;
  std::string symbol;
  std::string text;
  std::vector<std::vector<float>> vectors;  ///< One per window; the best one counts.
  /// Vectors in the corpus's named spaces, by name; a search in a space without vectors of this row does not find it.
  std::map<std::string, std::vector<std::vector<float>>> named_vectors = {};
  std::string source_type = {};
  UtcTime indexed_at = {};  ///< When the document version was indexed.

  FilterSubject subject() const { return {document, document_key, source_type, attributes, indexed_at}; }
};

struct IndexRemoval {
  ChunkId chunk;
  Generation died = 0;
};

/// Changes of a corpus between two generations, in order. `from` is exclusive, `to` inclusive. A chunk born and died in between is in both
/// lists: add first, then remove. Ignore removals of chunks that the index never saw.
struct IndexChanges {
  Generation from = 0;
  Generation to = 0;
  std::vector<IndexRow> added;
  std::vector<IndexRemoval> removed;
  /// Distance of the corpus's own space, and its named spaces: the same in all changes of one corpus.
  Distance distance = Distance::kCosine;
  std::vector<NamedSpace> named_spaces = {};
};

/// The writing side shared by both indexes. An index is a cache of the chunk store: `apply` brings it from its generation to `changes.to`
/// atomically for readers. Dead rows stay findable for readers of older generations until `forget` removes those that died at or before a
/// generation. Thread-safe; one writer per corpus.
/// kFailedPrecondition: `changes.from` is not the index's generation; start over with `drop`.
class IndexWriter {
 public:
  virtual ~IndexWriter() = default;
  virtual Result<Generation> generation(const CallContext& call, CorpusId corpus) const = 0;
  virtual Result<void> apply(const CallContext& call, CorpusId corpus, const IndexChanges& changes) = 0;
  virtual Result<void> forget(const CallContext& call, CorpusId corpus, Generation died_until) = 0;
  virtual Result<void> drop(const CallContext& call, CorpusId corpus) = 0;
};

/// A found chunk and its raw score (cosine, BM25). Higher is better.
struct ScoredChunk {
  ChunkId chunk;
  double score = 0;
};

}  // namespace footnote
