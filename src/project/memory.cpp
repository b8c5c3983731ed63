#include "project/memory.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/sha256.h"
#include "base/text.h"

namespace footnote::project {
namespace {

using code::GraphNode;
using code::SourceType;

constexpr std::size_t kPage = 1'000;
constexpr std::size_t kNearestMax = 5;
constexpr std::size_t kBytesPerToken = 4;
constexpr std::size_t kChunkIdDigits = 16;

std::string chunk_id(std::string_view key, std::string_view type, std::string_view symbol) {
  return "chk_" + sha256_hex(std::string(key) + "\n" + std::string(type) + "\n" + std::string(symbol)).substr(0, kChunkIdDigits);
}

bool is_below(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return path == folder || (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

/// The document that holds a node's text.
std::string key_of(const GraphNode& node) { return node.type == SourceType::kTable ? std::string(kTablesPrefix) + node.symbol : node.path; }

/// Chunks that the graph gave come first; of equal contents the first stays and names the others.
void collapse(std::vector<FoundChunk>& chunks) {
  std::vector<FoundChunk> out;
  for (FoundChunk& chunk : chunks) {
    const auto same = std::ranges::find(out, chunk.content_hash, &FoundChunk::content_hash);
    if (same == out.end()) {
      out.push_back(std::move(chunk));
    } else if (same->id != chunk.id && std::ranges::find(same->also_at, chunk.path) == same->also_at.end()) {
      same->also_at.push_back(chunk.path);
    }
  }
  chunks = std::move(out);
}

/// Whole chunks are dropped from the end until the rest fits.
void fit_context(const RetrieveOptions& options, RetrieveResult& out) {
  const auto budget = static_cast<std::size_t>(static_cast<double>(options.context_tokens) * kContextShare) * kBytesPerToken;
  std::size_t used = 0;
  std::size_t kept = 0;
  while (kept < out.chunks.size() && used + out.chunks[kept].text.size() <= budget) used += out.chunks[kept++].text.size();
  for (std::size_t i = kept; i < out.chunks.size(); ++i) out.dropped.push_back(out.chunks[i].id);
  out.chunks.resize(kept);
}

std::optional<code::Join> join_of(const code::Graph& graph, std::string_view query, const RetrieveOptions& options) {
  if (!options.route_name.empty()) return code::join_route(graph, options.route_name);
  if (!options.table_name.empty()) return code::join_table(graph, options.table_name);
  if (!options.controller_class.empty()) {
    code::Join out{.strategy = "controller_walk", .subject = options.controller_class};
    for (const GraphNode* node : graph.find(options.controller_class)) {
      out.subject = node->symbol;
      out.nodes.push_back(node);
      for (const code::GraphEdge& edge : graph.around({node}, 2)) {
        out.edges.push_back(edge);
        for (const GraphNode* end : {edge.from, edge.to}) {
          if (std::ranges::find(out.nodes, end) == out.nodes.end()) out.nodes.push_back(end);
        }
      }
    }
    return out.nodes.empty() ? std::nullopt : std::optional(std::move(out));
  }
  return code::join_question(graph, query);
}

}  // namespace

std::string expand_identifiers(std::string_view question) {
  std::string out(question);
  for (const std::string& name : code::identifiers_in(question)) {
    std::string parts;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const bool starts = is_ascii_upper(name[i]) && i > 0 && is_ascii_lower(name[i - 1]);
      if (starts || !is_ascii_alphanumeric(name[i])) parts += ' ';
      if (is_ascii_alphanumeric(name[i])) parts += ascii_lower(name[i]);
    }
    if (parts.find(' ') != std::string::npos) out += " " + fold_spaces(parts);
  }
  return out;
}

std::shared_ptr<Memory::State> Memory::state_of(ProjectId project) const {
  const MutexLock lock(mutex_);
  auto& [used, state] = states_[project];
  if (state == nullptr) state = std::make_shared<State>();
  used = ++uses_;
  const std::shared_ptr<State> out = state;
  if (states_.size() > kGraphsMax) {
    states_.erase(std::ranges::min_element(states_, {}, [](const auto& entry) { return entry.second.first; }));
  }
  return out;
}

void Memory::forget(ProjectId project) const {
  const MutexLock lock(mutex_);
  states_.erase(project);
}

Result<void> Memory::refresh(const CallContext& call, const Project& project, State& state) const {
  FOOTNOTE_TRY(const Corpus corpus, ports_.indexer.corpus(call, project));
  if (corpus.generation == state.generation) return {};
  std::set<std::string> present;
  std::string after;
  while (true) {
    FOOTNOTE_TRY(const auto page, ports_.chunks.documents(call, corpus.id, after, kPage));
    for (const Document& document : page) {
      if (document.key.starts_with(kTablesPrefix)) continue;
      present.insert(document.key);
      std::string& hash = state.hashes[document.key];
      if (hash == document.content_hash) continue;
      FOOTNOTE_TRY(const DocumentText text, ports_.chunks.document_text(call, project.workspace, document.id, 0));
      const auto file = code::read_code(document.key, text.text, call);
      FOOTNOTE_CHECK(call.check());
      state.graph.set_file(document.key, file ? code::nodes_of(document.key, *file) : std::vector<GraphNode>{});
      state.schemas.erase(document.key);
      if (file && !file->schema.empty()) state.schemas[document.key] = file->schema;
      hash = document.content_hash;
    }
    if (page.size() < kPage) break;
    after = page.back().key;
  }
  for (auto at = state.hashes.begin(); at != state.hashes.end();) {
    if (present.contains(at->first)) {
      ++at;
      continue;
    }
    state.graph.remove_file(at->first);
    state.schemas.erase(at->first);
    at = state.hashes.erase(at);
  }
  std::vector<code::Migration> migrations;
  for (const auto& [path, changes] : state.schemas) migrations.push_back({path, changes});
  std::vector<std::string> paths;
  std::vector<GraphNode> tables = code::nodes_of("", {.units = code::table_units(migrations, paths)});
  for (std::size_t i = 0; i < tables.size(); ++i) tables[i].path = paths[i];
  state.graph.set_file(std::string(code::kTablesPath), std::move(tables));
  state.generation = corpus.generation;
  return {};
}

Result<void> Memory::with_graph(const CallContext& call, const Project& project, const std::function<void(const code::Graph&)>& ask) const {
  const std::shared_ptr<State> state = state_of(project.id);
  const MutexLock lock(state->mutex);
  FOOTNOTE_CHECK(refresh(call, project, *state));
  ask(state->graph);
  return {};
}

Result<std::vector<FoundChunk>> Memory::chunks_of(const CallContext& call, const Project& project, CorpusId corpus,
                                                  const std::vector<GraphNode>& nodes) const {
  std::vector<FoundChunk> out;
  std::map<std::string, std::optional<code::CodeFile>> files;
  for (const GraphNode& node : nodes) {
    const std::string key = key_of(node);
    if (!files.contains(key)) {
      auto& file = files[key];
      FOOTNOTE_TRY(const auto document, ports_.chunks.find_document(call, corpus, key));
      if (!document) continue;
      FOOTNOTE_TRY(const DocumentText text, ports_.chunks.document_text(call, project.workspace, document->id, 0));
      if (node.type == SourceType::kTable) {
        code::Unit table{.type = SourceType::kTable, .symbol = node.symbol, .header = "table " + node.symbol, .own_text = text.text};
        file = code::CodeFile{.units = {std::move(table)}};
      } else if (auto read = code::read_code(key, text.text, call)) {
        file = *std::move(read);
      }
      FOOTNOTE_CHECK(call.check());
    }
    const auto& file = files[key];
    if (!file) continue;
    for (const code::Unit& unit : file->units) {
      if (unit.type != node.type || unit.symbol != node.symbol || unit.part > 1) continue;
      const std::string text = code::chunk_text(unit, file->text);
      const bool is_table = node.type == SourceType::kTable;
      out.push_back({.id = chunk_id(key, to_string(unit.type), unit.symbol),
                     .path = node.path,
                     .first_line = is_table ? node.first_line : unit.first_line,
                     .last_line = is_table ? node.last_line : unit.last_line,
                     .source_type = std::string(to_string(unit.type)),
                     .symbol = unit.symbol,
                     .text = text,
                     .content_hash = code::chunk_hash(text),
                     .score = 1,
                     .reason = "graph",
                     .facts = node.facts});
      break;
    }
  }
  return out;
}

Result<void> Memory::search(const CallContext& call, const Project& project, const Corpus& corpus, std::string_view query,
                            const RetrieveOptions& options, RetrieveResult& out) const {
  FOOTNOTE_TRY(const Profile profile, ports_.corpora.asked_as(corpus, kProjectProfile));
  retrieve::RetrieveOptions asked{.profile = profile};
  for (const SourceType type : options.source_types) asked.filter.source_types.emplace_back(to_string(type));
  FOOTNOTE_TRY(const retrieve::Retrieval found, ports_.retriever.retrieve(call, corpus.id, expand_identifiers(query), asked));
  out.candidates = found.candidates;
  std::vector<FoundChunk> hits;
  for (const Hit& hit : found.hits) {
    double score = hit.probability;
    for (const std::string& path : options.must_include_paths) {
      if (is_below(hit.document_key, path)) score += kPathBoost;
    }
    if (score < options.min_score) continue;
    const bool is_run = hit.chunk.source_type == "run_summary" || hit.chunk.source_type == "file_change";
    if (is_run && !options.include_run_summaries) continue;
    FoundChunk chunk{.id = chunk_id(hit.document_key, hit.chunk.source_type, hit.chunk.symbol),
                     .path = hit.document_key,
                     .first_line = hit.chunk.first_line,
                     .last_line = hit.chunk.last_line,
                     .source_type = hit.chunk.source_type,
                     .symbol = hit.chunk.symbol,
                     .text = join(hit.chunk.heading_path, " > ") + "\n" + hit.chunk.text,
                     .content_hash = hit.chunk.content_hash,
                     .score = std::min(score, 1.0),
                     .reason = "search"};
    hits.push_back(std::move(chunk));
  }
  std::ranges::stable_sort(hits, std::greater{}, &FoundChunk::score);
  for (FoundChunk& hit : hits) {
    if (std::ranges::find(out.chunks, hit.id, &FoundChunk::id) == out.chunks.end()) out.chunks.push_back(std::move(hit));
  }
  return with_graph(call, project, [&](const code::Graph& graph) {
    for (FoundChunk& chunk : out.chunks) {
      if (chunk.reason != "search") continue;
      const bool is_table = chunk.path.starts_with(kTablesPrefix);
      for (const GraphNode& node : graph.nodes_of_file(is_table ? code::kTablesPath : std::string_view(chunk.path))) {
        if (node.symbol != chunk.symbol || to_string(node.type) != chunk.source_type) continue;
        chunk.facts = node.facts;
        chunk.path = node.path;
        chunk.first_line = is_table ? node.first_line : chunk.first_line;
        chunk.last_line = is_table ? node.last_line : chunk.last_line;
      }
    }
  });
}

Result<RetrieveResult> Memory::retrieve(const CallContext& call, const Project& project, std::string_view query,
                                        const RetrieveOptions& options) const {
  if (trim(query).empty()) return fail_field(ErrorCode::kInvalidArgument, "query", "'query' is empty: ask something");
  FOOTNOTE_TRY(const Corpus corpus, ports_.indexer.corpus(call, project));
  RetrieveResult out{.strategy = "search"};
  std::vector<GraphNode> joined;
  FOOTNOTE_CHECK(with_graph(call, project, [&](const code::Graph& graph) {
    out.looked_for = code::identifiers_in(query);
    const auto found = join_of(graph, query, options);
    if (!found) {
      for (const std::string& name : out.looked_for) {
        for (const std::string& near : graph.nearest(name, kNearestMax)) out.nearest.push_back(near);
      }
      return;
    }
    out.strategy = found->strategy;
    out.subject = found->subject;
    const std::string lines = code::to_lines(found->edges);
    for (const std::string_view line : split(lines, '\n')) {
      if (!line.empty()) out.edges.emplace_back(line);
    }
    for (const GraphNode* node : found->nodes) {
      const bool wanted = options.source_types.empty() || std::ranges::find(options.source_types, node->type) != options.source_types.end();
      if (wanted && joined.size() < options.top_k) joined.push_back(*node);
    }
  }));
  FOOTNOTE_TRY(out.chunks, chunks_of(call, project, corpus.id, joined));
  FOOTNOTE_CHECK(search(call, project, corpus, query, options, out));
  collapse(out.chunks);
  if (out.chunks.size() > options.top_k) out.chunks.resize(options.top_k);
  fit_context(options, out);
  if (!out.chunks.empty()) out.nearest.clear();
  if (out.nearest.size() > kNearestMax) out.nearest.resize(kNearestMax);
  return out;
}

Result<std::string> Memory::text(const CallContext& call, const Project& project, std::string_view path) const {
  FOOTNOTE_TRY(const Corpus corpus, ports_.indexer.corpus(call, project));
  FOOTNOTE_TRY(const auto document, ports_.chunks.find_document(call, corpus.id, path));
  if (!document) return fail(ErrorCode::kNotFound, "'{}' is not indexed", path);
  FOOTNOTE_TRY(DocumentText found, ports_.chunks.document_text(call, project.workspace, document->id, 0));
  return std::move(found.text);
}

Result<std::vector<Memory::File>> Memory::files(const CallContext& call, const Project& project, std::string_view after,
                                                std::size_t limit) const {
  FOOTNOTE_TRY(const Corpus corpus, ports_.indexer.corpus(call, project));
  std::vector<File> out;
  std::string from(after);
  while (out.size() < limit) {
    FOOTNOTE_TRY(const auto page, ports_.chunks.documents(call, corpus.id, from, kPage));
    for (const Document& document : page) {
      if (document.key.starts_with(kTablesPrefix) || out.size() >= limit) continue;
      out.push_back({document.key, document.content_hash, document.chunk_count});
    }
    if (page.size() < kPage) break;
    from = page.back().key;
  }
  return out;
}

}  // namespace footnote::project
