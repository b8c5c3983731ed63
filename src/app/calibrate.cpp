#include "app/calibrate.h"

#include "eval/calibrate_gate.h"
#include "eval/calibrate_probes.h"
#include "retrieve/fuse.h"
#include "retrieve/score_model.h"

namespace footnote::app {
namespace {

/// How many questions are asked.
struct ProbeCounts {
  std::size_t own = 0;
  std::size_t general_step = 1;  ///< Uses every n-th general question.
  std::size_t other_corpus = 0;  ///< Questions from each other corpus of the workspace.
};
constexpr ProbeCounts kAllProbes{.own = 300, .general_step = 1, .other_corpus = 40};
/// A sample for the background: about a hundred questions, because another server may charge for each.
constexpr ProbeCounts kSampledProbes{.own = 40, .general_step = 3, .other_corpus = 0};
constexpr std::size_t kOtherCorporaMax = 10;

Result<std::vector<eval::Probe>> foreign_probes(const CallContext& call, AnswerParts& parts, const Corpus& corpus,
                                                const ProbeCounts& counts) {
  std::vector<eval::Probe> out;
  std::vector<eval::Probe> general = eval::general_probes();
  for (std::size_t i = 0; i < general.size(); i += counts.general_step) out.push_back(std::move(general[i]));
  if (counts.other_corpus == 0) return out;
  FOOTNOTE_TRY(const auto corpora, parts.base().catalog().corpora(call, corpus.workspace));
  std::size_t read = 0;
  for (const Corpus& other : corpora) {
    if (other.id == corpus.id || read == kOtherCorporaMax) continue;
    ++read;
    FOOTNOTE_TRY(auto probes, eval::corpus_probes(call, parts.base().chunks(), other, counts.other_corpus));
    for (eval::Probe& probe : probes) out.push_back({std::move(probe.question), "corpus " + other.name});
  }
  return out;
}

/// A probe's passages, without their texts.
struct ProbeHits {
  std::string domain;
  std::vector<Hit> hits;
};

Result<std::vector<ProbeHits>> retrieve_all(const CallContext& call, AnswerParts& parts, const Corpus& corpus, const Profile& profile,
                                            const std::vector<eval::Probe>& probes, const std::function<Result<void>()>& on_question) {
  std::vector<ProbeHits> out;
  for (const eval::Probe& probe : probes) {
    FOOTNOTE_TRY(auto found, parts.retriever().retrieve(call, corpus.id, probe.question, {.profile = profile, .filter = {}}));
    for (Hit& hit : found.hits) {
      hit.chunk = {};
      hit.document = {};
    }
    out.push_back({probe.domain, std::move(found.hits)});
    FOOTNOTE_CHECK(on_question());
  }
  return out;
}

/// The median of a signal of the first passages that have it.
template <class SignalOf>
double median_signal(const std::vector<ProbeHits>& probes, const SignalOf& signal_of) {
  std::vector<double> values;
  for (const ProbeHits& probe : probes) {
    if (probe.hits.empty()) continue;
    if (const std::optional<double> value = signal_of(probe.hits.front())) values.push_back(*value);
  }
  return eval::median_of(std::move(values));
}

std::optional<double> cosine_of(const Hit& hit) { return hit.cosine; }
std::optional<double> judge_odds_of(const Hit& hit) {
  return hit.judged ? std::optional(retrieve::log_odds(hit.judged->calibrated)) : std::nullopt;
}

/// The scale of a signal that the policy does not know.
template <class SignalOf>
std::optional<SignalScale> scale_of(bool known, const std::vector<ProbeHits>& own, const std::vector<ProbeHits>& foreign,
                                    const eval::SignalMedians& built_in, const SignalOf& signal_of) {
  if (known) return std::nullopt;
  return eval::align({median_signal(own, signal_of), median_signal(foreign, signal_of)}, built_in);
}

std::vector<eval::ProbeEvidence> evidence_of(const std::vector<ProbeHits>& probes, const GatePolicy& policy) {
  std::vector<eval::ProbeEvidence> out;
  out.reserve(probes.size());
  for (const ProbeHits& probe : probes) out.push_back({probe.domain, retrieve::judge_grounding(probe.hits, policy).evidence});
  return out;
}

/// The measurements, before a threshold is chosen.
struct Measured {
  GateCalibration made;
  std::vector<eval::ProbeEvidence> own, foreign;
};

/// Asks the probes, and maps the signals of models that are not built in to the known scale.
Result<Measured> measure(const CallContext& call, AnswerParts& parts, const Corpus& corpus, const ProbeCounts& counts,
                         const api::OnQuestion& on_question) {
  const EmbeddingSpace space = parts.base().embedder().space();
  if (corpus.space != space) {
    return fail(ErrorCode::kFailedPrecondition, "the vectors of corpus {} are not made by {}: questions can't be compared with them",
                corpus.name, space.model_id);
  }
  FOOTNOTE_TRY(const auto own, eval::corpus_probes(call, parts.base().chunks(), corpus, counts.own));
  FOOTNOTE_TRY(const auto foreign, foreign_probes(call, parts, corpus, counts));
  FOOTNOTE_TRY(const CorpusCounts size, parts.base().chunks().counts(call, corpus.id));
  const std::size_t total = own.size() + foreign.size();
  std::size_t done = 0;
  const auto step = [&] { return on_question(++done, total); };
  Corpus uncalibrated = corpus;
  uncalibrated.gate.reset();
  FOOTNOTE_TRY(const Profile profile, parts.corpora().asked_as(uncalibrated, kAskProfile));
  FOOTNOTE_TRY(const auto own_hits, retrieve_all(call, parts, corpus, profile, own, step));
  FOOTNOTE_TRY(const auto foreign_hits, retrieve_all(call, parts, corpus, profile, foreign, step));
  const std::string judge = parts.corpora().models().judge;
  GateCalibration made{.evidence_min = profile.gate.probability_min,
                       .probes = static_cast<std::int64_t>(total),
                       .embedder = corpus.space.model_id,
                       .judge = judge,
                       .made_at = parts.base().clock().now(),
                       .passages = size.chunks};
  made.cosine = scale_of(profile.gate.known.cosine, own_hits, foreign_hits, eval::kCosineMedians, cosine_of);
  made.judge_scale = scale_of(profile.gate.known.judge || judge.empty(), own_hits, foreign_hits, eval::kJudgeMedians, judge_odds_of);
  const GatePolicy policy = retrieve::calibrated_policy(profile.gate, made);
  return Measured{std::move(made), evidence_of(own_hits, policy), evidence_of(foreign_hits, policy)};
}

api::Calibrated calibrated(GateCalibration made, eval::GateSetting setting) {
  made.evidence_min = setting.evidence_min;
  made.false_answer_rate = setting.false_answer_rate;
  made.answered_rate = setting.answered_rate;
  return {.gate = std::move(made), .own = setting.own, .foreign = setting.foreign, .left_out = std::move(setting.left_out)};
}

}  // namespace

Result<api::Calibrated> calibrate(const CallContext& call, AnswerParts& parts, const Corpus& corpus, double rate,
                                  const api::OnQuestion& on_question) {
  FOOTNOTE_TRY(Measured measured, measure(call, parts, corpus, kAllProbes, on_question));
  measured.made.wanted_rate = rate;
  FOOTNOTE_TRY(eval::GateSetting setting, eval::set_gate(measured.own, measured.foreign, rate));
  return calibrated(std::move(measured.made), std::move(setting));
}

Result<GateCalibration> fit_scales(const CallContext& call, AnswerParts& parts, const Corpus& corpus) {
  const api::OnQuestion on_question = [&](std::size_t, std::size_t) { return call.check(); };
  FOOTNOTE_TRY(Measured measured, measure(call, parts, corpus, kSampledProbes, on_question));
  FOOTNOTE_TRY(eval::GateSetting setting, eval::measure_gate(measured.own, measured.foreign, measured.made.evidence_min));
  return calibrated(std::move(measured.made), std::move(setting)).gate;
}

}  // namespace footnote::app
