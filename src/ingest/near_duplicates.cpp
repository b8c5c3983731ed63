#include "ingest/near_duplicates.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/fold_words.h"
#include "base/text.h"

namespace footnote::ingest {
namespace {

constexpr std::size_t kRunWords = 4;
constexpr std::size_t kPageMax = 500;
/// A run in more documents than this is no sign of two being alike: a footer, a licence.
constexpr std::size_t kSharersMax = 64;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdULL;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

std::uint64_t hash_of(std::string_view word) {
  std::uint64_t out = 1469598103934665603ULL;
  for (const unsigned char c : word) out = (out ^ c) * 1099511628211ULL;
  return out;
}

struct Sketched {
  Document document;
  TextSketch sketch;
};

Result<std::vector<Sketched>> sketch_all(const CallContext& call, const ChunkReader& chunks, const Corpus& corpus, bool labelled) {
  std::vector<Sketched> out;
  std::string after;
  for (bool more = true; more;) {
    FOOTNOTE_TRY(const auto page, chunks.documents(call, corpus.id, after, kPageMax));
    for (const Document& document : page) {
      FOOTNOTE_CHECK(call.check());
      if (!labelled && !document.attributes.acl_labels.empty()) continue;
      if (out.size() == kComparedDocumentsMax) {
        return fail(ErrorCode::kTooLarge, "the corpus has more than {} documents, too many to compare", kComparedDocumentsMax);
      }
      const auto text = chunks.document_text(call, corpus.workspace, document.id, 0);
      if (text) out.push_back({document, sketch_of(text->text)});  // else deleted meanwhile
    }
    more = page.size() == kPageMax;
    if (more) after = page.back().key;
  }
  return out;
}

/// Pairs that share at least one part of their sketches.
std::map<std::pair<std::size_t, std::size_t>, std::size_t> candidates(const std::vector<Sketched>& all) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> sharers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::uint64_t part : all[i].sketch) sharers[part].push_back(i);
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> out;
  for (const auto& [part, documents] : sharers) {
    if (documents.size() < 2 || documents.size() > kSharersMax) continue;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      for (std::size_t j = i + 1; j < documents.size(); ++j) ++out[{documents[i], documents[j]}];
    }
  }
  return out;
}

}  // namespace

TextSketch sketch_of(std::string_view text) {
  const std::string folded = fold_words(text);
  std::vector<std::uint64_t> words;
  for (const std::string_view word : split(folded, ' ')) {
    if (!word.empty()) words.push_back(hash_of(word));
  }
  TextSketch out;
  const std::size_t run = std::min(kRunWords, words.size());
  for (std::size_t at = 0; run > 0 && at + run <= words.size(); ++at) {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < run; ++i) hash = mixed(hash * 31 + words[at + i]);
    out.push_back(hash);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  if (out.size() > kSketchSize) out.resize(kSketchSize);
  return out;
}

double likeness(const TextSketch& a, const TextSketch& b) {
  std::size_t seen = 0;
  std::size_t common = 0;
  // The smallest hashes of both together are a sample of all their runs.
  for (auto at = a.begin(), bt = b.begin(); seen < kSketchSize && (at != a.end() || bt != b.end()); ++seen) {
    if (bt == b.end() || (at != a.end() && *at < *bt)) {
      ++at;
    } else if (at == a.end() || *bt < *at) {
      ++bt;
    } else {
      ++common, ++at, ++bt;
    }
  }
  return seen == 0 ? 1 : static_cast<double>(common) / static_cast<double>(seen);
}

Result<std::vector<DuplicatePair>> near_duplicates(const CallContext& call, const ChunkReader& chunks, const Corpus& corpus,
                                                   double likeness_min, bool labelled) {
  FOOTNOTE_TRY(const std::vector<Sketched> all, sketch_all(call, chunks, corpus, labelled));
  std::vector<DuplicatePair> out;
  for (const auto& [pair, shared] : candidates(all)) {
    const double alike = likeness(all[pair.first].sketch, all[pair.second].sketch);
    if (alike >= likeness_min) out.push_back({all[pair.first].document, all[pair.second].document, alike});
  }
  std::ranges::stable_sort(out, std::greater{}, &DuplicatePair::likeness);
  if (out.size() > kDuplicatePairsMax) out.resize(kDuplicatePairsMax);
  return out;
}

}  // namespace footnote::ingest
