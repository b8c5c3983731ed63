#include "providers/local/vector_graphs.h"

#include <map>

namespace footnote {

bool LocalVectorStore::wants_graphs(CorpusId corpus, std::size_t vectors_min) const {
  const auto state = corpora_.newest(corpus);
  if (state == nullptr) return false;
  return std::ranges::any_of(state->rows.spaces,
                             [&](const auto& each) { return each.second.index && each.second.index->wants_graph(vectors_min); });
}

Result<std::size_t> LocalVectorStore::make_graphs(const CallContext& call, CorpusId corpus, std::size_t vectors_min) {
  const auto state = corpora_.newest(corpus);
  if (state == nullptr) return 0;
  std::map<std::string, ann::SegmentGraphPtr> made;
  std::size_t nodes = 0;
  for (const auto& [name, space] : state->rows.spaces) {
    if (!space.index || !space.index->wants_graph(vectors_min)) continue;
    auto graph = space.index->build_graph([&] { return call.check().has_value(); });
    FOOTNOTE_CHECK(call.check());
    if (!graph) continue;  // a graph would not help these vectors
    nodes += graph->size();
    made[name] = std::move(graph);
  }
  if (made.empty()) return 0;
  FOOTNOTE_CHECK(corpora_.amend(corpus, [&](Rows& rows) -> Result<void> {
    for (const auto& [name, graph] : made) {
      const auto found = rows.spaces.find(name);
      if (found == rows.spaces.end() || !found->second.index) continue;
      found->second.index->use_graph(graph);
      rows.graph_nodes_made += graph->size();
    }
    return {};
  }));
  return nodes;
}

Result<void> LocalVectorStore::drop_graphs(CorpusId corpus) {
  return corpora_.amend(corpus, [](Rows& rows) -> Result<void> {
    for (auto& [name, space] : rows.spaces) {
      if (space.index) space.index->use_graph(nullptr);
    }
    return {};
  });
}

IndexExtent LocalVectorStore::graph_extent(CorpusId corpus) const {
  const auto state = corpora_.newest(corpus);
  if (state == nullptr) return {};
  IndexExtent out{.changed_rows = state->rows.graph_nodes_made};
  for (const auto& [name, space] : state->rows.spaces) {
    if (!space.index || !space.index->graph()) continue;
    out.rows += space.index->graph()->size();
    out.generation = state->newest;
  }
  return out;
}

// graphs := spaces:u32 (name:text graph)*
Result<void> LocalVectorStore::Rows::save_graphs(ByteSink& sink) const {
  const auto has_graph = [](const auto& each) { return each.second.index && each.second.index->graph(); };
  FOOTNOTE_CHECK(sink.put(static_cast<std::uint32_t>(std::ranges::count_if(spaces, has_graph))));
  for (const auto& each : spaces) {
    if (!has_graph(each)) continue;
    FOOTNOTE_CHECK(sink.put_text(each.first));
    FOOTNOTE_CHECK(each.second.index->save_graph(sink));
  }
  return {};
}

Result<void> LocalVectorStore::Rows::load_graphs(ByteSource& source) {
  FOOTNOTE_TRY(const auto count, source.take<std::uint32_t>());
  for (std::uint32_t i = 0; i < count; ++i) {
    FOOTNOTE_TRY(const std::string name, source.take_text());
    const auto found = spaces.find(name);
    if (found == spaces.end() || !found->second.index) return fail(ErrorCode::kCorrupted, "a graph belongs to a missing space");
    ann::FlatIndex& index = *found->second.index;
    FOOTNOTE_TRY(const auto graph, index.load_graph(source));
    index.use_graph(graph);
    graph_nodes_made += graph->size();
  }
  return {};
}

Result<void> LocalVectorStore::save_graphs(const std::filesystem::path& path, const IndexHead& head) const {
  const auto state = corpora_.newest(head.corpus);
  if (state == nullptr || state->newest != head.generation) {
    return fail(ErrorCode::kFailedPrecondition, "the index is not at generation {}", head.generation);
  }
  FOOTNOTE_TRY(IndexFileWriter file, IndexFileWriter::create(path, head));
  FOOTNOTE_CHECK(file.section([&](ByteSink& sink) { return state->rows.save_graphs(sink); }));
  return file.commit();
}

Result<void> LocalVectorStore::load_graphs(IndexFileReader& file) {
  return corpora_.amend(file.head().corpus, [&](Rows& rows) -> Result<void> {
    FOOTNOTE_CHECK(file.section([&](ByteSource& source) { return rows.load_graphs(source); }));
    return file.finish();
  });
}

}  // namespace footnote
