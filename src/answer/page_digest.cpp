#include "answer/page_digest.h"

#include <algorithm>
#include <map>
#include <set>

#include "answer/answer_service.h"
#include "answer/bind_citations.h"
#include "answer/sentence_checker.h"
#include "answer/visitor_history.h"
#include "base/ids.h"
#include "base/text.h"
#include "base/utf8.h"
#include "chunk/chunker.h"
#include "chunk/sentences.h"
#include "prompt/kb_prompt.h"
#include "prompt/language_name.h"
#include "retrieve/mmr.h"

namespace footnote::answer {

namespace {

/// Less diversity than between search results: passages of one text are close to each other anyway.
constexpr double kDigestLambda = 0.3;
constexpr std::size_t kSentenceBytesMin = 40;
constexpr std::size_t kSentenceBytesMax = 500;

using Vectors = std::vector<std::vector<float>>;

Result<Vectors> embed_all(const CallContext& call, Embedder& embedder, const std::vector<std::string>& texts, EmbedKind kind) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  FOOTNOTE_TRY(auto embeddings, embedder.embed(call, views, {.kind = kind, .overflow = Overflow::kTruncate}));
  Vectors out;
  for (Embedding& embedding : embeddings) out.push_back(std::move(embedding.windows.at(0).values));
  return out;
}

std::vector<std::size_t> pick(const Vectors& vectors, const std::vector<float>& target, std::size_t count) {
  std::vector<retrieve::MmrCandidate> candidates;
  for (const auto& vector : vectors) candidates.push_back({retrieve::cosine_of(vector, target), vector});
  return retrieve::pick_diverse(candidates, count, kDigestLambda);
}

void append_sentence(Digest& digest, std::string_view sentence, const std::set<int>& numbers) {
  if (!digest.summary.empty()) digest.summary += ' ';
  digest.summary += sentence;
  digest.summary += ' ';
  for (const int number : numbers) {
    digest.summary += fmt::format("[{}]", number);
    if (std::ranges::find(digest.cited, number) == digest.cited.end()) digest.cited.push_back(number);
  }
  std::ranges::sort(digest.cited);
}

/// A sentence that can stand alone: not a heading, a row of a table or a piece of a list.
bool is_quotable(std::string_view sentence) {
  if (sentence.size() < kSentenceBytesMin || sentence.size() > kSentenceBytesMax) return false;
  if (sentence.find(" | ") != std::string_view::npos || sentence.find('\n') != std::string_view::npos) return false;
  const std::string_view end = sentence.substr(sentence.size() - 3);
  return std::string_view(".!?\"').").find(sentence.back()) != std::string_view::npos || end == "\xE3\x80\x82";
}

}  // namespace

/// What the passages are compared with.
struct PageDigest::Target {
  std::vector<float> vector;
};

Result<std::vector<PageDigest::Passage>> PageDigest::closest_passages(const CallContext& call, const DigestRequest& request,
                                                                      Target& target) const {
  std::vector<Passage> all;
  std::vector<std::string> to_embed;
  const std::size_t share = std::max<std::size_t>(4, kPiecesMax / std::max<std::size_t>(1, request.texts.size()));
  for (std::size_t i = 0; i < request.texts.size(); ++i) {
    const DigestText& text = request.texts[i];
    FOOTNOTE_TRY(auto parsed, chunk::parse_document(text.url, chunk::Format::kPlainText, utf8_prefix(text.text, kTextBytesMax), call));
    chunk::settle_title(text.url, text.title, parsed);
    auto pieces = chunk::chunk_document(parsed);
    for (std::size_t at = 0; at < std::min(share, pieces.size()) && all.size() < kPiecesMax; ++at) {
      to_embed.push_back(chunk::embedding_text(pieces[at]));
      all.push_back({i, std::move(pieces[at].text)});
    }
  }
  if (all.empty()) return all;
  FOOTNOTE_TRY(const Vectors vectors, embed_all(call, ports_.embedder, to_embed, EmbedKind::kPassage));
  if (request.query.empty()) {
    target.vector.assign(vectors.front().size(), 0);
    for (const auto& vector : vectors) {
      for (std::size_t d = 0; d < vector.size(); ++d) target.vector[d] += vector[d];
    }
  } else {
    FOOTNOTE_TRY(Vectors query, embed_all(call, ports_.embedder, {request.query}, EmbedKind::kQuery));
    target.vector = std::move(query.front());
  }
  auto picked = pick(vectors, target.vector, kPassagesPicked);
  std::ranges::sort(picked);
  std::vector<Passage> out;
  for (const std::size_t index : picked) out.push_back(std::move(all[index]));
  return out;
}

