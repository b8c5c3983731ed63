#include "points/point_writer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/log.h"
#include "base/sha256.h"
#include "base/text.h"
#include "points/payload_passage.h"

namespace footnote::points {

namespace {

constexpr std::string_view kSourceLocation = "points";
/// Cost in steps (work.h) of reading, parsing and writing back one point.
constexpr std::size_t kStepsPerChange = 100;

void to_unit_length(std::vector<float>& vector) {
  double squares = 0;
  for (const float number : vector) squares += static_cast<double>(number) * number;
  if (squares == 0) return;
  const double factor = 1 / std::sqrt(squares);
  for (float& number : vector) number = static_cast<float>(number * factor);
}

/// Checks the dimension of a vector and gives it the form that the space `name` stores.
Result<std::vector<float>> fitted(const Corpus& corpus, const std::string& name, std::vector<float> vector) {
  FOOTNOTE_TRY(const SpaceShape shape, shape_of(corpus, name));
  if (vector.size() != static_cast<std::size_t>(shape.dimension)) {
    return fail_field(ErrorCode::kInvalidArgument, "vector", "Vector dimension error: expected dim: {}, got {}", shape.dimension,
                      vector.size());
  }
  if (!std::ranges::all_of(vector, [](float number) { return std::isfinite(number); })) {
    return fail_field(ErrorCode::kInvalidArgument, "vector", "a vector holds a number that is not finite");
  }
  if (shape.distance == Distance::kCosine) to_unit_length(vector);
  return vector;
}

std::string hash_of(const Point& point) {
  Sha256 hash;
  const auto add_vector = [&](const std::vector<float>& vector) {
    hash.update({reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float)});
  };
  hash.update(point.payload).update("\n");
  add_vector(point.vector);
  for (const auto& [name, vector] : point.named_vectors) {
    hash.update(name).update("\n");
    add_vector(vector);
  }
  // The prefix keeps client vectors from being reused for an ingested passage with the same words.
  return "point-" + hash.hex();
}

Result<DocumentDraft> draft_of(const Point& point, SourceId source, std::span<const JsonPath> text_keys) {
  FOOTNOTE_TRY(const Json payload, parse_json(point.payload));
  PayloadPassage passage = passage_of(payload.get_object(), text_keys);
  DocumentDraft out;
  out.key = document_key_of(point.id);
  out.source = source;
  out.content_hash = hash_of(point);
  out.attributes.title = std::move(passage.title);
  out.attributes.url = std::move(passage.url);
  out.attributes.media_type = "text/plain";
  out.text = std::move(passage.text);
  ChunkDraft chunk;
  chunk.text = out.text;
  chunk.source_type = "point";
  chunk.content_hash = out.content_hash;
  chunk.range = {0, out.text.size()};
  chunk.last_line = 1 + static_cast<int>(std::ranges::count(out.text, '\n'));
  if (!point.vector.empty()) chunk.vectors = {point.vector};
  chunk.point = PointDraft{.id = point.id, .payload = point.payload, .named_vectors = point.named_vectors};
  out.chunks.push_back(std::move(chunk));
  return out;
}

/// The points of one call, before and after its changes.
class Changes {
 public:
  Changes(const CallContext& call, const PointWriter::Ports& ports, const PointSearch& search, const Corpus& corpus)
      : call_(call), ports_(ports), search_(search), corpus_(corpus), work_(search.new_work()) {}

  Result<void> operator()(const Upsert& upsert) {
    std::set<PointId> named;  // of an id that is there twice, the last point counts
    for (const NewPoint& point : upsert.points) named.insert(point.id);
    const std::vector<PointId> ids(named.begin(), named.end());
    FOOTNOTE_CHECK(load(ids, PointVectors::kLeftOut));
    for (const NewPoint& given : upsert.points) {
      Point point{.id = given.id, .chunk = {}, .version = 0, .document_key = {}, .is_passage = false, .payload = to_text(given.payload)};
      FOOTNOTE_CHECK(set_vectors(point, given.vectors));
      FOOTNOTE_CHECK(check_own(given.id));
      now_[given.id] = std::move(point);
      changed_.insert(given.id);
    }
    return {};
  }

