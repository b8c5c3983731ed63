#pragma once

#include <thread>

#include "ports/catalog_store.h"
#include "providers/local/local_vector_store.h"
#include "upkeep/index_files.h"

namespace footnote::upkeep {

/// Vectors of one space from which on a graph is worth its minutes of building and its memory; see docs/adr/0018-graph.md.
inline constexpr std::size_t kGraphVectorsMin = 500'000;

/// Gives large vector spaces their graphs: from the files, else by building them, one at a time, on one thread of its own. Searches
/// read rows one by one until then. What it made is saved with the other indexes.
class GraphKeeper {
 public:
  struct Ports {
    const CatalogStore& catalog;
    LocalVectorStore& vectors;
    IndexFiles& files;
  };
  /// Everything is borrowed.
  GraphKeeper(Ports ports, std::size_t vectors_min = kGraphVectorsMin);
  /// Stops a build; it begins anew at the next start.
  ~GraphKeeper();

 private:
  void run(const std::stop_token& stop);
  const Ports ports_;
  const std::size_t vectors_min_;
  std::jthread thread_;
};

/// One look at a corpus: what GraphKeeper does every now and then.
void keep_graphs(const CallContext& call, const GraphKeeper::Ports& ports, const Corpus& corpus, std::size_t vectors_min);

}  // namespace footnote::upkeep
