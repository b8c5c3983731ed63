#include "retrieve/query_run.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "retrieve/fuse.h"
#include "retrieve/hit_terms.h"
#include "retrieve/language.h"
#include "retrieve/page_policy.h"
#include "retrieve/stage_watch.h"

namespace footnote::retrieve {

namespace {

constexpr Generation kNoGeneration = std::numeric_limits<Generation>::max();

/// How many fused candidates have their texts fetched: enough that the cap per document still leaves top_k.
constexpr std::size_t kFetchFactor = 4;
/// An embedder has a thread for each processor, and with two of them it has need of both: .58 ms and .18 for the words after it, against
/// .91 at the same time. With fewer threads than this the words go beside the vectors.
constexpr std::size_t kThreadsForWordsMin = 2;
/// From so many on, some of them are fetched beside the others.
constexpr std::size_t kFetchSharedMin = 16;

/// The judge was made for questions of one sentence; of a whole paragraph it reads the beginning, and its word counts for less.
double trust_in_judge(std::string_view question) {
  constexpr double kFullWords = 20;
  const auto words = static_cast<double>(std::ranges::count(fold_spaces(question), ' ') + 1);
  return std::min(1.0, kFullWords / words);
}

/// One question on its way through the stages: what they share.
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
    // Words need no vector: they are looked for meanwhile, where that takes no processor from the embedder.
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
    select_hits();
    retrieval_.policy = gate();
    retrieval_.gate = judge_grounding(retrieval_.hits, retrieval_.policy);
    watch_.lap(TurnStage::kGate);
    return std::move(retrieval_);
  }

 private:
  /// Records a failed stage and continues without it, where the profile degrades on failure. The end of the call itself still fails.
  Result<void> tolerate(TurnStage stage, Result<void> result) {
    if (result || !profile_.degrade_on_failure) return result;
    FOOTNOTE_CHECK(call_.check());
    retrieval_.failures.push_back({stage, std::move(result).error()});
    return {};
  }

  bool has_vector() const { return !vector_.empty(); }
  /// Words alone from here on.
  void do_without_vector() {
    vector_.clear();
    codes_ = {};
  }
  /// Of words alone where the embedder or the vectors failed: what is not known must not count against a passage.
  GatePolicy gate() const { return profile_.vectors && !has_vector() ? by_words_alone(profile_).gate : profile_.gate; }

  VectorQuery vector_query() const { return {corpus_, retrieval_.generation, vector_, profile_.recall, filter_}; }
  KeywordQuery keyword_query() const {
    return {corpus_, retrieval_.generation, question_, profile_.recall, filter_, options_.prefix, options_.typos};
  }

