#pragma once

#include "providers/local/local_vector_store.h"
#include "providers/local/saved_index.h"

namespace footnote {

/// The graphs of a vector store as an index with its own files. They are loaded late, so that startup does not wait for them.
class VectorGraphs final : public SavedIndex {
 public:
  explicit VectorGraphs(LocalVectorStore& vectors) : vectors_(vectors) {}

  IndexKind kind() const override { return IndexKind::kGraphs; }
  std::uint32_t rules() const override { return 1; }
  bool loads_late() const override { return true; }
  IndexExtent extent(CorpusId corpus) const override { return vectors_.graph_extent(corpus); }
  Result<void> save(const CallContext&, const std::filesystem::path& path, const IndexHead& head) const override {
    return vectors_.save_graphs(path, head);
  }
  Result<void> load(IndexFileReader& file) override { return vectors_.load_graphs(file); }
  Result<void> drop(const CallContext& call, CorpusId corpus) override {
    FOOTNOTE_CHECK(call.check());
    return vectors_.drop_graphs(corpus);
  }

 private:
  LocalVectorStore& vectors_;
};

}  // namespace footnote
