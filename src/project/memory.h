#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "code/graph.h"
#include "code/joins.h"
#include "domain/project.h"
#include "project/indexer.h"
#include "retrieve/asked_corpora.h"
#include "retrieve/retriever.h"

namespace footnote::project {

inline constexpr std::size_t kTopKDefault = 12;
inline constexpr std::size_t kTopKMax = 100;
inline constexpr double kMinScoreDefault = 0.25;
/// Added to the score of a chunk below a path that the caller names.
inline constexpr double kPathBoost = 0.25;
/// The share of a model's window that chunks may fill, and its size if nobody says it.
inline constexpr double kContextShare = 0.4;
inline constexpr std::size_t kContextTokensDefault = 8'192;
inline constexpr std::size_t kContextTokensMax = 10'000'000;
/// Graphs held in memory; the one asked longest ago is dropped, and read again from the store when it is asked.
inline constexpr std::size_t kGraphsMax = 16;

/// How a project is searched: names count more than in prose, and no judge reads code.
inline constexpr Profile kProjectProfile{
    .top_k = kTopKMax, .per_document_max = 6, .judged = 0, .weights = {.vector = 0.4, .keyword = 0.6, .heading = 0.2, .late = 0.4}};

struct RetrieveOptions {
  std::size_t top_k = kTopKDefault;
  std::vector<code::SourceType> source_types;   ///< Empty: all.
  std::vector<std::string> must_include_paths;  ///< Files and folders whose chunks are boosted.
  std::string route_name;
  std::string controller_class;
  std::string table_name;
  bool include_run_summaries = true;
  double min_score = kMinScoreDefault;
  std::size_t context_tokens = kContextTokensDefault;
};

struct FoundChunk {
  std::string id;  ///< Stable as long as path, type and symbol are.
  std::string path;
  int first_line = 1;
  int last_line = 1;
  std::string source_type;
  std::string symbol;
  std::string text;
  std::string content_hash;
  double score = 0;                       ///< 0..1. 1: found by the graph.
  std::string reason;                     ///< "graph" or "search".
  std::vector<std::string> also_at = {};  ///< Other files with the same content.
  code::Facts facts = {};
};

struct RetrieveResult {
  std::vector<FoundChunk> chunks;
  std::string strategy;            ///< "search", or the name of a join, see code::Join.
  std::string subject;             ///< What the join is about.
  std::vector<std::string> edges;  ///< Of the join: "route a -served_by-> controller_method b".
  std::size_t candidates = 0;
  std::vector<std::string> dropped;  ///< Ids that did not fit the model's window.
  std::vector<std::string> nearest;  ///< Nothing was found: names that are near to those asked for.
  std::vector<std::string> looked_for;
};

/// What a project's agents ask: chunks by graph and search, the graph itself, outlines. Thread-safe; borrows its ports.
class Memory {
 public:
  struct Ports {
    const Indexer& indexer;
    const ChunkReader& chunks;
    const retrieve::Retriever& retriever;
    const retrieve::AskedCorpora& corpora;
  };
  explicit Memory(const Ports& ports) : ports_(ports) {}

  /// Joins first (graph hits always pass min_score), then the search of every front door. kInvalidArgument: an empty query.
  Result<RetrieveResult> retrieve(const CallContext& call, const Project& project, std::string_view query,
                                  const RetrieveOptions& options) const;

  /// Runs `ask` on the project's graph at the store's newest generation. Files that changed since the last call are read again, from the
  /// store. One question at a time per project.
  Result<void> with_graph(const CallContext& call, const Project& project, const std::function<void(const code::Graph&)>& ask) const;

  struct File {
    std::string path;
    std::string hash;
    std::size_t chunks = 0;
  };
  /// Indexed files after `after` in order; at most `limit`.
  Result<std::vector<File>> files(const CallContext& call, const Project& project, std::string_view after, std::size_t limit) const;

  /// The text of an indexed file, as it was read. kNotFound.
  Result<std::string> text(const CallContext& call, const Project& project, std::string_view path) const;

  /// Forgets the graph of a project that was removed.
  void forget(ProjectId project) const;

 private:
  struct State {
    Mutex mutex;
    code::Graph graph FOOTNOTE_TSA(guarded_by(mutex));
    std::map<std::string, std::string> hashes FOOTNOTE_TSA(guarded_by(mutex));
    std::map<std::string, std::vector<code::SchemaChange>> schemas FOOTNOTE_TSA(guarded_by(mutex));
    Generation generation FOOTNOTE_TSA(guarded_by(mutex)) = -1;
  };
  // Shared: a question may still use the state of a project that is dropped from the list meanwhile.
  std::shared_ptr<State> state_of(ProjectId project) const;
  Result<void> refresh(const CallContext& call, const Project& project, State& state) const FOOTNOTE_TSA(requires_capability(state.mutex));
  Result<std::vector<FoundChunk>> chunks_of(const CallContext& call, const Project& project, CorpusId corpus,
                                            const std::vector<code::GraphNode>& nodes) const;
  Result<void> search(const CallContext& call, const Project& project, const Corpus& corpus, std::string_view query,
                      const RetrieveOptions& options, RetrieveResult& out) const;

  const Ports ports_;
  mutable Mutex mutex_;
  mutable std::map<ProjectId, std::pair<std::uint64_t, std::shared_ptr<State>>> states_ FOOTNOTE_TSA(guarded_by(mutex_));
  mutable std::uint64_t uses_ FOOTNOTE_TSA(guarded_by(mutex_)) = 0;
};

/// The question with the parts of its identifiers: "InvoiceController" is also searched as "invoice controller".
std::string expand_identifiers(std::string_view question);

}  // namespace footnote::project
