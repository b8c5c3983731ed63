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
/// How to handle a text longer than the model's window: truncate it, or return one vector per overlapping window.
enum class Overflow { kTruncate, kWindows };
/// kAsPooled: the vector as pooled by the model, before normalization; the direction is the same.
enum class VectorLength { kUnit, kAsPooled };

struct EmbedOptions {
  EmbedKind kind = EmbedKind::kPassage;
  Overflow overflow = Overflow::kWindows;
  VectorLength length = VectorLength::kUnit;
  bool codes = false;  ///< Also return token codes, if the embedder can make them.
};

/// The vector of one window; `range` is the part of the text it covers.
struct WindowVector {
  TextRange range;
  std::vector<float> values;
};

/// One text's vectors: at least one, in text order. `truncated` only with Overflow::kTruncate. An embedder without access to tokens (a
/// remote one) returns one window for the whole text, whatever `overflow` says, and never sets `truncated`; its server truncates the text.
/// `tokens` is then the server's count, 0 if unknown.
struct Embedding {
  std::vector<WindowVector> windows;
  std::size_t tokens = 0;
  bool truncated = false;
  PassageCodes passage_codes = {};    ///< Codes of a passage, all windows concatenated; only if requested.
  QuestionCodes question_codes = {};  ///< Codes of a question; only if requested.
};

/// Turns text into vectors, of unit length by default: one Embedding per text, in input order. A text gives the same numbers alone and in
/// any batch. All numbers are finite. Thread-safe. Borrows `texts` during the call. kUnavailable, kResourceExhausted (too many at once):
/// worth a retry. kTooLarge: a text that cannot be embedded. kUnsupported: only unit length is available. kCancelled, kDeadlineExceeded:
/// from the call's context.
class Embedder {
 public:
  virtual ~Embedder() = default;
  virtual EmbeddingSpace space() const = 0;
  /// The form of the codes it currently makes; 0: none.
  virtual std::uint32_t code_form() const { return 0; }
  /// The model that makes the codes, which need not be the one that makes the vectors; empty: none.
  virtual std::string code_model() const { return {}; }
  /// Languages it was trained for, ISO 639-1; empty: unrestricted.
  virtual std::vector<std::string> languages() const { return {}; }
  virtual Result<std::vector<Embedding>> embed(const CallContext& call, std::span<const std::string_view> texts,
                                               const EmbedOptions& options) = 0;
};

}  // namespace footnote
