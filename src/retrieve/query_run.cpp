#include "retrieve/query_run.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "retrieve/fuse.h"
#include "retrieve/hit_terms.h"
#include "retrieve/language.h"
#include "retrieve/page_policy.h"
#include "retrieve/score_model.h"
#include "retrieve/stage_watch.h"

namespace footnote::retrieve {

namespace {

constexpr Generation kNoGeneration = std::numeric_limits<Generation>::max();

/// How many times top_k fused candidates are fetched: enough to fill top_k despite the cap per document.
constexpr std::size_t kFetchFactor = 4;
/// With fewer helper threads, keyword search runs next to vector search rather than next to the embedder, which needs all cores. On two
/// cores: .58 ms for embedding plus .18 for keywords in sequence, against .91 in parallel.
constexpr std::size_t kThreadsForWordsMin = 2;
/// A passage that contains this share of the question's words is in the question's language, whatever its function words suggest.
constexpr double kSharedWordsMin = 0.8;
/// From this many chunks on, fetching is split between two threads.
constexpr std::size_t kFetchSharedMin = 16;

/// The judge is trained on one-sentence questions and reads only the start of a paragraph, so its weight decreases with the length of the
/// question.
double trust_in_judge(std::string_view question) {
  constexpr double kFullWords = 20;
  const auto words = static_cast<double>(std::ranges::count(fold_spaces(question), ' ') + 1);
  return std::min(1.0, kFullWords / words);
}

/// The state of one question as it passes through the stages.
class QueryRun {
 public:
  QueryRun(const Retriever::Ports& ports, const CallContext& call, CorpusId corpus, std::string_view question,
           const RetrieveOptions& options)
      : ports_(ports),
        call_(call),
        corpus_(corpus),
        question_(question),
        options_(options),
        profile_(options.profile),
        filter_(&options.filter),
        page_url_(options.page_url),
        threshold_(options.threshold),
        recall_(options.profile.vectors ? options.recall : Recall::kKeywordOnly),
        judge_trust_(trust_in_judge(question)) {
    retrieval_.foreign_language = foreign_language(question, ports.embedder.languages());
  }

  Result<Retrieval> run() {
    pin_generation();
    Result<void> embedded;
    // Keyword search needs no vector: run it in parallel to the embedder, if that leaves the embedder enough cores.
    const bool meanwhile = profile_.vectors && ports_.helpers != nullptr && ports_.helpers->threads() >= kThreadsForWordsMin;
    run_both(
        meanwhile ? ports_.helpers : nullptr,
        [&] {
          embedded = embed();
          watch_.lap(TurnStage::kEmbed);
        },
        [&] {
          if (meanwhile) search_keywords();
        });
    FOOTNOTE_CHECK(std::move(embedded));
    FOOTNOTE_CHECK(recall(!meanwhile));
    FOOTNOTE_CHECK(fuse_candidates());
    FOOTNOTE_CHECK(tolerate(TurnStage::kLate, compare_tokens()));
    watch_.lap(TurnStage::kLate);
    FOOTNOTE_CHECK(tolerate(TurnStage::kFetch, fetch()));
    watch_.lap(TurnStage::kFetch);
    FOOTNOTE_CHECK(judge());
    compare_languages();
    select_hits();
    retrieval_.policy = gate();
    retrieval_.gate = judge_grounding(retrieval_.hits, retrieval_.policy);
    if (retrieval_.language_not_covered) retrieval_.gate.grounded = false;
    watch_.lap(TurnStage::kGate);
    return std::move(retrieval_);
  }

 private:
  /// Records a failed stage and continues without it if the profile degrades on failure. Cancellation and timeout of the call still fail.
  Result<void> tolerate(TurnStage stage, Result<void> result) {
    if (result || !profile_.degrade_on_failure) return result;
    FOOTNOTE_CHECK(call_.check());
    retrieval_.failures.push_back({stage, std::move(result).error()});
    return {};
  }

  bool has_vector() const { return !vector_.empty(); }
  /// Continues with keywords only.
  void do_without_vector() {
    vector_.clear();
    codes_ = {};
  }
  /// Without vectors only words and the judge count, also if the embedder or vector search failed.
  GatePolicy gate() const { return has_vector() ? profile_.gate : by_words_alone(profile_).gate; }

  VectorQuery vector_query() const { return {corpus_, retrieval_.generation, vector_, profile_.recall, filter_}; }
  KeywordQuery keyword_query() const {
    return {corpus_, retrieval_.generation, question_, profile_.recall, filter_, options_.prefix, options_.typos};
  }

