#include "upkeep/scale_keeper.h"

#include <utility>

#include "base/log.h"
#include "upkeep/periodic.h"
#include "upkeep/stores.h"

namespace footnote::upkeep {
namespace {

constexpr std::chrono::seconds kLookEvery{5};
/// Time limit for the questions of one corpus.
constexpr std::chrono::minutes kFitTimeMax{5};

bool has_grown_by_half(std::int64_t before, std::int64_t now) { return 2 * now >= 3 * before; }

}  // namespace

bool wants_fit(const Corpus& corpus, std::string_view judge, std::int64_t passages) {
  if (passages < kFitPassagesMin) return false;
  const GateCalibration* made = corpus.gate_for(judge);
  return made == nullptr || (made->automatic && has_grown_by_half(made->passages, passages));
}

void ScaleFit::look(const CallContext& call) {
  const auto corpora = all_corpora(call, ports_.catalog);
  if (!corpora) return;
  std::map<CorpusId, Seen> seen;  // Rebuilt on each pass, so that deleted corpora are dropped.
  for (const Corpus& corpus : *corpora) {
    const auto known = seen_.find(corpus.id);
    Seen& entry = seen.emplace(corpus.id, known == seen_.end() ? Seen{} : known->second).first->second;
    if (call.check()) look_at(call, corpus, entry);
  }
  seen_ = std::move(seen);
}

void ScaleFit::look_at(const CallContext& call, const Corpus& corpus, Seen& seen) {
  // An ingest consists of many commits: wait until there was none for a whole interval.
  if (std::exchange(seen.generation, corpus.generation) != corpus.generation || !ports_.can_ask(corpus)) return;
  if (seen.pause > 0) {
    --seen.pause;
    return;
  }
  const auto counts = ports_.chunks.counts(call, corpus.id);
  if (!counts || !wants_fit(corpus, ports_.judge, counts->chunks)) return;
  if (seen.unfit_passages > 0 && !has_grown_by_half(seen.unfit_passages, counts->chunks)) return;
  fit(call, corpus, counts->chunks, seen);
}

void ScaleFit::fit(const CallContext& call, const Corpus& corpus, std::int64_t passages, Seen& seen) {
  auto made = ports_.fit(call.narrowed(kFitTimeMax), corpus);
  if (!call.check()) return;  // the server stops
  if (!made) {
    if (made.error().code == ErrorCode::kFailedPrecondition) {
      seen.unfit_passages = passages;
    } else {
      seen.pause = kPauseLooks;
    }
    return log(LogLevel::kWarn, "app", "could not fit the scales of this corpus's models: confidence stays uncalibrated",
               {{"corpus", corpus.name}, {"error", made.error().message}});
  }
  made->automatic = true;
  made->passages = passages;
  const auto current = ports_.catalog.corpus(call, corpus.id);
  if (!current || !wants_fit(*current, ports_.judge, passages)) return;  // deleted, or calibrated by hand meanwhile
  if (const auto stored = ports_.catalog.set_gate(call, corpus.id, *made); !stored) {
    return log(LogLevel::kWarn, "app", "could not store a corpus's calibration",
               {{"corpus", corpus.name}, {"error", stored.error().message}});
  }
  log(LogLevel::kInfo, "app", "scales of this corpus's models fitted",
      {{"corpus", corpus.name},
       {"questions", made->probes},
       {"foreign_answered", made->false_answer_rate},
       {"own_answered", made->answered_rate}});
}

ScaleKeeper::ScaleKeeper(ScaleFit::Ports ports) : fit_(std::move(ports)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

ScaleKeeper::~ScaleKeeper() {
  thread_.request_stop();
  thread_.join();
}

void ScaleKeeper::run(const std::stop_token& stop) {
  run_periodically("fitting scales", kLookEvery, stop, [this](const CallContext& call) { fit_.look(call); });
}

}  // namespace footnote::upkeep
