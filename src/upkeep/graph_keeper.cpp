#include "upkeep/graph_keeper.h"

#include "base/log.h"
#include "upkeep/periodic.h"
#include "upkeep/stores.h"

namespace footnote::upkeep {
namespace {

constexpr std::chrono::seconds kLookEvery{30};

}  // namespace

void keep_graphs(const CallContext& call, const GraphKeeper::Ports& ports, const Corpus& corpus, std::size_t vectors_min) {
  if (!ports.vectors.wants_graphs(corpus.id, vectors_min)) return;
  if (ports.vectors.graph_extent(corpus.id).rows == 0) ports.files.load_late(call, corpus);
  if (!ports.vectors.wants_graphs(corpus.id, vectors_min)) return;
  const auto begin = std::chrono::steady_clock::now();
  const auto made = ports.vectors.make_graphs(call, corpus.id, vectors_min);
  if (!made) {
    if (made.error().code != ErrorCode::kCancelled) {
      log(LogLevel::kWarn, "app", "could not build a graph", {{"corpus", corpus.name}, {"error", made.error().message}});
    }
    return;
  }
  if (*made == 0) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  log(LogLevel::kInfo, "app", "graph built", {{"corpus", corpus.name}, {"vectors", *made}, {"seconds", seconds.count()}});
}

GraphKeeper::GraphKeeper(Ports ports, std::size_t vectors_min)
    : ports_(ports), vectors_min_(vectors_min), thread_([this](const std::stop_token& stop) { run(stop); }) {}

GraphKeeper::~GraphKeeper() {
  thread_.request_stop();
  thread_.join();
}

void GraphKeeper::run(const std::stop_token& stop) {
  run_periodically("building graphs", kLookEvery, stop, [this](const CallContext& call) {
    const auto corpora = all_corpora(call, ports_.catalog);
    if (!corpora) return;
    for (const Corpus& corpus : *corpora) keep_graphs(call, ports_, corpus, vectors_min_);
  });
}

}  // namespace footnote::upkeep
