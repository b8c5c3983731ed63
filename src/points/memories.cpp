#include "points/memories.h"

#include <algorithm>

#include "base/ids.h"
#include "base/text.h"

namespace footnote::points {

namespace {

constexpr std::string_view kAgentKey = "agent_id";
constexpr std::string_view kExpiryKey = "expires_at";
constexpr std::size_t kMadeIdLength = 22;

Result<void> check_name(std::string_view field, std::string_view name) {
  if (name.empty()) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' is empty", field);
  if (name.size() > kMemoryNameBytesMax) {
    return fail_field(ErrorCode::kTooLarge, field, "'{}' is longer than {} bytes", field, kMemoryNameBytesMax);
  }
  if (std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
    return fail_field(ErrorCode::kInvalidArgument, field, "'{}' holds control characters", field);
  }
  return {};
}

Result<void> check_text(std::string_view field, std::string_view text) {
  if (trim(text).empty()) return fail_field(ErrorCode::kInvalidArgument, field, "'{}' has no text", field);
  if (text.size() <= kMemoryTextBytesMax) return {};
  return fail_field(ErrorCode::kTooLarge, field, "'{}' is longer than {} bytes", field, kMemoryTextBytesMax);
}

Result<void> check_new(const NewMemory& memory, UtcTime now) {
  FOOTNOTE_CHECK(check_name("agent_id", memory.agent));
  if (!memory.id.empty()) FOOTNOTE_CHECK(check_name("id", memory.id));
  FOOTNOTE_CHECK(check_text("text", memory.text));
  if (to_text(memory.metadata).size() > kMemoryMetadataBytesMax) {
    return fail_field(ErrorCode::kTooLarge, "metadata", "'metadata' is longer than {} bytes of JSON", kMemoryMetadataBytesMax);
  }
  if (!memory.expires_at) return {};
  if (*memory.expires_at <= now) return fail_field(ErrorCode::kInvalidArgument, kExpiryKey, "'expires_at' has passed already");
  if (*memory.expires_at > now + kMemoryLifetimeMax) {
    return fail_field(ErrorCode::kInvalidArgument, kExpiryKey, "'expires_at' is more than {} days away", kMemoryLifetimeMax.count());
  }
  return {};
}

/// Includes the agent's length, so that different (agent, id) pairs never get the same point id.
PointId point_of_memory(std::string_view agent, std::string_view id) {
  return {uuid_of_url(fmt::format("{}/{}:{}#{}", kMemoriesCollection, agent.size(), agent, id))};
}

Condition field_condition(std::string_view key, ValueTest test) {
  const JsonPath path{.steps = {JsonPath::Step{.key = std::string(key)}}};
  return FieldCondition{.field = std::string(key), .path = path, .test = std::move(test)};
}

PointFilter notes_of(std::string_view agent) {
  return {.conditions = {.must = {field_condition(kAgentKey, MatchAny{{PayloadKey{std::string(agent)}}})}},
          .text = fmt::format("notes of {}", agent)};
}

std::optional<UtcTime> time_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  const auto time = parse_rfc3339(value->get_string());
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<std::string> text_at(const JsonObject& object, std::string_view key) {
  const Json* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::optional(std::string(value->get_string())) : std::nullopt;
}

JsonObject payload_of(const Memory& memory) {
  JsonObject out{{"text", memory.text}, {kAgentKey, memory.agent}, {"memory_id", memory.id}, {"source", "agent"}};
  out["metadata"] = memory.metadata;
  if (memory.created_at) out["created_at"] = to_rfc3339(*memory.created_at);
  if (memory.expires_at) out[kExpiryKey] = to_rfc3339(*memory.expires_at);
  return out;
}

/// nullopt if the point is not a note.
Result<std::optional<Memory>> memory_of(const Point& point) {
  if (point.is_passage) return std::nullopt;
  FOOTNOTE_TRY(const Json payload, parse_json(point.payload));
  const JsonObject& object = payload.get_object();
  const auto agent = text_at(object, kAgentKey);
  const auto text = text_at(object, "text");
  if (!agent || !text) return std::nullopt;
  Memory out{.id = text_at(object, "memory_id").value_or(to_string(point.id)),
             .agent = *agent,
             .text = *text,
             .metadata = {},
             .created_at = time_at(object, "created_at"),
             .expires_at = time_at(object, kExpiryKey)};
  if (const Json* metadata = object.if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    out.metadata = metadata->get_object();
  }
  return out;
}

bool has_expired(const Memory& memory, UtcTime now) { return memory.expires_at && *memory.expires_at <= now; }

std::vector<float> mean_of(const std::vector<WindowVector>& windows) {
  std::vector<float> out = windows.front().values;
  for (std::size_t i = 1; i < windows.size(); ++i) {
    for (std::size_t d = 0; d < out.size(); ++d) out[d] += windows[i].values[d];
  }
  return out;  // no need to normalise: cosine vectors are stored with length 1
}

}  // namespace

Result<void> Memories::check_corpus(const Corpus& corpus) const {
  const EmbeddingSpace own = space();
  if (corpus.space == own && own.dimension == options_.vector_size) return {};
  return fail(ErrorCode::kFailedPrecondition,
              "the collection '{}' holds vectors of {} numbers (model {}); AGENT_QDRANT_VECTOR_SIZE is {} and notes are embedded in {} "
              "numbers (model {}). Nothing was changed: correct the setting, or run `footnote rebuild-index {}` to embed the notes again",
              kMemoriesCollection, corpus.space.dimension, corpus.space.model_id, options_.vector_size, own.dimension, own.model_id,
              kMemoriesCollection);
}

Result<std::optional<Corpus>> Memories::find_corpus(const CallContext& call, WorkspaceId workspace) const {
  auto found = ports_.points.collection(call, workspace, kMemoriesCollection);
  if (!found && found.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!found) return std::unexpected(std::move(found).error());
  FOOTNOTE_CHECK(check_corpus(found->corpus));
  return std::move(found->corpus);
}

Result<Corpus> Memories::ensure_corpus(const CallContext& call, WorkspaceId workspace) {
  FOOTNOTE_TRY(std::optional<Corpus> corpus, find_corpus(call, workspace));
  if (!corpus && space().dimension != options_.vector_size) {
    return fail(ErrorCode::kFailedPrecondition,
                "AGENT_QDRANT_VECTOR_SIZE is {}, but notes are embedded in {} numbers (model {}): set it to {}, or name another embedder",
                options_.vector_size, space().dimension, space().model_id, space().dimension);
  }
  if (!corpus) {
    FOOTNOTE_TRY(corpus, ports_.catalog.ensure_corpus(call, workspace, kMemoriesCollection, space()));
  }
  // Needed even if a client created the collection: an agent's notes are looked up by this key.
  FOOTNOTE_TRY(const auto indexes, ports_.points.indexes(call, corpus->id));
  if (std::ranges::find(indexes, kAgentKey, &PayloadIndex::field) == indexes.end()) {
    const PayloadIndex index{.field = std::string(kAgentKey), .kind = PayloadKind::kKeyword, .schema = "\"keyword\""};
    FOOTNOTE_CHECK(ports_.points.put_index(call, corpus->id, index));
  }
  return *std::move(corpus);
}

Result<std::vector<float>> Memories::embed(const CallContext& call, std::string_view text, EmbedKind kind) const {
  FOOTNOTE_TRY(const auto embedded, ports_.embedder.embed(call, std::span(&text, 1), {.kind = kind}));
  if (embedded.size() != 1 || embedded[0].windows.empty()) return fail(ErrorCode::kInternal, "the embedder gave no vector");
  return mean_of(embedded[0].windows);
}

Result<WrittenMemory> Memories::write(const CallContext& call, WorkspaceId workspace, const NewMemory& memory) {
  const UtcTime now = ports_.clock.now();
  FOOTNOTE_CHECK(check_new(memory, now));
  FOOTNOTE_TRY(const Corpus corpus, ensure_corpus(call, workspace));
  WrittenMemory out{.memory = {.id = memory.id.empty() ? random_base62(kMadeIdLength) : memory.id,
                               .agent = memory.agent,
                               .text = memory.text,
                               .metadata = memory.metadata,
                               .created_at = now,
                               .expires_at = memory.expires_at}};
  const PointId ids[] = {point_of_memory(memory.agent, out.memory.id)};
  FOOTNOTE_TRY(const auto before, ports_.points.points(call, corpus.id, ids, PointVectors::kLeftOut));
  for (const Point& point : before) {
    FOOTNOTE_TRY(const auto old, memory_of(point));
    if (!old || has_expired(*old, now)) continue;
    out.is_new = false;
    out.memory.created_at = old->created_at;
  }
  FOOTNOTE_TRY(auto vector, embed(call, memory.text, EmbedKind::kPassage));
  Upsert upsert;
  upsert.points.push_back({.id = ids[0], .vectors = {{"", std::move(vector)}}, .payload = payload_of(out.memory)});
  const PointOperation operations[] = {std::move(upsert)};
  FOOTNOTE_CHECK(ports_.writer.apply(call, corpus.id, operations));
  return out;
}

Result<std::vector<FoundMemory>> Memories::search(const CallContext& call, WorkspaceId workspace, const MemoryQuery& query) const {
  FOOTNOTE_CHECK(check_name("agent_id", query.agent));
  FOOTNOTE_CHECK(check_text("query", query.text));
  FOOTNOTE_TRY(const std::optional<Corpus> corpus, find_corpus(call, workspace));
  std::vector<FoundMemory> out;
  if (!corpus) return out;
  FOOTNOTE_TRY(auto vector, embed(call, query.text, EmbedKind::kQuery));
  PointQuery wanted;
  wanted.what = Nearest{std::move(vector)};
  wanted.filter = notes_of(query.agent);
  wanted.score_threshold = query.score_min;
  // The filter omits expiry, so that its result can be cached. If expired notes take up places, search again with a higher limit.
  for (wanted.limit = query.limit;; wanted.limit *= 2) {
    Work work = ports_.search.new_work();
    FOOTNOTE_TRY(const auto hits, ports_.search.query(call, *corpus, wanted, PointVectors::kLeftOut, work));
    const UtcTime now = ports_.clock.now();
    out.clear();
    for (const ScoredPoint& hit : hits) {
      if (out.size() == query.limit) break;
      FOOTNOTE_TRY(auto memory, memory_of(hit.point));
      if (memory && !has_expired(*memory, now)) out.push_back({*std::move(memory), hit.score});
    }
    if (out.size() == query.limit || hits.size() < wanted.limit) return out;
  }
}

Result<void> Memories::forget(const CallContext& call, WorkspaceId workspace, std::string_view agent, std::string_view id) {
  FOOTNOTE_CHECK(check_name("agent_id", agent));
  FOOTNOTE_CHECK(check_name("id", id));
  FOOTNOTE_TRY(const std::optional<Corpus> corpus, find_corpus(call, workspace));
  std::vector<PointId> candidates{point_of_memory(agent, id)};
  if (const auto point = parse_point_id(id)) candidates.push_back(*point);  // it may have been upserted as a point
  std::vector<Point> found;
  if (corpus) {
    FOOTNOTE_TRY(found, ports_.points.points(call, corpus->id, candidates, PointVectors::kLeftOut));
  }
  for (const Point& point : found) {
    FOOTNOTE_TRY(const auto memory, memory_of(point));
    if (!memory || memory->agent != agent || memory->id != id || has_expired(*memory, ports_.clock.now())) continue;
    const PointOperation operations[] = {DeletePoints{std::vector<PointId>{point.id}}};
    FOOTNOTE_CHECK(ports_.writer.apply(call, corpus->id, operations));
    return {};
  }
  return fail(ErrorCode::kNotFound, "agent '{}' has no note '{}'", agent, id);
}

Result<std::size_t> Memories::sweep(const CallContext& call) {
  std::size_t removed = 0;
  FOOTNOTE_TRY(const auto workspaces, ports_.catalog.workspaces(call));
  for (const Workspace& workspace : workspaces) {
    const auto found = ports_.points.collection(call, workspace.id, kMemoriesCollection);
    if (!found && found.error().code == ErrorCode::kNotFound) continue;
    if (!found) return std::unexpected(found.error());
    FOOTNOTE_TRY(const std::size_t here, sweep_corpus(call, found->corpus));
    removed += here;
  }
  return removed;
}

Result<std::size_t> Memories::sweep_corpus(const CallContext& call, const Corpus& corpus) {
  const MutexLock lock(mutex_);  // one sweep at a time; nothing else waits for it
  std::size_t removed = 0;
  for (int step = 0; step < options_.sweep_steps_max; ++step) {
    FOOTNOTE_CHECK(call.check());
    const auto next = next_to_sweep_.find(corpus.id);
    const std::optional<PointId> from = next == next_to_sweep_.end() ? std::nullopt : std::optional(next->second);
    FOOTNOTE_TRY(auto page, ports_.points.scroll(call, corpus.id, from, options_.sweep_step + 1, PointVectors::kLeftOut));
    const bool is_last = page.size() <= options_.sweep_step;
    const PointId following = page.empty() ? PointId{} : page.back().id;
    if (!is_last) page.pop_back();
    const UtcTime now = ports_.clock.now();
    HasId expired;
    for (const Point& point : page) {
      FOOTNOTE_TRY(const auto memory, memory_of(point));
      if (memory && has_expired(*memory, now)) expired.ids.push_back(point.id);
    }
    if (!expired.ids.empty()) {
      removed += expired.ids.size();
      // The deletion checks expiry again, so that a note rewritten meanwhile is kept.
      const std::string text = fmt::format("notes expired by {} from {} to {}", now.time_since_epoch().count(), to_string(page.front().id),
                                           to_string(page.back().id));
      PointFilter filter{.conditions = {.must = {std::move(expired), field_condition(kExpiryKey, TimeRange{.lte = now})}}, .text = text};
      const PointOperation operations[] = {DeletePoints{std::move(filter)}};
      FOOTNOTE_CHECK(ports_.writer.apply(call, corpus.id, operations));
    }
    if (is_last) {
      next_to_sweep_.erase(corpus.id);
      return removed;
    }
    next_to_sweep_.insert_or_assign(corpus.id, following);
  }
  return removed;
}

}  // namespace footnote::points
