#include "engine/nn/encoder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "base/assert.h"

namespace footnote::nn {
namespace {

// Tokens of one micro-batch: enough that weights are read from memory seldom, few enough that activations stay in
// the cache and that a cancelled call ends soon.
constexpr std::size_t kBatchTokens = 512;
// Splitting finer than this for the sake of idle threads reads the weights more often than it saves.
constexpr std::size_t kBatchTokensMin = 64;

}  // namespace

Result<std::unique_ptr<Encoder>> Encoder::open(const std::filesystem::path& model_folder, const EncoderOptions& options) {
  if (options.threads > kThreadsMax) return fail(ErrorCode::kInvalidArgument, "more than {} encoder threads", kThreadsMax);
  if (options.level) FOOTNOTE_CHECK(cpu::require_cpu_level(*options.level));
  const cpu::CpuLevel level = options.level ? *options.level : cpu::best_cpu_level();
  FOOTNOTE_TRY(ModelFiles files, ModelFiles::open(model_folder));
  std::unique_ptr<Encoder> out(new Encoder(std::move(files), level));
  const Kernels* kernels = kernels_of(level);
  FOOTNOTE_ASSERT(kernels != nullptr);
  FOOTNOTE_TRY(Transformer transformer, Transformer::load(out->files_, *kernels));
  out->transformer_.emplace(std::move(transformer));
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = options.threads != 0 ? options.threads : std::min(processors, kThreadsMax);
  for (std::size_t worker = 0; worker < threads; ++worker) {
    FOOTNOTE_TRY(auto workspace, out->transformer_->make_workspace(std::max(kBatchTokens, out->positions_max())));
    out->workspaces_.push_back(std::move(workspace));
  }
  FOOTNOTE_TRY(out->pool_, WorkerPool::start(threads));
  return out;
}

Result<std::vector<Pooled>> Encoder::encode(const CallContext& call, std::span<const TokenSpan> sequences, Output output) {
  FOOTNOTE_CHECK(check(sequences));
  std::vector<Pooled> results(sequences.size());
  const std::vector<Batch> batches = make_batches(sequences);
  FOOTNOTE_CHECK(
      pool_->run(call, batches.size(), [&](std::size_t step, std::size_t worker) { run_batch(batches[step], worker, output, results); }));
  return results;
}

Result<void> Encoder::check(std::span<const TokenSpan> sequences) const {
  const EncoderShape& shape = files_.shape;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const TokenSpan& sequence = sequences[i];
    const auto bad = [&](std::string_view what) { return fail(ErrorCode::kInvalidArgument, "sequence {} {}", i, what); };
    if (sequence.ids.empty()) return bad("has no tokens");
    if (sequence.ids.size() > shape.positions) return bad("is longer than the model's positions");
    if (!sequence.types.empty() && sequence.types.size() != sequence.ids.size()) return bad("has not one type a token");
    if (std::ranges::any_of(sequence.ids, [&](std::uint32_t id) { return id >= shape.vocabulary; })) {
      return bad("has an id past the vocabulary");
    }
    if (std::ranges::any_of(sequence.types, [&](std::uint8_t type) { return type >= shape.token_types; })) {
      return bad("has a type that the model does not know");
    }
  }
  return {};
}

// Longest first, so that what is left for the end, when threads run out of work, is short.
std::vector<Encoder::Batch> Encoder::make_batches(std::span<const TokenSpan> sequences) const {
  std::vector<std::size_t> order(sequences.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return sequences[a].ids.size() != sequences[b].ids.size() ? sequences[a].ids.size() > sequences[b].ids.size() : a < b;
  });
  std::size_t total = 0;
  for (const TokenSpan& sequence : sequences) total += sequence.ids.size();
  const std::size_t share = (total + threads() - 1) / threads();
  const std::size_t budget = std::clamp(share, kBatchTokensMin, kBatchTokens);
  std::vector<Batch> out;
  std::size_t tokens = 0;
  for (const std::size_t place : order) {
    const std::size_t length = sequences[place].ids.size();
    if (out.empty() || tokens + length > budget) {
      out.emplace_back();
      tokens = 0;
    }
    tokens += length;
    out.back().sequences.push_back(sequences[place]);
    out.back().places.push_back(place);
  }
  return out;
}

// Steps write to different elements of `results`, so they need no lock.
void Encoder::run_batch(const Batch& batch, std::size_t worker, Output output, std::vector<Pooled>& results) {
  std::span<const float> rest = transformer_->forward(batch.sequences, workspaces_[worker]);
  for (std::size_t i = 0; i < batch.sequences.size(); ++i) {
    const std::span<const float> own = rest.first(batch.sequences[i].ids.size() * hidden());
    rest = rest.subspan(own.size());
    Pooled& result = results[batch.places[i]];
    pool(own, result);
    if (output == Output::kPooledAndTokens) result.token_vectors.assign(own.begin(), own.end());
  }
}

void Encoder::pool(std::span<const float> token_vectors, Pooled& result) const {
  const std::size_t width = hidden();
  const std::size_t rows = files_.pooling == Pooling::kMean ? token_vectors.size() / width : 1;
  std::vector<float>& out = result.vector;
  out.assign(width, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t k = 0; k < width; ++k) out[k] += token_vectors[row * width + k];
  }
  // The mean's divisor goes into the length alone: making that one takes any common factor away.
  double squares = 0;
  for (const float value : out) squares += static_cast<double>(value) * value;
  const auto factor = static_cast<float>(squares > 0 ? 1.0 / std::sqrt(squares) : 0.0);
  for (float& value : out) value *= factor;
  result.length = static_cast<float>(std::sqrt(squares) / static_cast<double>(rows));
}

}  // namespace footnote::nn
