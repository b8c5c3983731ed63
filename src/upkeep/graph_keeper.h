#pragma once

#include <thread>

#include "ports/catalog_store.h"
#include "providers/local/local_vector_store.h"
#include "upkeep/index_files.h"

namespace footnote::upkeep {

/// Minimum number of vectors in a space for a graph to be worth its minutes of building and its memory; see docs/adr/0018-graph.md.
inline constexpr std::size_t kGraphVectorsMin = 500'000;

/// Provides graphs for large vector spaces: loads them from files, or else builds them, one at a time, on a background thread. Until then,
/// searches scan the rows. New graphs are saved with the other indexes.
class GraphKeeper {
 public:
  struct Ports {
    const CatalogStore& catalog;
    LocalVectorStore& vectors;
    IndexFiles& files;
  };
  /// Everything is borrowed.
  GraphKeeper(Ports ports, std::size_t vectors_min = kGraphVectorsMin);
  /// Cancels a build in progress; it starts over at the next start.
  ~GraphKeeper();

 private:
  void run(const std::stop_token& stop);
  const Ports ports_;
  const std::size_t vectors_min_;
  std::jthread thread_;
};

/// One pass over a corpus, which GraphKeeper runs periodically.
void keep_graphs(const CallContext& call, const GraphKeeper::Ports& ports, const Corpus& corpus, std::size_t vectors_min);

}  // namespace footnote::upkeep
