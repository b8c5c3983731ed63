#include "app/coded_embedder.h"

namespace footnote::app {

Result<std::vector<Embedding>> CodedEmbedder::embed(const CallContext& call, std::span<const std::string_view> texts,
                                                    const EmbedOptions& options) {
  EmbedOptions plain = options;
  plain.codes = false;
  FOOTNOTE_TRY(std::vector<Embedding> out, vectors_->embed(call, texts, plain));
  if (!options.codes) return out;
  const EmbedOptions coded{.kind = options.kind, .overflow = options.overflow, .codes = true};
  FOOTNOTE_TRY(std::vector<Embedding> codes, codes_->embed(call, texts, coded));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].passage_codes = std::move(codes.at(i).passage_codes);
    out[i].question_codes = std::move(codes.at(i).question_codes);
  }
  return out;
}

}  // namespace footnote::app
