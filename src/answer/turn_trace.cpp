#include "answer/turn_trace.h"

#include <algorithm>
#include <cmath>

#include "answer/answer_service.h"
#include "base/utf8.h"

namespace footnote::answer {

namespace {

/// Six decimals distinguish scores well enough, in a third of the bytes.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

double milliseconds(std::chrono::microseconds time) { return static_cast<double>(time.count()) / 1000; }

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json name_json(const std::string& name) { return text_or_null(utf8_prefix(name, kTraceNameBytesMax)); }

std::string_view to_string(TurnState state) {
  switch (state) {
    case TurnState::kComplete: return "complete";
    case TurnState::kPartial: return "partial";
  }
  return "complete";
}

struct OutcomeJson {
  JsonObject operator()(const Answer& answer) const {
    return {{"kind", "answer"},
            {"refusal_reason", nullptr},
            {"confidence", rounded(answer.confidence)},
            {"sources", answer.sources.size()},
            {"citations", answer.citations.size()}};
  }
  JsonObject operator()(const Refusal& refusal) const {
    return {{"kind", "refusal"},
            {"refusal_reason", footnote::to_string(refusal.reason)},
            {"confidence", nullptr},
            {"sources", 0},
            {"citations", 0}};
  }
  JsonObject operator()(const Clarification&) const {
    return {{"kind", "clarification"}, {"refusal_reason", nullptr}, {"confidence", nullptr}, {"sources", 0}, {"citations", 0}};
  }
};

JsonArray stages_json(const TurnReport& report) {
  JsonArray out;
  for (const retrieve::StageTiming& stage : report.trace.stages) {
    out.push_back(JsonObject{
        {"stage", footnote::to_string(stage.stage)}, {"start_ms", milliseconds(stage.start)}, {"took_ms", milliseconds(stage.took)}});
  }
  // The trace cannot contain the duration of its own write; the metric has it.
  out.push_back(JsonObject{{"stage", footnote::to_string(TurnStage::kStore)},
                           {"start_ms", milliseconds(report.retrieval_time + report.answer_time)},
                           {"took_ms", nullptr}});
  return out;
}

JsonArray terms_json(const std::vector<StageScore>& terms) {
  JsonArray out;
  for (const StageScore& term : terms) {
    out.push_back(JsonObject{{"stage", footnote::to_string(term.stage)},
                             {"raw", rounded(term.raw)},
                             {"normalised", rounded(term.normalised)},
                             {"weight", rounded(term.weight)},
                             {"contribution", rounded(term.contribution())}});
  }
  return out;
}

/// The number that the answer uses for this passage, or null.
Json number_of(const Outcome& outcome, ChunkId chunk) {
  const Answer* answer = std::get_if<Answer>(&outcome);
  if (answer == nullptr) return nullptr;
  const auto same = [&](const SourceBlock& block) { return block.hit.chunk.id == chunk; };
  const auto found = std::ranges::find_if(answer->sources, same);
  return found == answer->sources.end() ? Json(nullptr) : Json(found->number);
}

JsonObject candidate_json(const Hit& hit, Fate fate, std::size_t rank, const Outcome& outcome) {
  const bool known = static_cast<bool>(hit.chunk.document);
  JsonObject out{{"rank", rank},
                 {"chunk_id", hit.chunk.id.value},
                 {"document_id", known ? Json(hit.chunk.document.value) : Json(nullptr)},
                 {"version", known ? Json(hit.chunk.document_version) : Json(nullptr)},
                 {"title", name_json(hit.document.title)},
                 {"source_path", name_json(hit.document_key)},
                 {"first_line", known && hit.chunk.places.unit == PlaceUnit::kLine ? Json(hit.chunk.first_line) : Json(nullptr)},
                 {"place", known ? Json(place_name(hit.chunk.places.unit, hit.chunk.first_line)) : Json(nullptr)},
                 {"score", rounded(hit.score)},
                 {"cosine", rounded(hit.cosine)},
                 {"coverage", rounded(hit.coverage)},
                 {"terms", terms_json(hit.terms)},
                 {"number", number_of(outcome, hit.chunk.id)},
                 {"cut", nullptr}};
  if (!hit.document.acl_labels.empty()) out[kTraceLabelled] = true;
  if (fate != Fate::kCited) out["cut"] = JsonObject{{"stage", footnote::to_string(stage_of(fate))}, {"reason", reason_of(fate)}};
  return out;
}

/// At most `count`: hits first, then cut candidates.
JsonArray candidates_json(const TurnReport& report, std::size_t count) {
  const retrieve::Retrieval& retrieval = report.retrieval;
  JsonArray out;
  for (std::size_t i = 0; i < retrieval.hits.size() && out.size() < count; ++i) {
    out.push_back(candidate_json(retrieval.hits[i], report.trace.fates.at(i), i + 1, report.turn.outcome));
  }
  for (std::size_t i = 0; i < retrieval.cut.size() && out.size() < count; ++i) {
    out.push_back(candidate_json(retrieval.cut[i].hit, retrieval.cut[i].fate, out.size() + 1, report.turn.outcome));
  }
  return out;
}

/// All cut candidates, during and after retrieval.
std::map<Fate, std::size_t> cut_counts(const TurnReport& report) {
  std::map<Fate, std::size_t> counts = report.retrieval.cut_counts;
  for (const Fate fate : report.trace.fates) {
    if (fate != Fate::kCited) ++counts[fate];
  }
  return counts;
}

Json model_json(const TurnReport& report) {
  if (!report.trace.model) return nullptr;
  const ModelCall& call = *report.trace.model;
  return JsonObject{{"name", text_or_null(call.name)},
                    {"finish", call.finish ? Json(to_string(*call.finish)) : Json(nullptr)},
                    {"prompt_messages", call.prompt_messages},
                    {"prompt_bytes", call.prompt_bytes},
                    {"prompt_tokens", report.tokens ? Json(report.tokens->prompt) : Json(nullptr)},
                    {"completion_tokens", report.tokens ? Json(report.tokens->completion) : Json(nullptr)}};
}

Json checks_json(const std::optional<CheckCounts>& checks) {
  if (!checks) return nullptr;
  return JsonObject{{"supported", checks->supported},
                    {"unsupported", checks->unsupported},
                    {"uncited", checks->uncited},
                    {"bound", checks->bound},
                    {"unchecked", checks->unchecked},
                    {"dropped", checks->dropped},
                    {"without_reranker", checks->without_reranker}};
}

JsonArray errors_json(const std::vector<TraceError>& errors) {
  JsonArray out;
  for (const TraceError& error : errors) {
    out.push_back(JsonObject{{"stage", footnote::to_string(error.stage)},
                             {"code", footnote::to_string(error.error.code)},
                             {"message", error.error.public_message.empty() ? error.error.message : error.error.public_message}});
  }
  return out;
}

JsonObject visit_json(const Visit& visit, std::string_view follow_up) {
  return {{"agent_id", visit.agent.value},
          {"follow_up", text_or_null(follow_up)},
          {"curated", visit.curated},
          {"confidence", rounded(visit.confidence)},
          {"low_confidence", visit.low_confidence},
          {"flags", JsonArray(visit.flags.begin(), visit.flags.end())}};
}

/// What a language model got besides the hits; null if it was not looked for. Labelled documents are only counted.
Json side_json(const std::optional<retrieve::SideSources>& side) {
  if (!side) return nullptr;
  const auto list = [](const std::vector<retrieve::SideHit>& hits) {
    JsonArray out;
    for (const retrieve::SideHit& found : hits) {
      const bool is_labelled = !found.hit.document.acl_labels.empty();
      out.push_back(JsonObject{{"document_id", is_labelled ? Json(nullptr) : Json(found.hit.chunk.document.value)},
                               {"source_path", is_labelled ? Json(nullptr) : name_json(found.hit.document_key)},
                               {"cosine", rounded(found.hit.cosine)},
                               {"edge_type", text_or_null(found.edge_type)},
                               {"from", is_labelled ? Json(nullptr) : name_json(found.from_key)}});
    }
    return out;
  };
  return JsonObject{{"edges", side->edges}, {"related", list(side->related)}, {"rejected", list(side->rejected)}};
}

JsonObject trace_json(const TurnReport& report, std::size_t candidates) {
  const Turn& turn = report.turn;
  const TurnTrace& trace = report.trace;
  JsonObject out{
      {"version", kTurnTraceVersion},
      {"turn_id", turn.id.value},
      {"conversation_id", text_or_null(turn.conversation.value)},
      {"request_id", text_or_null(trace.request_id)},
      {"trace_id", text_or_null(trace.trace.trace_id)},
      {"span_id", text_or_null(trace.trace.span_id)},
      {"corpus_id", turn.corpus.value},
      {"generation", turn.generation},
      {"asked_at", to_rfc3339(turn.asked_at)},
      {"state", to_string(turn.state)},
      {"outcome", std::visit(OutcomeJson{}, turn.outcome)},
      {"total_ms", milliseconds(report.retrieval_time + report.answer_time)},
      {"first_text_ms", trace.first_text ? Json(milliseconds(*trace.first_text)) : Json(nullptr)},
      {"stages", stages_json(report)},
      {"gate", gate_json(report.retrieval.gate)},
      {"foreign_language", text_or_null(report.retrieval.foreign_language)},
      {"translation", text_or_null(report.retrieval.translation)},
      {"model", model_json(report)},
      {"citation_check", checks_json(trace.checks)},
      {"fallback", report.fallback ? Json(to_string(*report.fallback)) : Json(nullptr)},
      {"limits",
       JsonObject{{"recall", trace.profile.recall}, {"hits", trace.profile.top_k}, {"hits_per_document", trace.profile.per_document_max}}},
      {"candidates_found", report.retrieval.candidates},
      {"vector_search", vector_search_json(report.retrieval.vector_search)},
      {"cuts", cuts_json(cut_counts(report))},
      {"candidates", candidates_json(report, candidates)},
      {"side_sources", side_json(trace.side)},
      {"errors", errors_json(trace.errors)}};
  if (!turn.visit) out["follow_up"] = text_or_null(trace.follow_up);
  if (turn.visit) out["visit"] = visit_json(*turn.visit, trace.follow_up);
  return out;
}

}  // namespace

JsonObject gate_json(const retrieve::GateVerdict& gate) {
  return {{"grounded", gate.grounded}, {"evidence", gate.evidence},     {"threshold", gate.threshold},  {"cosine", gate.cosine},
          {"coverage", gate.coverage}, {"confidence", gate.confidence}, {"calibrated", gate.calibrated}};
}

Json vector_search_json(const VectorSearchReport& report) {
  if (report.plan.empty()) return nullptr;
  return JsonObject{{"plan", report.plan}, {"scanned", report.scanned}, {"rescored", report.rescored}};
}

JsonArray cuts_json(const std::map<Fate, std::size_t>& counts) {
  JsonArray out;
  for (const auto& [fate, count] : counts) {
    out.push_back(JsonObject{{"stage", footnote::to_string(stage_of(fate))}, {"reason", reason_of(fate)}, {"count", count}});
  }
  return out;
}

std::string render_turn_trace(const TurnReport& report) {
  std::size_t candidates = kTraceCandidatesMax;
  std::string text = to_text(trace_json(report, candidates));
  while (text.size() > kTurnTraceBytesMax && candidates > 0) {
    candidates /= 2;
    text = to_text(trace_json(report, candidates));
  }
  return text;
}

}  // namespace footnote::answer
