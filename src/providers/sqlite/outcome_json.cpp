#include "providers/sqlite/outcome_json.h"

#include "providers/sqlite/rows.h"
#include "providers/sqlite/stored_json.h"

namespace footnote {

namespace {

JsonArray range_to_json(TextRange range) { return {range.begin, range.end}; }

TextRange range_from(const JsonArray& ends, bool& damaged) {
  if (ends.size() != 2 || !ends[0].is_int64() || !ends[1].is_int64() || ends[0].get_int64() < 0 ||
      ends[1].get_int64() < ends[0].get_int64()) {
    damaged = true;
    return {};
  }
  return {static_cast<std::size_t>(ends[0].get_int64()), static_cast<std::size_t>(ends[1].get_int64())};
}

TextRange range_from(const StoredObject& object, std::string_view key, bool& damaged) { return range_from(object.array(key), damaged); }

JsonObject chunk_to_json(const Chunk& chunk) {
  JsonObject out{{"id", chunk.id.value},
                 {"document", chunk.document.value},
                 {"version", chunk.document_version},
                 {"ordinal", chunk.ordinal},
                 {"text", stored_text(chunk.text)},
                 {"heading_path", to_stored_array(chunk.heading_path)},
                 {"symbol", stored_text(chunk.symbol)},
                 {"source_type", stored_text(chunk.source_type)},
                 {"content_hash", stored_text(chunk.content_hash)},
                 {"range", range_to_json(chunk.range)},
                 {"first_line", chunk.first_line},
                 {"last_line", chunk.last_line},
                 {"born", chunk.born}};
  if (chunk.places != Places{}) out["places"] = to_stored_text(chunk.places);
  if (chunk.died) out["died"] = *chunk.died;
  return out;
}

Chunk chunk_from(const StoredObject& object, bool& damaged) {
  Chunk out;
  out.id = {object.integer("id")};
  out.document = {object.integer("document")};
  out.document_version = static_cast<int>(object.integer("version", 1));
  out.ordinal = static_cast<int>(object.integer("ordinal"));
  out.text = object.text("text");
  out.heading_path = object.texts("heading_path");
  out.symbol = object.text("symbol");
  out.source_type = object.text("source_type");
  out.content_hash = object.text("content_hash");
  out.range = range_from(object, "range", damaged);
  out.first_line = static_cast<int>(object.integer("first_line", 1));
  out.last_line = static_cast<int>(object.integer("last_line", 1));
  out.born = object.integer("born");
  auto places = places_from_stored_text(object.text("places"));
  damaged = damaged || !places;
  if (places) out.places = *std::move(places);
  if (object.has("died")) out.died = object.integer("died");
  return out;
}

JsonObject block_to_json(const SourceBlock& block) {
  JsonArray terms;
  for (const StageScore& term : block.hit.terms) {
    terms.push_back(
        JsonObject{{"stage", stored_name(term.stage)}, {"raw", term.raw}, {"normalised", term.normalised}, {"weight", term.weight}});
  }
  JsonObject out{{"number", block.number},
                 {"chunk", chunk_to_json(block.hit.chunk)},
                 {"key", stored_text(block.hit.document_key)},
                 {"document", to_stored_object(block.hit.document)},
                 {"terms", std::move(terms)},
                 {"score", block.hit.score},
                 {"cosine", block.hit.cosine},
                 {"coverage", block.hit.coverage}};
  if (block.hit.corpus) out["corpus"] = block.hit.corpus.value;
  if (block.origin != SourceOrigin::kPrimary) out["origin"] = to_string(block.origin);
  return out;
}

SourceBlock block_from(const StoredObject& object, bool& damaged) {
  SourceBlock out;
  out.number = static_cast<int>(object.integer("number"));
  out.hit.chunk = chunk_from(object.object("chunk"), damaged);
  out.hit.document_key = object.text("key");
  out.hit.document = attributes_from(object.object("document"));
  for (const Json& value : object.array("terms")) {
    const StoredObject term = object.element(value);
    out.hit.terms.push_back({.stage = term.name("stage", Stage::kVector),
                             .raw = term.number("raw"),
                             .normalised = term.number("normalised"),
                             .weight = term.number("weight")});
  }
  out.hit.score = object.number("score");
  out.hit.cosine = object.number("cosine");
  out.hit.coverage = object.number("coverage");
  out.hit.corpus = {object.integer("corpus")};
  const std::string origin = object.text("origin");
  for (const SourceOrigin known : {SourceOrigin::kRelated, SourceOrigin::kRejected}) {
    if (origin == to_string(known)) out.origin = known;
  }
  return out;
}

JsonArray blocks_to_json(const std::vector<SourceBlock>& blocks) {
  JsonArray out;
  for (const SourceBlock& block : blocks) out.push_back(block_to_json(block));
  return out;
}

std::vector<SourceBlock> blocks_from(const StoredObject& object, std::string_view key, bool& damaged) {
  std::vector<SourceBlock> out;
  for (const Json& value : object.array(key)) out.push_back(block_from(object.element(value), damaged));
  return out;
}

JsonObject citation_to_json(const Citation& citation) {
  JsonObject out{{"number", citation.number},
                 {"document", citation.document.value},
                 {"version", citation.document_version},
                 {"chunk", citation.chunk.value},
                 {"answer_range", range_to_json(citation.answer_range)},
                 {"support", stored_name(citation.support)}};
  if (citation.support_range) out["support_range"] = range_to_json(*citation.support_range);
  if (citation.is_bound) out["bound"] = true;
  return out;
}

Citation citation_from(const StoredObject& object, bool& damaged) {
  Citation out;
  out.number = static_cast<int>(object.integer("number"));
  out.document = {object.integer("document")};
  out.document_version = static_cast<int>(object.integer("version", 1));
  out.chunk = {object.integer("chunk")};
  out.answer_range = range_from(object, "answer_range", damaged);
  out.support = object.name("support", Support::kUnchecked);
  if (object.has("support_range")) out.support_range = range_from(object, "support_range", damaged);
  out.is_bound = object.has("bound");
  return out;
}

struct ToJson {
  JsonObject operator()(const Answer& answer) const {
    JsonArray citations;
    for (const Citation& citation : answer.citations) citations.push_back(citation_to_json(citation));
    JsonArray uncited;
    for (const TextRange& range : answer.uncited) uncited.push_back(range_to_json(range));
    return {{"kind", "answer"},
            {"text", stored_text(answer.text)},
            {"confidence", answer.confidence},
            {"model", stored_text(answer.model)},
            {"sources", blocks_to_json(answer.sources)},
            {"citations", std::move(citations)},
            {"uncited", std::move(uncited)}};
  }
  JsonObject operator()(const Refusal& refusal) const {
    return {{"kind", "refusal"},
            {"reason", stored_name(refusal.reason)},
            {"text", stored_text(refusal.text)},
            {"nearest", blocks_to_json(refusal.nearest)}};
  }
  JsonObject operator()(const Clarification& clarification) const {
    return {{"kind", "clarification"}, {"text", stored_text(clarification.text)}};
  }
};

Answer answer_from(const StoredObject& object, bool& damaged) {
  Answer out;
  out.text = object.text("text");
  out.confidence = object.number("confidence");
  out.model = object.text("model");
  out.sources = blocks_from(object, "sources", damaged);
  for (const Json& value : object.array("citations")) out.citations.push_back(citation_from(object.element(value), damaged));
  if (!object.has("uncited")) return out;  // stored before sentences were checked
  for (const Json& value : object.array("uncited"))
    out.uncited.push_back(range_from(value.is_array() ? value.get_array() : JsonArray{}, damaged));
  return out;
}

Outcome outcome_from(const StoredObject& object, bool& damaged) {
  const std::string kind = object.text("kind");
  if (kind == "answer") return answer_from(object, damaged);
  if (kind == "refusal") {
    return Refusal{.reason = object.name("reason", RefusalReason::kNoRelevantContext),
                   .text = object.text("text"),
                   .nearest = blocks_from(object, "nearest", damaged)};
  }
  if (kind != "clarification") damaged = true;
  return Clarification{object.text("text")};
}

}  // namespace

std::string to_stored_text(const Outcome& outcome) { return to_text(std::visit(ToJson{}, outcome)); }

Result<Outcome> outcome_from_stored_text(std::string_view text) {
  const auto value = parse_json(text);
  if (!value) return damaged_text("a turn's outcome");
  bool damaged = false;
  Outcome out = outcome_from(StoredObject(*value, damaged), damaged);
  if (damaged) return damaged_text("a turn's outcome");
  return out;
}

}  // namespace footnote