  Result<void> operator()(const DeletePoints& deletion) {
    FOOTNOTE_TRY(const auto ids, select(deletion.points, PointVectors::kLeftOut));
    for (const PointId& id : ids) {
      now_[id] = std::nullopt;
      changed_.insert(id);
    }
    return {};
  }

  Result<void> operator()(const SetPayload& change) {
    return change_payloads(change.points, to_text(change.payload).size(), [&](JsonObject& payload) {
      JsonObject* target = &payload;
      if (change.at) {
        for (const JsonPath::Step& step : change.at->steps) {
          Json& next = (*target)[step.key];
          if (!next.is_object()) next = JsonObject{};
          target = &next.get_object();
        }
      }
      for (const auto& entry : change.payload) (*target)[entry.key()] = entry.value();
    });
  }
  Result<void> operator()(const OverwritePayload& change) {
    return change_payloads(change.points, to_text(change.payload).size(), [&](JsonObject& payload) { payload = change.payload; });
  }
  Result<void> operator()(const DeletePayload& change) {
    return change_payloads(change.points, 0, [&](JsonObject& payload) {
      for (const JsonPath& key : change.keys) erase_path(payload, key);
    });
  }
  Result<void> operator()(const ClearPayload& change) {
    return change_payloads(change.points, 0, [](JsonObject& payload) { payload.clear(); });
  }

  Result<void> operator()(const UpdateVectors& change) {
    for (const auto& [id, vectors] : change.points) {
      FOOTNOTE_TRY(Point * point, change_point(id));
      FOOTNOTE_CHECK(set_vectors(*point, vectors));
    }
    return {};
  }

  Result<void> operator()(const DeleteVectors& change) {
    FOOTNOTE_TRY(const auto ids, select(change.points, PointVectors::kRead));
    FOOTNOTE_CHECK(charge(ids.size(), 0));
    for (const std::string& name : change.names) FOOTNOTE_CHECK(shape_of(corpus_, name));
    for (const PointId& id : ids) {
      FOOTNOTE_TRY(Point * point, change_point(id));
      for (const std::string& name : change.names) {
        if (name.empty()) point->vector.clear();
        point->named_vectors.erase(name);
      }
    }
    return {};
  }

  Result<Generation> commit() {
    std::vector<DocumentDraft> drafts;
    std::vector<std::string> deleted;
    FOOTNOTE_CHECK(add_dead_passages(deleted));
    FOOTNOTE_TRY(const Collection collection, ports_.points.collection(call_, corpus_.workspace, corpus_.name));
    FOOTNOTE_TRY(const Json config, parse_json(collection.config));
    const auto text_keys = config.is_object() ? text_keys_of(config.get_object()) : std::vector<JsonPath>{};
    FOOTNOTE_TRY(const Source source, ports_.catalog.ensure_source(call_, corpus_.id, SourceKind::kText, kSourceLocation));
    for (const PointId& id : changed_) {
      const std::optional<Point>& point = now_.at(id);
      if (point) {
        FOOTNOTE_TRY(DocumentDraft draft, draft_of(*point, source.id, text_keys));
        drafts.push_back(std::move(draft));
      } else if (const auto old = before_.find(id); old != before_.end() && !old->second.is_passage) {
        deleted.push_back(document_key_of(id));
      }
    }
    if (drafts.empty() && deleted.empty()) return corpus_.generation;
    FOOTNOTE_TRY(const CommitReceipt receipt, ports_.chunks.commit(call_, corpus_.id, drafts, deleted));
    return receipt.generation;
  }

