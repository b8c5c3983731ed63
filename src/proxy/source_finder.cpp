#include "proxy/source_finder.h"

#include <algorithm>
#include <unordered_map>

#include "base/utf8.h"
#include "retrieve/mmr.h"

namespace footnote::proxy {

namespace {

/// Late interaction compares more passages than are fetched, so that it can move others up.
constexpr std::size_t kLateFactor = 3;

/// Does not use the judge: a proxy may add milliseconds, not the latency of a second model. Passages are deduplicated by URL here, not by
/// document.
Profile door_profile(std::size_t count) {
  Profile out = kAskProfile;
  out.top_k = out.per_document_max = count;
  out.late = kLateFactor * count;
  out.judged = 0;
  return out;
}

/// The mean of similarity and late interaction on this question's common scale, with a canonical document's boost and less the penalty of
/// an outdated one; the total score if there are no vectors.
double similarity_of(const Hit& hit, bool by_cosine) {
  if (by_cosine) return hit.cosine;
  const StageScore* vector = hit.term(Stage::kVector);
  const StageScore* late = hit.term(Stage::kLate);
  if (vector == nullptr) return hit.score;
  const double similarity = late == nullptr ? vector->normalised : (vector->normalised + late->normalised) / 2;
  double boosts = 0;
  for (const Stage stage : {Stage::kPenalty, Stage::kCanonical}) {
    if (const StageScore* term = hit.term(stage)) boosts += term->contribution();
  }
  return similarity + boosts;
}

/// A file's passage is identified by the file's path, a point only by its URL.
std::string address_of(const Hit& hit) {
  if (!hit.document.url.empty()) return hit.document.url;
  return hit.document_key.starts_with(kPointKeyPrefix) ? std::string() : hit.document_key;
}

}  // namespace

std::string_view searchable(std::string_view question) { return first_code_points(question, retrieve::kQuestionCharactersMax); }

std::vector<Candidate> one_per_url(std::vector<Candidate> candidates) {
  std::vector<Candidate> out;
  std::unordered_map<std::string, std::size_t> places;
  for (Candidate& candidate : candidates) {
    if (candidate.url.empty() || candidate.text.empty()) continue;
    const auto [place, fresh] = places.emplace(candidate.url, out.size());
    if (fresh) {
      out.push_back(std::move(candidate));
    } else if (candidate.similarity > out[place->second].similarity) {
      out[place->second] = std::move(candidate);
    }
  }
  return out;
}

Result<SourceFinder::Searched> SourceFinder::search_here(const CallContext& call, WorkspaceId workspace, const Target& target,
                                                         std::string_view question) const {
  const auto corpus = ports_.catalog.find_corpus(call, workspace, target.corpus);
  if (!corpus && corpus.error().code == ErrorCode::kNotFound && !target.corpus_named) return Searched{};
  if (!corpus) return std::unexpected(corpus.error());
  FOOTNOTE_TRY(const Profile profile, ports_.corpora.asked_as(*corpus, door_profile(policy_.top_k)));
  const auto recall = policy_.seed_form ? retrieve::Recall::kVectorOnly : retrieve::Recall::kBoth;
  FOOTNOTE_TRY(retrieve::Retrieval found,
               ports_.retriever.retrieve(call, corpus->id, question, {.profile = profile, .filter = {}, .recall = recall}));
  std::vector<ChunkId> chunks;
  chunks.reserve(found.hits.size());
  for (const Hit& hit : found.hits) chunks.push_back(hit.chunk.id);
  FOOTNOTE_TRY(const auto points, ports_.points.points_of(call, corpus->id, chunks, PointVectors::kRead));
  std::unordered_map<std::int64_t, const Point*> by_chunk;
  for (const Point& point : points) by_chunk.emplace(point.chunk.value, &point);
  Searched out;
  out.grounded = found.gate.grounded;
  for (std::size_t place = 0; place < found.hits.size(); ++place) {
    const Hit& hit = found.hits[place];
    Candidate candidate{.url = address_of(hit),
                        .title = hit.document.title,
                        .text = hit.chunk.text,
                        .similarity = similarity_of(hit, policy_.seed_form && profile.vectors),
                        .vector = {},
                        .hit = place,
                        .refused = hit.probability < found.gate.threshold};
    if (const auto point = by_chunk.find(hit.chunk.id.value); point != by_chunk.end()) candidate.vector = point->second->vector;
    out.candidates.push_back(std::move(candidate));
  }
  out.own = OwnSearch{.corpus = corpus->id, .profile = profile, .retrieval = std::move(found), .given = {}};
  return out;
}

Result<SourceFinder::Searched> SourceFinder::search_elsewhere(const CallContext& call, const Target& target,
                                                              std::string_view question) const {
  const std::string_view texts[] = {question};
  FOOTNOTE_TRY(const auto embedded, ports_.embedder.embed(call, texts, {.kind = EmbedKind::kQuery, .overflow = Overflow::kTruncate}));
  Searched out;
  FOOTNOTE_TRY(out.candidates, ports_.elsewhere(call, target.corpus, embedded.at(0).windows.at(0).values, policy_.top_k));
  out.grounded = !out.candidates.empty();
  return out;
}

Result<Found> SourceFinder::find(const CallContext& call, WorkspaceId workspace, const Target& target, std::string_view question) const {
  const std::string_view text = searchable(question);
  FOOTNOTE_TRY(Searched searched, ports_.elsewhere ? search_elsewhere(call, target, text) : search_here(call, workspace, target, text));
  std::vector<Candidate> candidates = one_per_url(std::move(searched.candidates));
  // Diversity must not select passages that the gate would refuse. If there is nothing to choose, every passage is a source.
  if (!policy_.seed_form && candidates.size() > policy_.sources_max) std::erase_if(candidates, &Candidate::refused);
  std::vector<retrieve::MmrCandidate> pool;
  pool.reserve(candidates.size());
  for (const Candidate& candidate : candidates) pool.push_back({candidate.similarity, candidate.vector});
  Found out;
  for (const std::size_t place : retrieve::pick_diverse(pool, policy_.sources_max, policy_.lambda)) {
    Candidate& picked = candidates[place];
    out.sources.push_back({std::move(picked.url), std::move(picked.title), std::move(picked.text)});
    if (searched.own) searched.own->given.push_back(picked.hit);
  }
  out.grounded = searched.grounded && !out.sources.empty();
  out.own = std::move(searched.own);
  return out;
}

}  // namespace footnote::proxy
