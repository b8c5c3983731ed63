#include "retrieve/retriever.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/utf8.h"
#include "retrieve/fuse.h"
#include "retrieve/words.h"

namespace footnote::retrieve {

namespace {

/// Notes how long each stage took.
class Stopwatch {
 public:
  explicit Stopwatch(std::vector<StageTiming>& timings) : timings_(timings) {}
  void lap(std::string_view stage) {
    const auto now = std::chrono::steady_clock::now();
    timings_.push_back({stage, std::chrono::duration_cast<std::chrono::microseconds>(now - start_)});
    start_ = now;
  }

 private:
  std::vector<StageTiming>& timings_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// How many fused candidates have their texts fetched: enough that the cap per document still leaves top_k.
constexpr std::size_t kFetchFactor = 4;

double heading_share(const std::vector<std::string>& question_words, const Hit& hit) {
  std::string headings = hit.document.title;
  for (const std::string& heading : hit.chunk.heading_path) headings += " " + heading;
  return share_of(question_words, content_words(headings));
}

void add_term(Hit& hit, const StageScore& term) {
  if (term.weight == 0) return;
  hit.terms.push_back(term);
  hit.score += term.contribution();
}

double penalty_of(DocumentStatus status, const StatusPenalties& penalties) {
  switch (status) {
    case DocumentStatus::kSuperseded: return penalties.superseded;
    case DocumentStatus::kDeprecated: return penalties.deprecated;
    case DocumentStatus::kArchived: return penalties.archived;
    case DocumentStatus::kDraft:
    case DocumentStatus::kReview:
    case DocumentStatus::kAccepted: return 0;
  }
  return 0;
}

/// What a passage's document says of it: its headings and its standing. Sorts again.
void add_document_terms(std::vector<Hit>& hits, std::string_view question, double heading_weight, const StatusPenalties& penalties) {
  const std::vector<std::string> words = content_words(question);
  for (Hit& hit : hits) {
    if (heading_weight != 0) {
      const double share = heading_share(words, hit);
      add_term(hit, {Stage::kHeading, share, share, heading_weight});
    }
    add_term(hit, {Stage::kPenalty, 1, 1, -penalty_of(hit.document.status, penalties)});
  }
  std::ranges::sort(hits, [](const Hit& a, const Hit& b) { return a.score != b.score ? a.score > b.score : a.chunk.id < b.chunk.id; });
}

/// At most `per_document_max` passages of one document, at most `top_k` in all.
std::vector<Hit> diversify(std::vector<Hit> hits, const Profile& profile) {
  std::map<DocumentId, std::size_t> taken;
  std::vector<Hit> out;
  for (Hit& hit : hits) {
    if (out.size() == profile.top_k) break;
    if (++taken[hit.chunk.document] <= profile.per_document_max) out.push_back(std::move(hit));
  }
  return out;
}

}  // namespace

Result<Retrieval> Retriever::retrieve(const CallContext& call, CorpusId corpus, std::string_view question,
                                      const RetrieveOptions& options) const {
  question = trim(question);
  if (question.empty()) return fail_field(ErrorCode::kInvalidArgument, "question", "the question is empty");
  if (count_code_points(question) > kQuestionCharactersMax) {
    return fail_field(ErrorCode::kTooLarge, "question", "the question is over the limit of {} characters", kQuestionCharactersMax);
  }
  Retrieval retrieval;
  Stopwatch watch(retrieval.timings);

  const std::string_view texts[] = {question};
  FOOTNOTE_TRY(auto embedded, embedder_.embed(call, texts, {.kind = EmbedKind::kQuery, .overflow = Overflow::kTruncate}));
  const std::vector<float>& vector = embedded.at(0).windows.at(0).values;
  watch.lap("embed");

  // One generation for both sides: the older of the two, which both still hold.
  FOOTNOTE_TRY(const Generation vector_generation, vectors_.generation(call, corpus));
  FOOTNOTE_TRY(const Generation keyword_generation, keywords_.generation(call, corpus));
  retrieval.generation = std::min(vector_generation, keyword_generation);
  const Filter* filter = options.filter.empty() ? nullptr : &options.filter;
  const VectorQuery vector_query{corpus, retrieval.generation, vector, options.profile.recall, filter};
  const KeywordQuery keyword_query{corpus, retrieval.generation, question, options.profile.recall, filter};

  std::vector<ScoredChunk> by_vector, by_keyword;
  if (options.recall != Recall::kKeywordOnly) {
    FOOTNOTE_TRY(by_vector, vectors_.search(call, vector_query));
  }
  watch.lap("vector");
  if (options.recall != Recall::kVectorOnly) {
    FOOTNOTE_TRY(by_keyword, keywords_.search(call, keyword_query));
  }
  watch.lap("keyword");

  std::vector<Candidate> candidates = merge(by_vector, by_keyword);
  retrieval.candidates = candidates.size();
  std::vector<ChunkId> ids;
  for (const Candidate& candidate : candidates) ids.push_back(candidate.chunk);
  FOOTNOTE_TRY(const auto cosines, vectors_.score(call, vector_query, ids));
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i].cosine = cosines[i];
  FusionWeights weights = options.profile.weights;
  if (options.recall == Recall::kVectorOnly) weights = {.vector = 1, .keyword = 0, .heading = 0};
  if (options.recall == Recall::kKeywordOnly) weights = {.vector = 0, .keyword = 1, .heading = 0};
  fuse(candidates, weights);
  candidates.resize(std::min(candidates.size(), options.profile.top_k * kFetchFactor));
  watch.lap("fuse");

  ids.clear();
  for (const Candidate& candidate : candidates) ids.push_back(candidate.chunk);
  FOOTNOTE_TRY(const auto coverage, keywords_.coverage(call, keyword_query, ids));
  FOOTNOTE_TRY(auto records, chunks_.chunks(call, corpus, ids));
  std::vector<Hit> hits;
  for (std::size_t i = 0, next = 0; i < candidates.size() && next < records.size(); ++i) {
    if (records[next].chunk.id != candidates[i].chunk) continue;  // gone since: left out by the store
    ChunkReader::ChunkRecord& record = records[next++];
    hits.push_back({.chunk = std::move(record.chunk),
                    .document_key = std::move(record.document_key),
                    .document = std::move(record.document),
                    .terms = std::move(candidates[i].terms),
                    .score = candidates[i].score,
                    .cosine = candidates[i].cosine,
                    .coverage = coverage[i]});
  }
  add_document_terms(hits, question, weights.heading, options.profile.penalties);
  retrieval.hits = diversify(std::move(hits), options.profile);
  retrieval.gate = judge_grounding(retrieval.hits, options.profile.gate);
  watch.lap("fetch");
  return retrieval;
}

}  // namespace footnote::retrieve