 private:
  Result<void> load(const std::vector<PointId>& ids, PointVectors vectors) {
    std::vector<PointId> missing;
    for (const PointId& id : ids) {
      const bool known = now_.contains(id) && (vectors == PointVectors::kLeftOut || !bare_.contains(id));
      if (!known) missing.push_back(id);
    }
    FOOTNOTE_TRY(auto found, ports_.points.points(call_, corpus_.id, missing, vectors));
    for (Point& point : found) take(std::move(point), vectors);
    return {};
  }

  void take(Point point, PointVectors vectors) {
    if (vectors == PointVectors::kLeftOut) {
      if (!now_.contains(point.id)) bare_.insert(point.id);
    } else {
      bare_.erase(point.id);
    }
    before_.emplace(point.id, point);
    if (!changed_.contains(point.id)) now_.insert_or_assign(point.id, std::move(point));
  }

  /// Loads the selected points that exist.
  Result<std::vector<PointId>> select(const Selection& selection, PointVectors vectors) {
    if (const auto* ids = std::get_if<std::vector<PointId>>(&selection)) {
      FOOTNOTE_CHECK(load(*ids, vectors));
      std::vector<PointId> out;
      for (const PointId& id : *ids) {
        const auto found = now_.find(id);
        if (found != now_.end() && found->second) out.push_back(id);
      }
      return out;
    }
    const PointFilter& filter = std::get<PointFilter>(selection);
    FOOTNOTE_TRY(const ChunkList chunks, search_.matching(call_, corpus_, filter, work_));
    if (vectors == PointVectors::kRead && chunks->size() > kChangedByFilterMax) {
      return fail_field(ErrorCode::kTooLarge, "filter", "the filter selects {} points; at most {} can be changed at once", chunks->size(),
                        kChangedByFilterMax);
    }
    FOOTNOTE_TRY(auto found, ports_.points.points_of(call_, corpus_.id, *chunks, vectors));
    std::set<PointId> ids;
    for (Point& point : found) {
      ids.insert(point.id);
      take(std::move(point), vectors);
    }
    // Points already changed by this call are matched in their new state.
    for (const PointId& id : changed_) {
      FOOTNOTE_TRY(const bool selected, meets(id, filter));
      selected ? (void)ids.insert(id) : (void)ids.erase(id);
    }
    return std::vector<PointId>(ids.begin(), ids.end());
  }

  Result<bool> meets(const PointId& id, const PointFilter& filter) {
    const std::optional<Point>& point = now_.at(id);
    if (!point) return false;
    FOOTNOTE_TRY(const Json payload, parse_json(point->payload));
    std::vector<std::string_view> names;
    if (!point->vector.empty()) names.emplace_back();
    for (const auto& [name, vector] : point->named_vectors) names.emplace_back(name);
    const PointView view{.chunk = point->chunk, .id = id, .payload = point->payload, .vectors = names};
    FilterRun run(work_.left());
    const bool selected = run.matches(filter.conditions, view, payload.get_object());
    FOOTNOTE_CHECK(work_.spend(run.steps()));
    return selected;
  }

  /// Fails for a passage of a document: it changes only with its document.
  Result<void> check_own(const PointId& id) const {
    const auto old = before_.find(id);
    if (old == before_.end() || !old->second.is_passage) return {};
    return fail_field(ErrorCode::kFailedPrecondition, "id", "the point {} is a passage of the document '{}': change that document instead",
                      to_string(id), old->second.document_key);
  }

  /// The new state of the point, with its vectors.
  Result<Point*> change_point(const PointId& id) {
    FOOTNOTE_CHECK(load({id}, PointVectors::kRead));
    const auto found = now_.find(id);
    if (found == now_.end() || !found->second) {
      return fail_field(ErrorCode::kNotFound, "points", "No point with id {} found", to_string(id));
    }
    FOOTNOTE_CHECK(check_own(id));
    changed_.insert(id);
    return &*found->second;
  }

