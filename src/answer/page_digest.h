#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "answer/citation_check.h"
#include "answer/citation_filter.h"
#include "base/call_context.h"
#include "base/clock.h"
#include "domain/answer.h"
#include "ports/embedder.h"
#include "ports/llm.h"
#include "ports/reranker.h"

namespace footnote::answer {

/// A text to sum up; an empty address for a text that has none.
struct DigestText {
  std::string url;
  std::string title;
  std::string text;
};

struct DigestRequest {
  std::string query;     ///< What the reader wants to know; empty: what the texts are about.
  std::string language;  ///< Of the summary, for a language model: "sv". Empty: as the texts.
  std::vector<DigestText> texts;
};

/// A short text from several, each sentence followed by the numbers of the texts that carry it.
struct Digest {
  std::string summary;     ///< "... [1] ... [2][3]"; empty if the texts hold nothing.
  std::vector<int> cited;  ///< The numbers in it, ascending: positions in DigestRequest::texts, from 1.
  std::string model;       ///< That wrote it; kQuotes if its sentences are quotations.
};

/// Sums up texts that are not in the store. With a language model the summary is written from the closest passages, and every sentence is
/// checked like those of an answer: one without a source, or that its source does not support, is left out. Without one, or if nothing is
/// left, the summary is made of sentences of the texts. Thread-safe; borrows its ports. Errors: those of the ports and the call.
class PageDigest {
 public:
  static constexpr std::string_view kQuotes = "extractive";
  static constexpr std::size_t kTextBytesMax = 200'000;  ///< Read of one text.
  static constexpr std::size_t kPiecesMax = 160;         ///< Passages compared, of all texts together.
  static constexpr std::size_t kPassagesPicked = 8;
  static constexpr std::size_t kSentencesMax = 80;  ///< Compared to quote.
  static constexpr std::size_t kSentencesQuoted = 5;

  struct Ports {
    Embedder& embedder;
    Reranker* reranker = nullptr;
    Llm* llm = nullptr;
    const Clock& clock;
  };
  explicit PageDigest(Ports ports) : ports_(ports), check_(ports.embedder, ports.reranker) {}

  Result<Digest> write(const CallContext& call, const DigestRequest& request) const;

 private:
  struct Passage {
    std::size_t text = 0;  ///< Index in the request.
    std::string content;
  };
  struct Target;
  Result<std::vector<Passage>> closest_passages(const CallContext& call, const DigestRequest& request, Target& target) const;
  Result<Digest> quote(const CallContext& call, const std::vector<Passage>& passages, const Target& target) const;
  Result<Digest> ask_model(const CallContext& call, const DigestRequest& request, const std::vector<Passage>& passages) const;
  Result<Digest> checked(const CallContext& call, std::string_view text, std::span<const Marker> markers,
                         std::span<const SourceBlock> blocks) const;

  const Ports ports_;
  const CitationCheck check_;
};

}  // namespace footnote::answer
