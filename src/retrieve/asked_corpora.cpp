#include "retrieve/asked_corpora.h"

#include "base/log.h"
#include "domain/point.h"
#include "retrieve/score_model.h"

namespace footnote::retrieve {

namespace {

/// Client vectors with our dimension and distance were made by our /embed. Such a collection counts as ours from its creation, even if the
/// embedder was configured later.
bool is_comparable(const EmbeddingSpace& stored, const EmbeddingSpace& ours) {
  return stored == ours || (stored.model_id == kClientModel && stored.dimension == ours.dimension && stored.distance == ours.distance);
}

/// The judge's name if this front door uses it; else empty.
std::string_view judge_of(const Profile& door, const QuestionModels& models) {
  return door.judged == 0 ? std::string_view() : std::string_view(models.judge);
}

}  // namespace

Result<Profile> asked_as(const Corpus& corpus, const Profile& door, const QuestionModels& models, OtherModel other_model) {
  if (is_comparable(corpus.space, models.space)) {
    Profile out = door;
    const std::string_view judge = judge_of(door, models);
    out.gate = policy_for(models.space.model_id, models.code_model, judge);
    if (const GateCalibration* made = corpus.gate_for(judge)) {
      out.gate = calibrated_policy(out.gate, *made);
    } else if (corpus.gate && corpus.gate->embedder == corpus.space.model_id && corpus.gate->cosine) {
      out.gate.cosine = *corpus.gate->cosine;
      out.gate.known.cosine = true;
      out.gate.calibrated = judge.empty() || out.gate.known.judge;
    }
    return out;
  }
  if (has_our_vectors(corpus) && other_model == OtherModel::kRefuse) {
    return fail(
        ErrorCode::kFailedPrecondition,
        "corpus {} was embedded by {}, the model here is {}: run `footnote rebuild-index {}` to embed it anew, or set MODEL_NAME={}",
        corpus.name, corpus.space.model_id, models.space.model_id, corpus.name, corpus.space.model_id);
  }
  log(LogLevel::kDebug, "answer", "the corpus's vectors can't be compared with a question: searched by words alone",
      {{"corpus", corpus.name}, {"model", corpus.space.model_id}});
  Profile out = by_words_alone(door);
  out.model_changed = has_our_vectors(corpus);
  const std::string_view judge = judge_of(door, models);
  out.gate.known.judge = judge == kBuiltInJudge;
  return out;
}

Result<AskedCorpus> AskedCorpora::find(const CallContext& call, WorkspaceId workspace, std::string_view name, const Profile& door) const {
  FOOTNOTE_TRY(Corpus corpus, catalog_.find_corpus(call, workspace, name));
  FOOTNOTE_TRY(const Profile profile, asked_as(corpus, door));
  return AskedCorpus{std::move(corpus), profile};
}

}  // namespace footnote::retrieve