  /// Charges the call's budget for `points` points that grow by `bytes` each.
  Result<void> charge(std::size_t points, std::size_t bytes) {
    FOOTNOTE_CHECK(work_.spend(points * kStepsPerChange));
    copied_bytes_ += points * bytes;
    if (copied_bytes_ <= kPayloadCopiesBytesMax) return {};
    return fail_field(ErrorCode::kTooLarge, "payload",
                      "a payload of {} for {} points: one request may set {} in total; change fewer points at once", human_bytes(bytes),
                      points, human_bytes(kPayloadCopiesBytesMax));
  }

  /// `change` adds up to `bytes` to a payload.
  template <class Change>
  Result<void> change_payloads(const Selection& selection, std::size_t bytes, const Change& change) {
    FOOTNOTE_TRY(const auto ids, select(selection, PointVectors::kRead));
    FOOTNOTE_CHECK(charge(ids.size(), bytes));
    if (const auto* named = std::get_if<std::vector<PointId>>(&selection); named != nullptr && ids.size() != named->size()) {
      for (const PointId& id : *named) FOOTNOTE_CHECK(change_point(id));  // fails with the id that does not exist
    }
    for (const PointId& id : ids) {
      FOOTNOTE_TRY(Point * point, change_point(id));
      FOOTNOTE_TRY(Json payload, parse_json(point->payload));
      change(payload.get_object());
      point->payload = to_text(payload);
    }
    return {};
  }

  Result<void> set_vectors(Point& point, const VectorsByName& vectors) {
    for (const auto& [name, given] : vectors) {
      FOOTNOTE_TRY(auto vector, fitted(corpus_, name, given));
      (name.empty() ? point.vector : point.named_vectors[name]) = std::move(vector);
    }
    return {};
  }

  /// Passages can be deleted only together with their whole document.
  Result<void> add_dead_passages(std::vector<std::string>& deleted) {
    std::map<std::string, std::size_t> counts;
    for (const PointId& id : changed_) {
      const auto old = before_.find(id);
      if (!now_.at(id) && old != before_.end() && old->second.is_passage) ++counts[old->second.document_key];
    }
    for (const auto& [key, count] : counts) {
      FOOTNOTE_TRY(const auto document, ports_.chunks.find_document(call_, corpus_.id, key));
      if (!document) continue;
      if (document->chunk_count != count) {
        return fail_field(ErrorCode::kFailedPrecondition, "points",
                          "{} of the {} passages of the document '{}' are to be deleted: delete all of them (a filter on 'key'), or change "
                          "the document",
                          count, document->chunk_count, key);
      }
      deleted.push_back(key);
    }
    return {};
  }

  const CallContext& call_;
  const PointWriter::Ports& ports_;
  const PointSearch& search_;
  const Corpus& corpus_;
  Work work_;
  std::size_t copied_bytes_ = 0;
  std::map<PointId, Point> before_;              // as stored
  std::map<PointId, std::optional<Point>> now_;  // new state; null: deleted
  std::set<PointId> changed_;
  std::set<PointId> bare_;  // loaded without vectors
};

}  // namespace

Mutex& PointWriter::mutex_of(CorpusId corpus) {
  const MutexLock lock(mutex_);
  std::unique_ptr<Mutex>& found = corpora_[corpus];
  if (found == nullptr) found = std::make_unique<Mutex>();
  return *found;
}

Result<Generation> PointWriter::apply(const CallContext& call, CorpusId id, std::span<const PointOperation> operations) {
  // Points are read, changed and written back, which must not interleave with other writers.
  const MutexLock lock(mutex_of(id));
  FOOTNOTE_TRY(const Corpus corpus, ports_.catalog.corpus(call, id));
  Changes changes(call, ports_, search_, corpus);
  for (const PointOperation& operation : operations) FOOTNOTE_CHECK(std::visit(changes, operation));
  FOOTNOTE_TRY(const Generation generation, changes.commit());
  if (const auto synced = ports_.sync.sync(call, id); !synced) {
    // The data is stored; the index catches up with the next change.
    log(LogLevel::kWarn, "ingest", "the index is not up to date", call, {{"corpus", corpus.name}, {"error", synced.error().message}});
  }
  return generation;
}

}  // namespace footnote::points