  /// The profile's weights, with the model's reduced if the question is in a language it does not support.
  FusionWeights profile_weights() const {
    FusionWeights out = profile_.weights;
    const double trust = retrieval_.foreign_language.empty() ? 1 : kForeignTrust;
    out.vector *= has_vector() ? trust : 0;
    out.late *= has_vector() ? trust : 0;
    out.judge *= trust * judge_trust_;
    return out;
  }

  FusionWeights weights() const {
    switch (recall_) {
      case Recall::kBoth: return profile_weights();
      case Recall::kVectorOnly: return {.vector = 1, .keyword = 0, .heading = 0, .late = 0, .judge = 0, .priority = 0};
      case Recall::kKeywordOnly: return {.vector = 0, .keyword = 1, .heading = 0, .late = 0, .judge = 0, .priority = 0};
      case Recall::kLateOnly: return {.vector = 0, .keyword = 0, .heading = 0, .late = 1, .judge = 0, .priority = 0};
    }
    return profile_weights();
  }

  std::vector<ChunkId> ids_of_first(std::size_t count) const {
    std::vector<ChunkId> ids;
    ids.reserve(count);
    for (std::size_t i = 0; i < count; ++i) ids.push_back(candidates_[i].chunk);
    return ids;
  }

  Result<void> embed() { return profile_.vectors ? tolerate(TurnStage::kEmbed, embed_question()) : Result<void>{}; }

  Result<void> embed_question() {
    const std::string_view texts[] = {question_};
    FOOTNOTE_TRY(auto embedded,
                 ports_.embedder.embed(call_, texts, {.kind = EmbedKind::kQuery, .overflow = Overflow::kTruncate, .codes = true}));
    vector_ = std::move(embedded.at(0).windows.at(0).values);
    codes_ = std::move(embedded.at(0).question_codes);
    return {};
  }

  /// Uses one generation for both indexes: the older one, which both still hold.
  void pin_generation() {
    vector_generation_ = ports_.vectors.generation(call_, corpus_);
    keyword_generation_ = ports_.keywords.generation(call_, corpus_);
    retrieval_.generation = std::min(vector_generation_.value_or(kNoGeneration), keyword_generation_.value_or(kNoGeneration));
    if (!vector_generation_ && !keyword_generation_) retrieval_.generation = 0;
  }

  void search_keywords() {
    keyword_timing_ = watch_.time(TurnStage::kKeyword, [this] {
      if (recall_ != Recall::kVectorOnly && keyword_generation_) by_keyword_ = ports_.keywords.search(call_, keyword_query());
    });
  }

  bool wants_vectors() const { return recall_ != Recall::kKeywordOnly && has_vector(); }

  void search_vectors() {
    vector_timing_ = watch_.time(TurnStage::kVector, [this] {
      if (!wants_vectors()) return;
      VectorQuery query = vector_query();
      query.report = &retrieval_.vector_search;
      by_vector_ = ports_.vectors.search(call_, query);
    });
  }

  /// `words`: keyword search has not run yet.
  Result<void> recall(bool words) {
    if (!vector_generation_) FOOTNOTE_CHECK(tolerate(TurnStage::kVector, std::unexpected(vector_generation_.error())));
    if (!keyword_generation_) FOOTNOTE_CHECK(tolerate(TurnStage::kKeyword, std::unexpected(keyword_generation_.error())));
    if (!vector_generation_) do_without_vector();
    // The keyword thread finishes first and then helps with the vector search.
    run_both(
        words && wants_vectors() ? ports_.helpers : nullptr,
        [&] {
          if (words) search_keywords();
        },
        [&] { search_vectors(); });
    watch_.add(vector_timing_);
    watch_.add(keyword_timing_);
    watch_.skip();
    if (!by_vector_) FOOTNOTE_CHECK(tolerate(TurnStage::kVector, std::unexpected(by_vector_.error())));
    if (!by_keyword_) FOOTNOTE_CHECK(tolerate(TurnStage::kKeyword, std::unexpected(by_keyword_.error())));
    if (failed(TurnStage::kVector)) do_without_vector();
    has_keywords_ = keyword_generation_ && !failed(TurnStage::kKeyword);
    candidates_ = merge(by_vector_.value_or(std::vector<ScoredChunk>{}), by_keyword_.value_or(std::vector<ScoredChunk>{}));
    retrieval_.candidates = candidates_.size();
    return {};
  }

  bool failed(TurnStage stage) const {
    return std::ranges::any_of(retrieval_.failures, [&](const StageFailure& failure) { return failure.stage == stage; });
  }

  Result<void> fuse_candidates() {
    if (has_vector()) FOOTNOTE_CHECK(tolerate(TurnStage::kVector, fill_cosines()));
    // kLateOnly still preselects with the full weights: they decide which candidates are compared.
    scale_ = fuse(candidates_, recall_ == Recall::kLateOnly ? profile_weights() : weights(), profile_.fusion);
    watch_.lap(TurnStage::kFuse);
    return {};
  }