Result<Digest> PageDigest::quote(const CallContext& call, const std::vector<Passage>& passages, const Target& target) const {
  std::vector<std::string> sentences;
  std::vector<int> numbers;
  std::set<std::string> seen;
  for (const Passage& passage : passages) {
    for (const TextRange& range : chunk::split_sentences(passage.content)) {
      const std::string sentence = fold_spaces(std::string_view(passage.content).substr(range.begin, range.end - range.begin));
      if (!is_quotable(sentence) || sentences.size() >= kSentencesMax || !seen.insert(sentence).second) continue;
      sentences.push_back(sentence);
      numbers.push_back(static_cast<int>(passage.text) + 1);
    }
  }
  Digest out{.model = std::string(kQuotes)};
  if (sentences.empty()) return out;
  FOOTNOTE_TRY(const Vectors vectors, embed_all(call, ports_.embedder, sentences, EmbedKind::kPassage));
  auto picked = pick(vectors, target.vector, kSentencesQuoted);
  std::ranges::sort(picked);
  for (const std::size_t index : picked) append_sentence(out, sentences[index], {numbers[index]});
  return out;
}

/// Keeps the sentences that their sources support.
Result<Digest> PageDigest::checked(const CallContext& call, std::string_view text, std::span<const Marker> markers,
                                   std::span<const SourceBlock> blocks) const {
  std::map<std::size_t, std::set<int>> cited;  // by the sentence's first byte
  for (const Citation& citation : bind_citations(text, markers, blocks)) cited[citation.answer_range.begin].insert(citation.number);
  Digest out;
  for (const TextRange& range : chunk::split_sentences(text)) {
    const auto numbers = cited.find(range.begin);
    if (numbers == cited.end()) continue;
    const std::string claim = without_markers(text.substr(range.begin, range.end - range.begin));
    if (std::ranges::none_of(claim, [](char c) { return is_ascii_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80; })) continue;
    const CheckTask task{.claim = claim, .numbers = {numbers->second.begin(), numbers->second.end()}};
    const auto verdict = check_sentence(call, check_, blocks, task);
    FOOTNOTE_CHECK(call.check());
    if (verdict && verdict->support == Support::kSupported) append_sentence(out, claim, numbers->second);
  }
  return out;
}

Result<Digest> PageDigest::ask_model(const CallContext& call, const DigestRequest& request, const std::vector<Passage>& passages) const {
  std::vector<SourceBlock> blocks;
  for (const Passage& passage : passages) {
    const int number = static_cast<int>(passage.text) + 1;
    if (blocks.empty() || blocks.back().number != number) {
      const DigestText& text = request.texts[passage.text];
      blocks.push_back({number, {}});
      blocks.back().hit.document_key = text.url;
      blocks.back().hit.document.title = text.title;
    }
    std::string& content = blocks.back().hit.chunk.text;
    content += (content.empty() ? "" : "\n\n") + passage.content;
  }
  std::string question = request.query.empty() ? "Sum up what the sources say, in at most six sentences." : request.query;
  if (!request.language.empty()) question += " Write in " + prompt::language_name(prompt::primary_language(request.language)) + ".";
  const ChatRequest chat{.messages = prompt::build_kb_prompt(question, blocks, {.now = ports_.clock.now(), .fence = random_base62(16)})};
  // Numbers are those of the texts; the filter drops what no text has.
  CitationFilter filter(static_cast<int>(request.texts.size()));
  FOOTNOTE_TRY(const ChatEnd end, ports_.llm->stream(call, chat, [&](std::string_view piece) -> Result<void> {
    if (filter.text().size() < kAnswerCharactersMax) filter.feed(piece);
    return {};
  }));
  filter.finish();
  if (trim(filter.text()) == prompt::kNoGroundedAnswer) return Digest{};
  std::vector<Marker> markers = filter.markers();
  std::erase_if(markers,
                [&](const Marker& marker) { return std::ranges::find(blocks, marker.number, &SourceBlock::number) == blocks.end(); });
  FOOTNOTE_TRY(Digest out, checked(call, filter.text(), markers, blocks));
  out.model = end.model.empty() ? ports_.llm->model() : end.model;
  return out;
}

Result<Digest> PageDigest::write(const CallContext& call, const DigestRequest& request) const {
  Target target;
  FOOTNOTE_TRY(const auto passages, closest_passages(call, request, target));
  if (passages.empty()) return Digest{.model = std::string(kQuotes)};
  if (ports_.llm != nullptr) {
    FOOTNOTE_TRY(Digest written, ask_model(call, request, passages));
    if (!written.summary.empty()) return written;
  }
  return quote(call, passages, target);
}

}  // namespace footnote::answer
