#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "app/commands.h"
#include "app/compose_models.h"
#include "base/json.h"
#include "cli/text_table.h"
#include "providers/local/local_embedder.h"

namespace footnote::app {
namespace {

using Clock = std::chrono::steady_clock;

struct Shape {
  std::size_t sequences = 0;
  std::size_t length = 0;
};

struct Figures {
  Shape shape;
  std::size_t runs = 0;
  double median_ms = 0;
  double best_ms = 0;
  double tokens_per_second = 0;
  std::optional<double> judge_ms =
      {};  ///< Median for as many question and passage pairs of that length, scored by the judge in the same rounds.
};

/// "32x128": 32 sequences of 128 tokens.
Result<Shape> parse_shape(std::string_view text, std::size_t length_max) {
  constexpr std::size_t kSequencesMax = 100'000;
  Shape out;
  const char* end = text.data() + text.size();
  const auto [cross, first] = std::from_chars(text.data(), end, out.sequences);
  const bool crossed = first == std::errc{} && cross != end && *cross == 'x';
  const auto [rest, second] = std::from_chars(crossed ? cross + 1 : end, end, out.length);
  if (!crossed || second != std::errc{} || rest != end || out.sequences == 0 || out.sequences > kSequencesMax || out.length == 0 ||
      out.length > length_max) {
    return fail(ErrorCode::kInvalidArgument, "'{}' is not a shape such as 32x128: sequences, then tokens of each, {} at most", text,
                length_max);
  }
  return out;
}

/// Synthetic ids, the same for every measurement of a model: their values do not affect the time.
std::vector<std::uint32_t> ids_of(const Shape& shape, std::size_t vocabulary) {
  std::vector<std::uint32_t> out(shape.sequences * shape.length);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint32_t>((1000 + i * 7919 % 20000) % vocabulary);
  return out;
}

/// Pairs of exactly `shape.length` tokens, special tokens included: made of words that are one token for the judge and the embedder.
class JudgePairs {
 public:
  static constexpr std::size_t kLengthMin = 32;
  static constexpr std::size_t kLengthMax = 256;  ///< One window.

  explicit JudgePairs(const Shape& shape) {
    constexpr std::size_t kMarks = 3;
    constexpr std::string_view kWords[] = {"water ", "house ", "light ", "paper ", "river ", "stone "};
    for (std::size_t i = 0; i < kQuestionWords; ++i) question_ += kWords[i % std::size(kWords)];
    for (std::size_t i = kQuestionWords + kMarks; i < shape.length; ++i) passage_ += kWords[i * 7 % std::size(kWords)];
    passages_.assign(shape.sequences, passage_);
  }
  static bool fits(const Shape& shape) { return shape.length >= kLengthMin && shape.length <= kLengthMax; }
  JudgePairs(const JudgePairs&) = delete;
  JudgePairs& operator=(const JudgePairs&) = delete;

  Result<void> read(const CallContext& call, Reranker& judge) const {
    FOOTNOTE_TRY([[maybe_unused]] const auto read, judge.rerank(call, question_, passages_));
    return {};
  }

 private:
  static constexpr std::size_t kQuestionWords = 12;
  std::string question_;
  std::string passage_;
  std::vector<std::string_view> passages_;
};

template <class Body>
Result<double> milliseconds(Body&& body) {
  const auto begin = Clock::now();
  FOOTNOTE_CHECK(body());
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median_of(std::vector<double>& times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// `judge` may be null.
Result<Figures> measure(const CallContext& call, LocalEmbedder& embedder, Reranker* judge, const Shape& shape, double seconds) {
  nn::Encoder& encoder = embedder.encoder();
  const auto ids = ids_of(shape, encoder.files().shape.vocabulary);
  std::vector<nn::TokenSpan> sequences;
  for (std::size_t i = 0; i < shape.sequences; ++i) sequences.push_back({std::span(ids).subspan(i * shape.length, shape.length)});
  const auto encode = [&]() -> Result<void> {
    FOOTNOTE_TRY([[maybe_unused]] const auto encoded,
                 encoder.encode(call, sequences, {.output = nn::Output::kPooled, .urgency = nn::Urgency::kUrgent}));
    return {};
  };
  const JudgePairs pairs(shape);
  if (!JudgePairs::fits(shape)) judge = nullptr;
  std::vector<double> times;
  std::vector<double> judge_times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  constexpr std::size_t kRunsMin = 5;
  while (times.size() < kRunsMin || Clock::now() < end) {
    FOOTNOTE_TRY(times.emplace_back(), milliseconds(encode));
    if (judge == nullptr) continue;
    FOOTNOTE_TRY(judge_times.emplace_back(), milliseconds([&] { return pairs.read(call, *judge); }));
  }
  const double median = median_of(times);
  return Figures{.shape = shape,
                 .runs = times.size(),
                 .median_ms = median,
                 .best_ms = times.front(),
                 .tokens_per_second = static_cast<double>(ids.size()) / median * 1e3,
                 .judge_ms = judge == nullptr ? std::nullopt : std::optional(median_of(judge_times))};
}

}  // namespace

Result<int> run_bench_encoder(const cli::CommandContext& context, const cli::BenchEncoderCommand& command) {
  FOOTNOTE_TRY(const auto embedder, open_local_embedder(context.settings));
  const nn::Encoder& encoder = embedder->encoder();
  Metrics metrics;
  FOOTNOTE_TRY(const Rerankers rerankers, open_reranker(context.settings, metrics));
  std::vector<Shape> shapes;
  for (const std::string& text : command.shapes) {
    FOOTNOTE_TRY(const Shape shape, parse_shape(text, encoder.positions_max()));
    shapes.push_back(shape);
  }
  const bool json = context.form == cli::OutputForm::kJson;
  cli::TextTable table({{"shape"},
                        {"median", cli::Align::kRight},
                        {"best", cli::Align::kRight},
                        {"tokens/s", cli::Align::kRight},
                        {"judge", cli::Align::kRight}});
  for (const Shape& shape : shapes) {
    FOOTNOTE_TRY(const Figures figures, measure(context.call, *embedder, rerankers.quick.get(), shape, command.seconds));
    if (json) {
      cli::write_out(to_text(JsonObject{{"model", embedder->space().model_id},
                                        {"level", to_string(encoder.level())},
                                        {"threads", encoder.threads()},
                                        {"sequences", shape.sequences},
                                        {"length", shape.length},
                                        {"runs", figures.runs},
                                        {"median_ms", figures.median_ms},
                                        {"best_ms", figures.best_ms},
                                        {"tokens_per_second", figures.tokens_per_second},
                                        {"judge_ms", figures.judge_ms ? Json(*figures.judge_ms) : Json(nullptr)}}) +
                     "\n");
      continue;
    }
    table.add({fmt::format("{}x{}", shape.sequences, shape.length), fmt::format("{:.2f} ms", figures.median_ms),
               fmt::format("{:.2f} ms", figures.best_ms), fmt::format("{:.0f}", figures.tokens_per_second),
               figures.judge_ms ? fmt::format("{:.2f} ms", *figures.judge_ms) : ""});
  }
  if (!json) {
    cli::write_out(fmt::format("{}, level {}, {} threads\n\n{}", embedder->space().model_id, to_string(encoder.level()), encoder.threads(),
                               table.render()));
  }
  return cli::kExitOk;
}

}  // namespace footnote::app