  /// Candidates from vector search already have a cosine.
  Result<void> fill_cosines() {
    std::vector<ChunkId> ids;
    std::vector<Candidate*> unknown;
    for (Candidate& candidate : candidates_) {
      if (candidate.cosine) continue;
      ids.push_back(candidate.chunk);
      unknown.push_back(&candidate);
    }
    FOOTNOTE_TRY(const auto cosines, ports_.vectors.score(call_, vector_query(), ids));
    for (std::size_t i = 0; i < unknown.size(); ++i) unknown[i]->cosine = cosines[i];
    return {};
  }

  /// Compares the best candidates' tokens with the question's and reorders them; the others are no longer eligible.
  Result<void> compare_tokens() {
    if (ports_.late == nullptr || weights().late == 0 || codes_.form == 0) return {};
    const std::size_t compared = std::min(candidates_.size(), profile_.late);
    FOOTNOTE_TRY(const auto scores, ports_.late->score(call_, corpus_, codes_, ids_of_first(compared)));
    std::vector<Candidate> rest(std::make_move_iterator(candidates_.begin() + static_cast<std::ptrdiff_t>(compared)),
                                std::make_move_iterator(candidates_.end()));
    candidates_.resize(compared);
    for (std::size_t i = 0; i < compared; ++i) candidates_[i].late = scores[i];
    scale_ = fuse(candidates_, weights(), profile_.fusion);
    rankable_ = compared;
    std::ranges::move(rest, std::back_inserter(candidates_));
    return {};
  }

  /// Fetches the best candidates' passages, and the names of a few that the limit cuts.
  Result<void> fetch() {
    const std::size_t wanted = std::max(profile_.top_k * kFetchFactor, profile_.judged);
    const std::size_t looked_at = std::min({candidates_.size(), rankable_, wanted});
    const std::vector<ChunkId> ids = ids_of_first(std::min(candidates_.size(), looked_at + kCutNamedMax));
    FOOTNOTE_TRY(auto passages, read_passages(ids));
    auto& [coverage, records] = passages;
    named_ = ids.size();
    for (std::size_t i = 0, next = 0; i < named_; ++i) {
      // The store omits chunks deleted since.
      const bool is_there = next < records.size() && records[next].chunk.id == candidates_[i].chunk;
      Hit hit = hit_of(candidates_[i], is_there ? &records[next++] : nullptr, coverage[i]);
      hit.corpus = corpus_;
      (i >= looked_at ? unranked_ : is_there ? ranked_ : gone_).push_back(std::move(hit));
    }
    return {};
  }

  struct Passages {
    std::vector<double> coverage;                   ///< For each requested chunk.
    std::vector<ChunkReader::ChunkRecord> records;  ///< For chunks that still exist.
  };

  Result<Passages> read_passages(std::span<const ChunkId> ids) const {
    const bool shared = ports_.helpers != nullptr && ids.size() >= kFetchSharedMin;
    // This thread gets fewer chunks, because it also computes the coverage.
    const std::size_t own = shared ? ids.size() * 2 / 5 : ids.size();
    Result<std::vector<double>> coverage(std::vector<double>(ids.size(), 0));
    Result<std::vector<ChunkReader::ChunkRecord>> records, others;
    run_both(
        shared ? ports_.helpers : nullptr,
        [&] {
          if (has_keywords_) coverage = ports_.keywords.coverage(call_, keyword_query(), ids);
          records = ports_.chunks.chunks(call_, corpus_, ids.first(own));
        },
        [&] {
          if (shared) others = ports_.chunks.chunks(call_, corpus_, ids.subspan(own));
        });
    if (!coverage) return std::unexpected(std::move(coverage).error());
    if (!records) return std::unexpected(std::move(records).error());
    if (!others) return std::unexpected(std::move(others).error());
    std::ranges::move(*others, std::back_inserter(*records));
    return Passages{*std::move(coverage), *std::move(records)};
  }

  /// Runs the judge on the best passages; its score is added to the sum and never replaces it.
  Result<void> judge() {
    add_document_terms(ranked_, question_, profile_, weights(), options_.mentioned);
    const std::size_t count = std::min(profile_.judged, ranked_.size());
    if (ports_.judge != nullptr && weights().judge != 0 && count > 0) {
      std::vector<std::string> texts;
      texts.reserve(count);
      for (std::size_t i = 0; i < count; ++i) texts.push_back(heading_line(ranked_[i].chunk) + ranked_[i].chunk.text);
      const std::vector<std::string_view> passages(texts.begin(), texts.end());
      auto judged = ports_.judge->rerank(call_.narrowed(ports_.judge_timeout), question_, passages);
      if (judged) {
        add_judgements(*std::move(judged));
      } else {
        FOOTNOTE_CHECK(call_.check());  // cancellation by the caller is not a failure of the judge
        retrieval_.failures.push_back({TurnStage::kJudge, std::move(judged).error()});
      }
    }
    watch_.lap(TurnStage::kJudge);
    return {};
  }

