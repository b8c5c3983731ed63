#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/profile.h"
#include "domain/retrieval.h"
#include "ports/chunk_store.h"
#include "retrieve/fuse.h"
#include "retrieve/retrieval.h"

namespace footnote::retrieve {

/// A candidate with its passage; `record` is null when that is gone.
Hit hit_of(const Candidate& candidate, ChunkReader::ChunkRecord* record, double coverage);

/// Adds a stage's contribution to the hit's score; a term of weight 0 is left out.
void add_term(Hit& hit, const StageScore& term);
/// What a passage's document says of it: its headings and its standing. Sorts again.
void add_document_terms(std::vector<Hit>& hits, std::string_view question, double heading_weight, const StatusPenalties& penalties);
/// Best first, equal scores by chunk.
void sort_by_score(std::vector<Hit>& hits);

/// The passage's headings as a line before it: without them it often does not say what it is about.
std::string heading_line(const Chunk& chunk);
/// Of an answer that was found in a passage with a line before it: its place in the passage. A heading does not answer.
void take_off_heading(Judgement& judgement, std::size_t bytes);

/// REQUIRES: of one fate the best comes first.
void add_cut(Retrieval& retrieval, Hit hit, Fate fate);
/// Makes hits of at most `per_document_max` passages of one document, at most `top_k` in all.
void select(std::vector<Hit> ranked, const Profile& profile, Retrieval& retrieval);

}  // namespace footnote::retrieve
