#include "providers/local/local_reranker.h"

#include <cmath>

namespace footnote {

Result<std::unique_ptr<LocalReranker>> LocalReranker::open(const std::filesystem::path& model_folder, const nn::EncoderOptions& options) {
  FOOTNOTE_TRY(auto encoder, nn::CrossEncoder::open(model_folder, options));
  return std::unique_ptr<LocalReranker>(new LocalReranker(std::move(encoder)));
}

Result<std::vector<Judgement>> LocalReranker::rerank(const CallContext& call, std::string_view question,
                                                     std::span<const std::string_view> passages) {
  FOOTNOTE_CHECK(call.check());
  FOOTNOTE_TRY(const auto logits, encoder_->score(call, question, passages));
  std::vector<Judgement> out;
  out.reserve(logits.size());
  for (const float logit : logits) out.push_back({logit, 1.0 / (1.0 + std::exp(-static_cast<double>(logit)))});
  return out;
}

}  // namespace footnote