  /// Those of the profile, less of the model's where the question is in a language that it was not made for.
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
      case Recall::kVectorOnly: return {.vector = 1, .keyword = 0, .heading = 0, .late = 0, .judge = 0};
      case Recall::kKeywordOnly: return {.vector = 0, .keyword = 1, .heading = 0, .late = 0, .judge = 0};
      case Recall::kLateOnly: return {.vector = 0, .keyword = 0, .heading = 0, .late = 1, .judge = 0};
    }
    return profile_weights();
  }

  std::vector<ChunkId> ids_of_first(std::size_t count) const {
    std::vector<ChunkId> ids;
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

  /// One for both sides: the older of the two, which both still hold.
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

  /// `words`: they were not looked for yet.
  Result<void> recall(bool words) {
    if (!vector_generation_) FOOTNOTE_CHECK(tolerate(TurnStage::kVector, std::unexpected(vector_generation_.error())));
    if (!keyword_generation_) FOOTNOTE_CHECK(tolerate(TurnStage::kKeyword, std::unexpected(keyword_generation_.error())));
    if (!vector_generation_) do_without_vector();
    // Who looks for the words is done first and takes part in the search of the vectors then.
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
    // Of late interaction alone the first order is that of answers: it decides which candidates are compared.
    scale_ = fuse(candidates_, recall_ == Recall::kLateOnly ? profile_weights() : weights(), profile_.fusion);
    watch_.lap(TurnStage::kFuse);
    return {};
  }

  /// Those that the vector side found have theirs.
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

  /// Compares the best candidates' tokens with the question's and orders them anew; the others are out of the running.
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

  /// Looks up the best candidates' passages, and the names of a few that the limit cuts.
  Result<void> fetch() {
    const std::size_t wanted = std::max(profile_.top_k * kFetchFactor, profile_.judged);
    const std::size_t looked_at = std::min({candidates_.size(), rankable_, wanted});
    const std::vector<ChunkId> ids = ids_of_first(std::min(candidates_.size(), looked_at + kCutNamedMax));
    FOOTNOTE_TRY(auto passages, read_passages(ids));
    auto& [coverage, records] = passages;
    named_ = ids.size();
    for (std::size_t i = 0, next = 0; i < named_; ++i) {
      // The store leaves out what is gone since.
      const bool is_there = next < records.size() && records[next].chunk.id == candidates_[i].chunk;
      Hit hit = hit_of(candidates_[i], is_there ? &records[next++] : nullptr, coverage[i]);
      (i >= looked_at ? unranked_ : is_there ? ranked_ : gone_).push_back(std::move(hit));
    }
    return {};
  }

  struct Passages {
    std::vector<double> coverage;                   ///< Of each that was asked for.
    std::vector<ChunkReader::ChunkRecord> records;  ///< Of those that are still there.
  };

  Result<Passages> read_passages(std::span<const ChunkId> ids) const {
    const bool shared = ports_.helpers != nullptr && ids.size() >= kFetchSharedMin;
    const std::size_t own = shared ? ids.size() * 2 / 5 : ids.size();  // The coverage takes as long as the difference.
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

  /// Has the judge read the best passages with the question; its number joins the sum, it never replaces it.
  Result<void> judge() {
    add_document_terms(ranked_, question_, weights().heading, profile_.penalties);
    const std::size_t count = std::min(profile_.judged, ranked_.size());
    if (ports_.judge != nullptr && weights().judge != 0 && count > 0) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < count; ++i) texts.push_back(heading_line(ranked_[i].chunk) + ranked_[i].chunk.text);
      const std::vector<std::string_view> passages(texts.begin(), texts.end());
      auto judged = ports_.judge->rerank(call_.narrowed(ports_.judge_timeout), question_, passages);
      if (judged) {
        add_judgements(*std::move(judged));
      } else {
        FOOTNOTE_CHECK(call_.check());  // The caller's own end is no failure of the judge.
        retrieval_.failures.push_back({TurnStage::kJudge, std::move(judged).error()});
      }
    }
    watch_.lap(TurnStage::kJudge);
    return {};
  }

  /// REQUIRES: one judgement for each of the first hits.
  void add_judgements(std::vector<Judgement> judged) {
    std::vector<double> raw;
    for (const Judgement& judgement : judged) raw.push_back(judgement.raw);
    const std::vector<double> normal = normalise_further(raw, ranked_.size(), profile_.fusion, scale_);
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      add_term(ranked_[i], {Stage::kJudge, i < raw.size() ? raw[i] : 0, normal[i], weights().judge});
      if (i >= judged.size()) continue;
      take_off_heading(judged[i], heading_line(ranked_[i].chunk).size());
      ranked_[i].judged = judged[i];
    }
    sort_by_score(ranked_);
  }

  /// Passages of the current page rise; where each has to reach a threshold, those that don't go. Of a judged list only what the judge
  /// read is compared with it: numbers of two kinds are not.
  void apply_page_policy() {
    if (!page_url_.empty() && boost_page(ranked_, page_url_, profile_.page_boost)) sort_by_score(ranked_);
    if (!threshold_) return;
    const bool is_judged = std::ranges::any_of(ranked_, [](const Hit& hit) { return hit.judged.has_value(); });
    std::vector<Hit> passing;
    for (Hit& hit : ranked_) {
      if (is_judged && !hit.judged) {
        unread_.push_back(std::move(hit));
      } else if (boosted_score(hit, gate()) < *threshold_) {
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
  double scale_ = 0;                                                // of the fusion
  std::size_t rankable_ = std::numeric_limits<std::size_t>::max();  // of candidates_, the first so many
  std::size_t named_ = 0;                                           // of candidates_, the first so many were looked up
  bool has_keywords_ = true;
  std::vector<Hit> ranked_, unranked_, gone_, below_, unread_;
};

}  // namespace

Result<Retrieval> run_query(const Retriever::Ports& ports, const CallContext& call, CorpusId corpus, std::string_view question,
                            const RetrieveOptions& options) {
  return QueryRun(ports, call, corpus, question, options).run();
}

}  // namespace footnote::retrieve
