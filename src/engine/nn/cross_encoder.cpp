#include "engine/nn/cross_encoder.h"

#include <cmath>

namespace footnote::nn {

Result<std::unique_ptr<CrossEncoder>> CrossEncoder::open(const std::filesystem::path& model_folder, const EncoderOptions& options) {
  EncoderOptions own = options;
  own.pooling = Pooling::kFirstToken;
  std::unique_ptr<CrossEncoder> out(new CrossEncoder);
  FOOTNOTE_TRY(out->encoder_, Encoder::open(model_folder, own));
  const ModelFiles& files = out->encoder_->files();
  if (files.labels != 1 && files.labels != 2) {
    return fail(ErrorCode::kUnsupported, "{} can't rerank: it has {}; a cross-encoder has a classification head of one label or two",
                model_folder.string(),
                files.labels == 0 ? std::string("no classification head") : fmt::format("a head of {} labels", files.labels));
  }
  const bool bert = files.family == Family::kBert;
  const std::size_t hidden = files.shape.hidden;
  FOOTNOTE_TRY(out->hidden_, DenseHead::read(files.weights, bert ? files.prefix + "pooler.dense" : "classifier.dense", hidden, hidden));
  FOOTNOTE_TRY(out->labels_, DenseHead::read(files.weights, bert ? "classifier" : "classifier.out_proj", files.labels, hidden));
  return out;
}

Result<std::vector<float>> CrossEncoder::score(const CallContext& call, std::string_view first, std::span<const std::string_view> seconds,
                                               Urgency urgency) {
  std::vector<PairTokens> pairs;
  std::vector<TokenSpan> sequences;
  pairs.reserve(seconds.size());
  for (const std::string_view second : seconds) {
    FOOTNOTE_CHECK(call.check());
    pairs.push_back(
        encoder_->tokenizer().frame_pair(first, second, encoder_->tokens_max(), Specials::kAsText, PairTruncation::kOnlySecond));
    sequences.push_back({.ids = pairs.back().ids, .types = pairs.back().types});
  }
  FOOTNOTE_TRY(const auto pooled, encoder_->encode(call, sequences, {.output = Output::kPooled, .urgency = urgency}));
  std::vector<float> out;
  out.reserve(pooled.size());
  for (const Pooled& one : pooled) out.push_back(score_of(one));
  return out;
}

float CrossEncoder::score_of(const Pooled& pooled) const {
  std::vector<float> first_token = pooled.vector;
  for (float& value : first_token) value *= pooled.length;
  std::vector<float> hidden = hidden_(first_token);
  for (float& value : hidden) value = std::tanh(value);
  const std::vector<float> logits = labels_(hidden);
  return logits.size() == 1 ? logits[0] : logits[1] - logits[0];
}

}  // namespace footnote::nn
