#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/profile.h"
#include "domain/retrieval.h"
#include "ports/chunk_store.h"
#include "retrieve/fuse.h"
#include "retrieve/retrieval.h"

namespace footnote::retrieve {

/// Combines a candidate with its passage; `record` is null if the passage was deleted.
Hit hit_of(const Candidate& candidate, ChunkReader::ChunkRecord* record, double coverage);

/// Adds a stage's contribution to the hit's score; terms of weight 0 are skipped.
void add_term(Hit& hit, const StageScore& term);
/// Adds the terms for the document's headings, tags, rank and status, and whether it is one of `mentioned`, then sorts again.
void add_document_terms(std::vector<Hit>& hits, std::string_view question, const Profile& profile, const FusionWeights& weights,
                        std::span<const DocumentId> mentioned = {});
/// Best first, equal scores by chunk.
void sort_by_score(std::vector<Hit>& hits);

/// The passage's headings as one line, to be put before its text: without them, a passage often does not say what it is about.
std::string heading_line(const Chunk& chunk);
/// Converts an answer range found in heading line + passage to a range of the passage; drops an answer inside the heading line.
void take_off_heading(Judgement& judgement, std::size_t bytes);

/// REQUIRES: hits of one fate are added best first.
void add_cut(Retrieval& retrieval, Hit hit, Fate fate);
/// Makes the best passages hits: at most `per_document_max` of one document, at most `top_k` in total.
void select(std::vector<Hit> ranked, const Profile& profile, Retrieval& retrieval);

}  // namespace footnote::retrieve
