#include "app/calibrate.h"

#include "eval/calibrate_gate.h"
#include "eval/calibrate_probes.h"

namespace footnote::app {
namespace {

/// From the corpus itself, and from each other corpus of the workspace.
constexpr std::size_t kOwnProbes = 300;
constexpr std::size_t kOtherCorpusProbes = 40;
constexpr std::size_t kOtherCorporaMax = 10;

Result<std::vector<eval::Probe>> foreign_probes(const CallContext& call, AnswerParts& parts, const Corpus& corpus) {
  std::vector<eval::Probe> out = eval::general_probes();
  FOOTNOTE_TRY(const auto corpora, parts.base().catalog().corpora(call, corpus.workspace));
  std::size_t read = 0;
  for (const Corpus& other : corpora) {
    if (other.id == corpus.id || read == kOtherCorporaMax) continue;
    ++read;
    FOOTNOTE_TRY(auto probes, eval::corpus_probes(call, parts.base().chunks(), other, kOtherCorpusProbes));
    for (eval::Probe& probe : probes) out.push_back({std::move(probe.question), "corpus " + other.name});
  }
  return out;
}

/// The gate's evidence for these questions, before any calibration.
Result<std::vector<eval::ProbeEvidence>> evidence_of(const CallContext& call, AnswerParts& parts, const Corpus& corpus,
                                                     const std::vector<eval::Probe>& probes,
                                                     const std::function<Result<void>()>& on_question) {
  std::vector<eval::ProbeEvidence> out;
  for (const eval::Probe& probe : probes) {
    FOOTNOTE_TRY(const auto found, parts.retriever().retrieve(call, corpus.id, probe.question, {.profile = kAskProfile, .filter = {}}));
    out.push_back({probe.domain, found.gate.evidence});
    FOOTNOTE_CHECK(on_question());
  }
  return out;
}

}  // namespace

Result<api::Calibrated> calibrate(const CallContext& call, AnswerParts& parts, const Corpus& corpus, double rate,
                                  const api::OnQuestion& on_question) {
  const EmbeddingSpace space = parts.base().embedder().space();
  if (corpus.space != space) {
    return fail(ErrorCode::kFailedPrecondition, "the vectors of corpus {} are not made by {}: questions can't be compared with them",
                corpus.name, space.model_id);
  }
  FOOTNOTE_TRY(const auto own, eval::corpus_probes(call, parts.base().chunks(), corpus, kOwnProbes));
  FOOTNOTE_TRY(const auto foreign, foreign_probes(call, parts, corpus));
  const std::size_t total = own.size() + foreign.size();
  std::size_t done = 0;
  const auto step = [&] { return on_question(++done, total); };
  FOOTNOTE_TRY(const auto own_evidence, evidence_of(call, parts, corpus, own, step));
  FOOTNOTE_TRY(const auto foreign_evidence, evidence_of(call, parts, corpus, foreign, step));
  FOOTNOTE_TRY(eval::GateSetting setting, eval::set_gate(own_evidence, foreign_evidence, rate));
  return api::Calibrated{.gate = {.evidence_min = setting.evidence_min,
                                  .wanted_rate = rate,
                                  .false_answer_rate = setting.false_answer_rate,
                                  .answered_rate = setting.answered_rate,
                                  .probes = static_cast<std::int64_t>(total),
                                  .embedder = corpus.space.model_id,
                                  .judge = parts.corpora().models().judge,
                                  .made_at = parts.base().clock().now()},
                         .own = setting.own,
                         .foreign = setting.foreign,
                         .left_out = std::move(setting.left_out)};
}

}  // namespace footnote::app
