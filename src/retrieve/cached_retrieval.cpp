#include "retrieve/cached_retrieval.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/sha256.h"

namespace footnote::retrieve {

namespace {

// Fields without padding, numbers in native byte order. All users of a cache share one byte order; with another order the mark does not
// match, which is a miss:
//   mark u32, generation i64, candidates, searched u64, confidence f64, gate (grounded u8, 5 f64, calibrated u8), hits u32, then each:
//   corpus i64, chunk i64, score, cosine, coverage, probability f64, terms u8 x (stage u8, raw, normalised, weight f64),
//   judged u8 [raw, calibrated f64, answer u8 [begin, end u64, margin, probability f64]]
constexpr std::uint32_t kMark = 0x464e5233;  // "FNR3"
constexpr std::uint32_t kHitsMax = 1'000;
constexpr int kStages = 7;

class Out {
 public:
  template <class Number>
  Out& put(Number number) {
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &number, sizeof(Number));
    text_.append(bytes, sizeof(Number));
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Reads what Out wrote; past the end it returns zeros and `good` is false.
class In {
 public:
  explicit In(std::string_view bytes) : bytes_(bytes) {}
  template <class Number>
  Number take() {
    Number number{};
    if (bytes_.size() < sizeof(Number)) {
      good_ = false;
      bytes_ = {};
      return number;
    }
    bytes_.copy(reinterpret_cast<char*>(&number), sizeof(Number));
    bytes_.remove_prefix(sizeof(Number));
    return number;
  }
  bool good() const { return good_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

void put_hit(Out& out, const CachedHit& hit) {
  const Hit& scores = hit.scores;
  out.put(hit.corpus.value).put(scores.chunk.id.value).put(scores.score).put(scores.cosine).put(scores.coverage);
  out.put(scores.probability);
  out.put(static_cast<std::uint8_t>(scores.terms.size()));
  for (const StageScore& term : scores.terms) {
    out.put(static_cast<std::uint8_t>(term.stage)).put(term.raw).put(term.normalised).put(term.weight);
  }
  out.put(static_cast<std::uint8_t>(scores.judged.has_value()));
  if (!scores.judged) return;
  out.put(scores.judged->raw).put(scores.judged->calibrated).put(static_cast<std::uint8_t>(scores.judged->answer.has_value()));
  if (!scores.judged->answer) return;
  const FoundAnswer& answer = *scores.judged->answer;
  out.put(std::uint64_t{answer.range.begin}).put(std::uint64_t{answer.range.end}).put(answer.margin).put(answer.probability);
}

Judgement take_judgement(In& in) {
  Judgement out;
  out.raw = in.take<double>();
  out.calibrated = in.take<double>();
  if (in.take<std::uint8_t>() == 0) return out;
  FoundAnswer& answer = out.answer.emplace();
  answer.range.begin = in.take<std::uint64_t>();
  answer.range.end = in.take<std::uint64_t>();
  answer.margin = in.take<double>();
  answer.probability = in.take<double>();
  return out;
}

std::optional<CachedHit> take_hit(In& in) {
  CachedHit out;
  Hit& scores = out.scores;
  out.corpus = {in.take<std::int64_t>()};
  scores.chunk.id = {in.take<std::int64_t>()};
  scores.score = in.take<double>();
  scores.cosine = in.take<double>();
  scores.coverage = in.take<double>();
  scores.probability = in.take<double>();
  for (int left = in.take<std::uint8_t>(); left > 0 && in.good(); --left) {
    const int stage = in.take<std::uint8_t>();
    if (stage >= kStages) return std::nullopt;
    StageScore term{.stage = static_cast<Stage>(stage)};
    term.raw = in.take<double>();
    term.normalised = in.take<double>();
    term.weight = in.take<double>();
    scores.terms.push_back(term);
  }
  if (in.take<std::uint8_t>() != 0) scores.judged = take_judgement(in);
  return in.good() ? std::optional(std::move(out)) : std::nullopt;
}

void add_part(Sha256& hash, std::string_view part) {
  const std::uint64_t size = part.size();
  hash.update(std::string_view(reinterpret_cast<const char*>(&size), sizeof size)).update(part);
}

void add_number(Sha256& hash, std::int64_t number) { add_part(hash, std::to_string(number)); }

}  // namespace

std::string cache_key(const RetrievalKey& key) {
  Sha256 hash;
  add_number(hash, key.workspace.value);
  add_part(hash, key.agent.value);
  add_part(hash, key.model);
  add_part(hash, key.judge);
  add_number(hash, static_cast<std::int64_t>(key.corpora.size()));
  for (const RetrievalKey::CorpusState& state : key.corpora) {
    add_number(hash, state.corpus.value);
    add_number(hash, state.generation);
    add_part(hash, state.calibration);
  }
  add_number(hash, std::bit_cast<std::int64_t>(key.threshold));
  add_part(hash, key.query);
  add_part(hash, key.page_url);
  return "rag:retrieve:" + key.agent.value + ":" + hash.hex();
}

std::string cache_tag(const AgentId& agent) { return "rag:agent:" + agent.value; }

std::string to_bytes(const CachedRetrieval& retrieval) {
  Out out;
  out.put(kMark).put(retrieval.generation).put(std::uint64_t{retrieval.candidates}).put(std::uint64_t{retrieval.searched});
  out.put(retrieval.confidence);
  const GateVerdict& gate = retrieval.gate;
  out.put(static_cast<std::uint8_t>(gate.grounded)).put(gate.evidence).put(gate.threshold).put(gate.cosine).put(gate.coverage);
  out.put(gate.confidence).put(static_cast<std::uint8_t>(gate.calibrated)).put(static_cast<std::uint32_t>(retrieval.hits.size()));
  for (const CachedHit& hit : retrieval.hits) put_hit(out, hit);
  return out.take();
}

std::optional<CachedRetrieval> from_bytes(std::string_view bytes) {
  In in(bytes);
  if (in.take<std::uint32_t>() != kMark) return std::nullopt;
  CachedRetrieval out;
  out.generation = in.take<Generation>();
  out.candidates = in.take<std::uint64_t>();
  out.searched = in.take<std::uint64_t>();
  out.confidence = in.take<double>();
  out.gate.grounded = in.take<std::uint8_t>() != 0;
  out.gate.evidence = in.take<double>();
  out.gate.threshold = in.take<double>();
  out.gate.cosine = in.take<double>();
  out.gate.coverage = in.take<double>();
  out.gate.confidence = in.take<double>();
  out.gate.calibrated = in.take<std::uint8_t>() != 0;
  const auto count = in.take<std::uint32_t>();
  if (count > kHitsMax) return std::nullopt;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto hit = take_hit(in);
    if (!hit) return std::nullopt;
    out.hits.push_back(*std::move(hit));
  }
  return in.good() && in.at_end() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace footnote::retrieve
