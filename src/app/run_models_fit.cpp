// footnote models fit: fits the coding of a model's token vectors.
#include <fstream>

#include "app/commands.h"
#include "app/compose_models.h"
#include "base/file.h"
#include "cli/progress.h"
#include "engine/late/model_fit.h"
#include "models/folder.h"
#include "providers/local/late_models.h"
#include "providers/local/local_embedder.h"

namespace footnote::app {
namespace {

/// With more tokens the mean and the axes hardly change.
constexpr std::size_t kFitTokens = 400'000;
constexpr std::size_t kFitBatch = 64;

}  // namespace

Result<int> run_models_fit(const cli::CommandContext& context, const cli::ModelsCommand& command) {
  FOOTNOTE_TRY(const auto folder, models::find_named_model(context.settings, command.name));
  FOOTNOTE_TRY(const auto encoder, nn::Encoder::open(folder, {}));
  std::ifstream texts(command.texts);
  if (!texts) return fail_field(ErrorCode::kNotFound, "texts", "{} can't be read", command.texts.string());
  late::ModelFit fit(encoder->hidden());
  cli::ProgressBar bar = cli::progress_bar("tokens", context.terminal);
  const nn::Tokenizer& tokenizer = encoder->tokenizer();
  const std::size_t window = encoder->tokens_max() - tokenizer.frame_tokens();
  std::string line;
  while (fit.tokens() < kFitTokens && texts) {
    std::vector<std::vector<std::uint32_t>> ids;
    while (ids.size() < kFitBatch && std::getline(texts, line)) {
      if (!line.empty()) ids.push_back(tokenizer.frame_ids(tokenizer.tokenize(line, window, nn::Specials::kAsText).ids));
    }
    std::vector<nn::TokenSpan> sequences;
    for (const auto& sequence : ids) sequences.push_back({.ids = sequence});
    FOOTNOTE_TRY(const auto encoded, encoder->encode(context.call, sequences, {.output = nn::Output::kPooledAndTokens}));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i].front() = ids[i].back() = 0;  // Special tokens are not words.
      fit.add(encoded[i].token_vectors, ids[i]);
    }
    bar.update(std::min(fit.tokens(), kFitTokens), kFitTokens);
  }
  bar.clear();
  if (fit.tokens() == 0) return fail_field(ErrorCode::kInvalidArgument, "texts", "{} has no text", command.texts.string());
  late::LateModel model = fit.model(encoder->hidden() / 16 * 8);
  FOOTNOTE_TRY(model.probe, probe_of(encoder->files()));
  const auto path = command.folder.empty() ? folder / kLateFile : command.folder;
  FOOTNOTE_CHECK(write_file_atomically(path, model.to_bytes(), Readers::kByUmask));
  cli::write_out(fmt::format("{} tokens read; {} written.\n", fit.tokens(), path.string()));
  return cli::kExitOk;
}

}  // namespace footnote::app
