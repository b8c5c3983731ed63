#include <algorithm>
#include <charconv>
#include <chrono>

#include "app/commands.h"
#include "app/compose_models.h"
#include "app/text_table.h"
#include "base/json.h"
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
};

/// "32x128": so many sequences of so many tokens.
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

/// The same made-up ids for whoever measures the same model: what they are makes no difference to the time.
std::vector<std::uint32_t> ids_of(const Shape& shape, std::size_t vocabulary) {
  std::vector<std::uint32_t> out(shape.sequences * shape.length);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint32_t>((1000 + i * 7919 % 20000) % vocabulary);
  return out;
}

Result<Figures> measure(const CallContext& call, LocalEmbedder& embedder, const Shape& shape, double seconds) {
  nn::Encoder& encoder = embedder.encoder();
  const auto ids = ids_of(shape, encoder.files().shape.vocabulary);
  std::vector<nn::TokenSpan> sequences;
  for (std::size_t i = 0; i < shape.sequences; ++i) sequences.push_back({std::span(ids).subspan(i * shape.length, shape.length)});
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  constexpr std::size_t kRunsMin = 5;
  while (times.size() < kRunsMin || Clock::now() < end) {
    const auto begin = Clock::now();
    FOOTNOTE_TRY([[maybe_unused]] const auto encoded,
                 encoder.encode(call, sequences, {.output = nn::Output::kPooled, .urgency = nn::Urgency::kUrgent}));
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::ranges::sort(times);
  const double median = times[times.size() / 2];
  return Figures{shape, times.size(), median, times.front(), static_cast<double>(ids.size()) / median * 1e3};
}

}  // namespace

Result<int> run_bench_encoder(const CommandContext& context, const BenchEncoderCommand& command) {
  FOOTNOTE_TRY(const auto embedder, open_local_embedder(context.settings));
  const nn::Encoder& encoder = embedder->encoder();
  std::vector<Shape> shapes;
  for (const std::string& text : command.shapes) {
    FOOTNOTE_TRY(const Shape shape, parse_shape(text, encoder.positions_max()));
    shapes.push_back(shape);
  }
  const bool json = context.form == OutputForm::kJson;
  TextTable table({{"shape"}, {"median", Align::kRight}, {"best", Align::kRight}, {"tokens/s", Align::kRight}});
  for (const Shape& shape : shapes) {
    FOOTNOTE_TRY(const Figures figures, measure(context.call, *embedder, shape, command.seconds));
    if (json) {
      write_out(to_text(JsonObject{{"model", embedder->space().model_id},
                                   {"level", to_string(encoder.level())},
                                   {"threads", encoder.threads()},
                                   {"sequences", shape.sequences},
                                   {"length", shape.length},
                                   {"runs", figures.runs},
                                   {"median_ms", figures.median_ms},
                                   {"best_ms", figures.best_ms},
                                   {"tokens_per_second", figures.tokens_per_second}}) +
                "\n");
      continue;
    }
    table.add({fmt::format("{}x{}", shape.sequences, shape.length), fmt::format("{:.2f} ms", figures.median_ms),
               fmt::format("{:.2f} ms", figures.best_ms), fmt::format("{:.0f}", figures.tokens_per_second)});
  }
  if (!json) {
    write_out(fmt::format("{}, level {}, {} threads\n\n{}", embedder->space().model_id, to_string(encoder.level()), encoder.threads(),
                          table.render()));
  }
  return kExitOk;
}

}  // namespace footnote::app
