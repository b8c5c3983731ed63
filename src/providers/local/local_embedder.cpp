#include "providers/local/local_embedder.h"

#include <algorithm>
#include <system_error>

#include "base/assert.h"

namespace footnote {
namespace {

/// The bytes that a window covers. The outer windows reach to the text's ends, so that all of it is covered.
TextRange bytes_of(const TextRange& window, const nn::Tokens& tokens, std::size_t text_size, bool last) {
  if (tokens.ids.empty()) return {0, text_size};
  return {window.begin == 0 ? 0 : tokens.ranges[window.begin].begin,
          last ? text_size : static_cast<std::size_t>(tokens.ranges[window.end - 1].end)};
}

}  // namespace

std::vector<TextRange> window_ranges(std::size_t token_count, std::size_t window) {
  FOOTNOTE_ASSERT(window >= 4);
  std::vector<TextRange> out{{0, std::min(token_count, window)}};
  const std::size_t step = window - window / 4;
  while (out.back().end < token_count) {
    const std::size_t begin = out.back().begin + step;
    out.push_back({begin, std::min(begin + window, token_count)});
  }
  return out;
}

Result<std::unique_ptr<LocalEmbedder>> LocalEmbedder::open(const std::filesystem::path& model_folder, const nn::EncoderOptions& options) {
  FOOTNOTE_TRY(auto encoder, nn::Encoder::open(model_folder, options));
  // "models/x/" and "models/x/." name the same folder as "models/x".
  std::error_code ignored;
  auto folder = std::filesystem::weakly_canonical(model_folder, ignored);
  if (ignored || !folder.has_filename()) folder = model_folder.lexically_normal();
  EmbeddingSpace space{folder.filename().string(), static_cast<int>(encoder->hidden())};
  std::unique_ptr<LocalEmbedder> out(new LocalEmbedder(std::move(encoder), std::move(space)));
  const nn::ModelFiles& files = out->encoder_->files();
  // Cut to half the window at most: what the model was made for are a few words.
  const std::size_t prefix_max = out->encoder_->tokens_max() / 2;
  out->query_prefix_ = out->encoder_->tokenizer().tokenize(files.query_prefix, prefix_max, nn::Specials::kAsText).ids;
  out->passage_prefix_ = out->encoder_->tokenizer().tokenize(files.passage_prefix, prefix_max, nn::Specials::kAsText).ids;
  return out;
}

Result<std::vector<Embedding>> LocalEmbedder::embed(const CallContext& call, std::span<const std::string_view> texts,
                                                    const EmbedOptions& options) {
  FOOTNOTE_CHECK(call.check());
  const nn::Tokenizer& tokenizer = encoder_->tokenizer();
  const std::vector<std::uint32_t>& prefix = options.kind == EmbedKind::kQuery ? query_prefix_ : passage_prefix_;
  const std::size_t around = tokenizer.frame_tokens() + prefix.size();
  const std::size_t window = encoder_->tokens_max() - around;
  const bool truncate = options.overflow == Overflow::kTruncate;
  std::vector<Embedding> out(texts.size());
  std::vector<std::vector<std::uint32_t>> ids;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const nn::Tokens tokens = tokenizer.tokenize(texts[t], truncate ? window : nn::Tokenizer::kNoLimit, nn::Specials::kAsText);
    const auto ranges = window_ranges(tokens.ids.size(), window);
    if (ranges.size() > kWindowsPerTextMax) {
      return fail(ErrorCode::kTooLarge, "a text of {} tokens is too long to embed; split it", tokens.ids.size());
    }
    out[t].tokens = tokens.ids.size() + around;
    out[t].truncated = tokens.truncated;
    for (const TextRange& range : ranges) {
      const bool last = &range == &ranges.back() && !tokens.truncated;
      out[t].windows.push_back({bytes_of(range, tokens, texts[t].size(), last), {}});
      std::vector<std::uint32_t> own = prefix;
      own.insert(own.end(), tokens.ids.begin() + static_cast<std::ptrdiff_t>(range.begin),
                 tokens.ids.begin() + static_cast<std::ptrdiff_t>(range.end));
      ids.push_back(tokenizer.frame_ids(own));
    }
  }
  std::vector<nn::TokenSpan> sequences;
  sequences.reserve(ids.size());
  for (const auto& window_ids : ids) sequences.push_back({.ids = window_ids});
  // Somebody waits for the answer to a question; documents can wait.
  const auto urgency = options.kind == EmbedKind::kQuery ? nn::Urgency::kUrgent : nn::Urgency::kBulk;
  FOOTNOTE_TRY(auto pooled, encoder_->encode(call, sequences, {.output = nn::Output::kPooled, .urgency = urgency}));
  auto next = pooled.begin();
  for (Embedding& embedding : out) {
    for (WindowVector& vector : embedding.windows) {
      vector.values = std::move(next->vector);
      if (options.length == VectorLength::kAsPooled) {
        for (float& value : vector.values) value *= next->length;
      }
      ++next;
    }
  }
  return out;
}

}  // namespace footnote
