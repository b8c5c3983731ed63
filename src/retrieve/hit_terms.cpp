#include "retrieve/hit_terms.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "retrieve/words.h"

namespace footnote::retrieve {

namespace {

double heading_share(const std::vector<std::string>& question_words, const Hit& hit) {
  std::string headings = hit.document.title;
  for (const std::string& heading : hit.chunk.heading_path) headings += " " + heading;
  return share_of(question_words, content_words(headings));
}

/// The highest retrieval_priority.
constexpr double kPriorityMax = 100;

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

}  // namespace

Hit hit_of(const Candidate& candidate, ChunkReader::ChunkRecord* record, double coverage) {
  Hit hit{.terms = {candidate.terms.begin(), candidate.terms.end()},
          .score = candidate.score,
          .cosine = candidate.cosine.value_or(0),
          .coverage = coverage};
  if (record == nullptr) {
    hit.chunk.id = candidate.chunk;
    return hit;
  }
  hit.chunk = std::move(record->chunk);
  hit.document_key = std::move(record->document_key);
  hit.document = std::move(record->document);
  return hit;
}

void add_term(Hit& hit, const StageScore& term) {
  if (term.weight == 0) return;
  hit.terms.push_back(term);
  hit.score += term.contribution();
}

void sort_by_score(std::vector<Hit>& hits) {
  std::ranges::sort(hits, [](const Hit& a, const Hit& b) { return a.score != b.score ? a.score > b.score : a.chunk.id < b.chunk.id; });
}

void add_document_terms(std::vector<Hit>& hits, std::string_view question, const Profile& profile, const FusionWeights& weights,
                        std::span<const DocumentId> mentioned) {
  const std::vector<std::string> words = content_words(question);
  for (Hit& hit : hits) {
    const DocumentAttributes& document = hit.document;
    if (weights.heading != 0) {
      const double share = heading_share(words, hit);
      add_term(hit, {Stage::kHeading, share, share, weights.heading});
    }
    if (weights.tags != 0 && !document.tags.empty()) {
      const double share = share_of(words, content_words(join(document.tags, " ")));
      if (share > 0) add_term(hit, {Stage::kTags, share, share, weights.tags});
    }
    if (!document.canonical_type.empty() && penalty_of(document.status, profile.penalties) == 0) {
      const double priority = document.priority;
      add_term(hit, {Stage::kCanonical, priority, priority / kPriorityMax, kPriorityMax * weights.priority});
    }
    if (std::ranges::find(mentioned, hit.chunk.document) != mentioned.end()) {
      add_term(hit, {Stage::kMention, 1, 1, profile.mention_boost});
    }
    add_term(hit, {Stage::kPenalty, 1, 1, -penalty_of(document.status, profile.penalties)});
  }
  sort_by_score(hits);
}

std::string heading_line(const Chunk& chunk) { return chunk.heading_path.empty() ? "" : join(chunk.heading_path, " > ") + "\n"; }

void take_off_heading(Judgement& judgement, std::size_t bytes) {
  if (!judgement.answer) return;
  TextRange& range = judgement.answer->range;
  if (range.begin < bytes) {
    judgement.answer.reset();
    return;
  }
  range.begin -= bytes;
  range.end -= bytes;
}

void add_cut(Retrieval& retrieval, Hit hit, Fate fate) {
  if (++retrieval.cut_counts[fate] > kCutNamedMax) return;
  hit.chunk.text.clear();
  hit.chunk.text.shrink_to_fit();
  retrieval.cut.push_back({std::move(hit), fate});
}

void select(std::vector<Hit> ranked, const Profile& profile, Retrieval& retrieval) {
  std::map<DocumentId, std::size_t> taken;
  for (Hit& hit : ranked) {
    if (retrieval.hits.size() == profile.top_k) {
      add_cut(retrieval, std::move(hit), Fate::kTopLimit);
    } else if (taken[hit.chunk.document] == profile.per_document_max) {
      add_cut(retrieval, std::move(hit), Fate::kDocumentLimit);
    } else {
      ++taken[hit.chunk.document];
      retrieval.hits.push_back(std::move(hit));
    }
  }
}

}  // namespace footnote::retrieve