  /// REQUIRES: one judgement for each of the first hits.
  void add_judgements(std::vector<Judgement> judged) {
    std::vector<double> odds;
    odds.reserve(judged.size());
    for (const Judgement& judgement : judged) odds.push_back(log_odds(judgement.calibrated));
    const std::vector<double> normal = normalise_judged(odds, ranked_.size(), profile_.fusion, scale_);
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      add_term(ranked_[i], {Stage::kJudge, i < judged.size() ? judged[i].raw : 0, normal[i], weights().judge});
      if (i >= judged.size()) continue;
      take_off_heading(judged[i], heading_line(ranked_[i].chunk).size());
      ranked_[i].judged = judged[i];
    }
    sort_by_score(ranked_);
  }

  /// A question in a language that the models do not support is searched by its words, which passages in another language rarely contain.
  void compare_languages() {
    if (retrieval_.foreign_language.empty()) return;
    const std::string_view language = language_of(ranked_);
    const bool shares_words = std::ranges::any_of(ranked_, [](const Hit& hit) { return hit.coverage >= kSharedWordsMin; });
    retrieval_.language_not_covered = !language.empty() && language != retrieval_.foreign_language && !shares_words;
  }

  /// Boosts passages of the current page and, if there is a threshold, drops passages below it. In a judged list only judged passages are
  /// compared with the threshold, because the two kinds of scores are not comparable.
  void apply_page_policy() {
    const GatePolicy policy = gate();
    for (Hit& hit : ranked_) hit.probability = probability_of(hit, policy);
    if (!page_url_.empty() && boost_page(ranked_, page_url_, profile_.page_boost)) sort_by_score(ranked_);
    if (!threshold_) return;
    const bool is_judged = std::ranges::any_of(ranked_, [](const Hit& hit) { return hit.judged.has_value(); });
    std::vector<Hit> passing;
    for (Hit& hit : ranked_) {
      if (is_judged && !hit.judged) {
        unread_.push_back(std::move(hit));
      } else if (retrieval_.language_not_covered || boosted_probability(hit) < *threshold_) {
        below_.push_back(std::move(hit));
      } else {
        passing.push_back(std::move(hit));
      }
    }
    ranked_ = std::move(passing);
  }

  void select_hits() {
    apply_page_policy();
    select(std::move(ranked_), profile_, retrieval_);
    for (Hit& hit : below_) add_cut(retrieval_, std::move(hit), Fate::kBelowGate);
    for (Hit& hit : unread_) add_cut(retrieval_, std::move(hit), Fate::kTopLimit);
    for (Hit& hit : gone_) add_cut(retrieval_, std::move(hit), Fate::kGone);
    for (Hit& hit : unranked_) add_cut(retrieval_, std::move(hit), Fate::kFuseLimit);
    if (candidates_.size() > named_) retrieval_.cut_counts[Fate::kFuseLimit] += candidates_.size() - named_;
    watch_.lap(TurnStage::kSelect);
  }

  const Retriever::Ports& ports_;
  const CallContext& call_;
  const CorpusId corpus_;
  const std::string_view question_;
  const RetrieveOptions& options_;
  const Profile& profile_;
  const Filter* const filter_;
  const std::string& page_url_;
  const std::optional<double> threshold_;
  const Recall recall_;
  const double judge_trust_;

  Retrieval retrieval_;
  StageWatch watch_{retrieval_.timings};
  Result<Generation> vector_generation_;
  Result<Generation> keyword_generation_;
  Result<std::vector<ScoredChunk>> by_vector_, by_keyword_;
  StageTiming vector_timing_, keyword_timing_;
  std::vector<float> vector_;
  QuestionCodes codes_;
  std::vector<Candidate> candidates_;
  double scale_ = 0;                                                // returned by fuse()
  std::size_t rankable_ = std::numeric_limits<std::size_t>::max();  // how many of candidates_ may be ranked
  std::size_t named_ = 0;                                           // how many of candidates_ were fetched
  bool has_keywords_ = true;
  std::vector<Hit> ranked_, unranked_, gone_, below_, unread_;
};

}  // namespace

Result<Retrieval> run_query(const Retriever::Ports& ports, const CallContext& call, CorpusId corpus, std::string_view question,
                            const RetrieveOptions& options) {
  return QueryRun(ports, call, corpus, question, options).run();
}

}  // namespace footnote::retrieve
