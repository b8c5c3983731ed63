#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_context.h"
#include "domain/catalog.h"
#include "domain/ids.h"
#include "domain/token_codes.h"

namespace footnote {

/// Some models embed questions and passages differently.
enum class EmbedKind { kQuery, kPassage };
/// What to do with a text past the model's window: cut it, or give one vector per overlapping window.
enum class Overflow { kTruncate, kWindows };
/// kAsPooled: the vector as the model pooled it, before it is made one long; its direction is the same.
enum class VectorLength { kUnit, kAsPooled };

struct EmbedOptions {
  EmbedKind kind = EmbedKind::kPassage;
  Overflow overflow = Overflow::kWindows;
  VectorLength length = VectorLength::kUnit;
  bool codes = false;  ///< Also the codes of the text's tokens, where the embedder can make them.
};

/// The vector of one window; `range` is the part of the text that it covers.
struct WindowVector {
  TextRange range;
  std::vector<float> values;
};

/// One text's vectors: at least one, in text order. `truncated` only with Overflow::kTruncate. An embedder that can't see
/// tokens (a remote one) gives one window over the whole text, whatever the overflow, and never says `truncated`; its server
/// cuts what is past its window. `tokens` is then what the server counted, 0 where it does not say.
struct Embedding {
  std::vector<WindowVector> windows;
  std::size_t tokens = 0;
  bool truncated = false;
  PassageCodes passage_codes = {};    ///< Of a passage, all windows one after the other; when asked for.
  QuestionCodes question_codes = {};  ///< Of a question; when asked for.
};

/// Turns text into vectors of unit length (unless asked for otherwise), one Embedding per text, in input order. The same
/// text gives the same numbers alone and in any batch. All numbers are finite. Thread-safe. Borrows `texts` for the call only.
/// kUnavailable, kResourceExhausted (too many at once): worth a retry. kTooLarge: a text that can't be taken. kUnsupported: no
/// other length than one can be had. kCancelled, kDeadlineExceeded: as the call says.
class Embedder {
 public:
  virtual ~Embedder() = default;
  virtual EmbeddingSpace space() const = 0;
  /// The form of the codes that it makes now; 0 when it makes none.
  virtual std::uint32_t code_form() const { return 0; }
  /// The languages that it was made for, ISO 639-1; empty when it knows no bounds.
  virtual std::vector<std::string> languages() const { return {}; }
  virtual Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                               const EmbedOptions& options) = 0;
};

}  // namespace footnote
