#include "providers/local/local_embedder.h"

#include <algorithm>
#include <system_error>

#include "base/assert.h"

namespace footnote {
namespace {

/// The bytes that a window covers. The outer windows extend to the text's ends, so that all of it is covered.
TextRange bytes_of(const TextRange& window, const nn::Tokens& tokens, std::size_t text_size, bool last) {
  if (tokens.ids.empty()) return {0, text_size};
  return {window.begin == 0 ? 0 : tokens.ranges[window.begin].begin,
          last ? text_size : static_cast<std::size_t>(tokens.ranges[window.end - 1].end)};
}

/// Adds the codes of one window. For a question the first window suffices.
void add_codes(const late::SignCoder& coder, EmbedKind kind, std::span<const float> token_vectors, std::span<const std::uint32_t> ids,
               Embedding& embedding) {
  const auto dimension = static_cast<std::uint32_t>(coder.dimension());
  if (kind == EmbedKind::kPassage) {
    embedding.passage_codes.form = coder.form();
    embedding.passage_codes.dimension = dimension;
    const std::size_t before = embedding.passage_codes.signs.size();
    coder.append_passage(token_vectors, ids, embedding.passage_codes.signs);
    const std::size_t added = embedding.passage_codes.signs.size() - before;
    embedding.passage_codes.windows.push_back(static_cast<std::uint32_t>(added / coder.bytes_per_token()));
  } else if (embedding.question_codes.form == 0) {
    embedding.question_codes = {coder.form(), dimension, coder.question(token_vectors)};
  }
}

}  // namespace

Windows window_ranges(std::size_t token_count, std::size_t window) {
  FOOTNOTE_ASSERT(window >= 4);
  if (token_count <= window) return {.lead = 0, .ranges = {{0, token_count}}};
  Windows out{.lead = window / 2, .ranges = {{0, window}}};
  const std::size_t own = window - out.lead;
  const std::size_t shared = own / 8;
  const std::size_t last = token_count - own;
  const std::size_t first = std::min(window - shared, last);
  const std::size_t steps = (last - first + own - shared - 1) / (own - shared);
  for (std::size_t i = 0; i <= steps; ++i) {
    const std::size_t begin = steps == 0 ? last : first + i * (last - first) / steps;
    out.ranges.push_back({begin, begin + own});
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
  // At most half the window; real prefixes are a few words.
  const std::size_t prefix_max = out->encoder_->tokens_max() / 2;
  out->query_prefix_ = out->encoder_->tokenizer().tokenize(files.query_prefix, prefix_max, nn::Specials::kAsText).ids;
  out->passage_prefix_ = out->encoder_->tokenizer().tokenize(files.passage_prefix, prefix_max, nn::Specials::kAsText).ids;
  return out;
}

Result<void> LocalEmbedder::set_late(late::LateModel model, const late::CoderOptions& options) {
  if (model.hidden() != encoder_->hidden()) {
    return fail(ErrorCode::kInvalidArgument, "the token codes are made for vectors of {} numbers, the model's have {}", model.hidden(),
                encoder_->hidden());
  }
  coder_.emplace(std::move(model), options);
  return {};
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
  std::vector<std::size_t> coded_from;  // offset into `ids`
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const nn::Tokens tokens = tokenizer.tokenize(texts[t], truncate ? window : nn::Tokenizer::kNoLimit, nn::Specials::kAsText);
    const auto [lead, ranges] = window_ranges(tokens.ids.size(), window);
    if (ranges.size() > kWindowsPerTextMax) {
      return fail(ErrorCode::kTooLarge, "a text of {} tokens is too long to embed; split it", tokens.ids.size());
    }
    out[t].tokens = tokens.ids.size() + around;
    out[t].truncated = tokens.truncated;
    for (const TextRange& range : ranges) {
      const bool last = &range == &ranges.back() && !tokens.truncated;
      out[t].windows.push_back({bytes_of(range, tokens, texts[t].size(), last), {}});
      const bool further = range.begin > 0;
      std::vector<std::uint32_t> own = prefix;
      const auto add = [&](std::size_t begin, std::size_t end) {
        own.insert(own.end(), tokens.ids.begin() + static_cast<std::ptrdiff_t>(begin),
                   tokens.ids.begin() + static_cast<std::ptrdiff_t>(end));
      };
      if (further) add(0, lead);
      add(range.begin, range.end);
      ids.push_back(tokenizer.frame_ids(own));
      // The lead is coded only once, in the first window.
      coded_from.push_back(further ? tokenizer.frame_tokens() / 2 + prefix.size() + lead : 0);
    }
  }
  std::vector<nn::TokenSpan> sequences;
  sequences.reserve(ids.size());
  for (const auto& window_ids : ids) sequences.push_back({.ids = window_ids});
  // A user waits for a question; documents can wait.
  const auto urgency = options.kind == EmbedKind::kQuery ? nn::Urgency::kUrgent : nn::Urgency::kBulk;
  const bool codes = options.codes && coder_;
  const auto output = codes ? nn::Output::kPooledAndTokens : nn::Output::kPooled;
  FOOTNOTE_TRY(auto pooled, encoder_->encode(call, sequences, {.output = output, .urgency = urgency}));
  auto next = pooled.begin();
  for (Embedding& embedding : out) {
    for (WindowVector& vector : embedding.windows) {
      if (codes) {
        const auto place = static_cast<std::size_t>(next - pooled.begin());
        const std::size_t from = coded_from[place];
        add_codes(*coder_, options.kind, std::span<const float>(next->token_vectors).subspan(from * encoder_->hidden()),
                  std::span(ids[place]).subspan(from), embedding);
      }
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
