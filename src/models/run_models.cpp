#include <algorithm>

#include "base/text.h"
#include "cli/progress.h"
#include "models/copy.h"
#include "models/folder.h"
#include "models/report.h"
#include "models/run_models.h"

namespace footnote::models {
namespace {

namespace fs = std::filesystem;

/// Rounded up, for progress bars.
std::uint64_t megabytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  return (bytes + kMegabyte - 1) / kMegabyte;
}

int list(const cli::CommandContext& context) {
  const auto models = list_models(context.settings);
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(models_json(models)) + "\n");
    return cli::kExitOk;
  }
  if (models.empty()) {
    std::vector<std::string> places;
    for (const fs::path& place : model_search_path(context.settings)) places.push_back(place.string());
    cli::write_out(fmt::format("There are no models in {}. `make setup` downloads {}; `footnote models add FOLDER` adds another.\n",
                               join(places, ", "), spec_of(Setting::kModelsName).default_text));
  }
  cli::write_out(render_models(models));
  return cli::kExitOk;
}

Result<int> info(const cli::CommandContext& context, const cli::ModelsCommand& command) {
  const bool named = !command.names.empty();
  FOOTNOTE_TRY(const fs::path folder,
               named ? find_named_model(context.settings, command.names.front()) : find_model_folder(context.settings));
  const ModelEntry model = describe_model(context.settings, folder);
  cli::write_out(context.form == cli::OutputForm::kJson ? to_text(model_json(model)) + "\n" : render_model(model));
  return model.files ? cli::kExitOk : cli::kExitFailure;
}

/// The setting that selects the new model.
std::string next_step(const ModelEntry& model) {
  const Setting setting = setting_of(kind_of(*model.files));
  std::string out = fmt::format("To use it, set {} = \"{}\" in footnote.toml, or {}={} in the environment", spec_of(setting).key,
                                model.name, spec_of(setting).env, model.name);
  switch (kind_of(*model.files)) {
    case ModelKind::kEmbedder: out += ". A corpus keeps the model that it was embedded with: ingest into another one (--corpus).\n"; break;
    case ModelKind::kCrossEncoder:
    case ModelKind::kJudge: out += fmt::format("; and {} = \"local\".\n", spec_of(Setting::kRerankerProvider).key); break;
  }
  return out;
}

Json added_json(const AddedModel& added) {
  JsonArray files;
  for (const auto& [name, sum] : added.sums) files.push_back(JsonObject{{"name", name}, {"sha256", sum}});
  const ModelKind kind = kind_of(*added.model.files);
  return JsonObject{{"name", added.model.name},
                    {"path", added.model.path.string()},
                    {"kind", to_string(kind)},
                    {"replaced", added.replaced},
                    {"size_bytes", added.model.bytes},
                    {"files", std::move(files)},
                    {"setting", JsonObject{{"key", spec_of(setting_of(kind)).key}, {"value", added.model.name}}}};
}

Result<int> add(const cli::CommandContext& context, const cli::ModelsCommand& command) {
  cli::ProgressBar bar = cli::progress_bar("MB", context.terminal);
  const AddOptions options{command.name, command.replace ? IfPresent::kReplace : IfPresent::kRefuse};
  const auto show = [&bar](std::uint64_t done, std::uint64_t total) { bar.update(megabytes(done), megabytes(total)); };
  FOOTNOTE_TRY(const AddedModel added, add_model(context.call, context.settings, command.folder, options, show));
  bar.clear();
  if (!added.model.files) return fail(ErrorCode::kUnavailable, "{} was added, but: {}", added.model.name, added.model.reason);
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(added_json(added)) + "\n");
    return cli::kExitOk;
  }
  cli::write_out(fmt::format("Model {} is at {}: {}, {}.\n", cli::printable(added.model.name), added.model.path.string(),
                             to_string(kind_of(*added.model.files)), human_bytes(added.model.bytes)));
  if (added.replaced) {
    cli::write_out("It replaces one with the same name. Vectors of the old model are kept: give other weights another name.\n");
  }
  cli::write_out(next_step(added.model));
  return cli::kExitOk;
}

/// The named folders, or all.
Result<std::vector<fs::path>> folders_of(const cli::CommandContext& context, const std::vector<std::string>& names) {
  if (names.empty()) return model_folders(context.settings);
  std::vector<fs::path> out;
  for (const std::string& name : names) {
    FOOTNOTE_TRY(fs::path folder, find_named_model(context.settings, name));
    out.push_back(std::move(folder));
  }
  return out;
}

Result<int> verify(const cli::CommandContext& context, const cli::ModelsCommand& command) {
  FOOTNOTE_TRY(const auto folders, folders_of(context, command.names));
  if (folders.empty()) return fail(ErrorCode::kFailedPrecondition, "there are no models to verify; `footnote models add FOLDER` adds one");
  std::uint64_t total = 0;
  for (const fs::path& folder : folders) total += bytes_to_verify(folder);
  cli::ProgressBar bar = cli::progress_bar("MB", context.terminal);
  std::uint64_t done = 0;
  const auto count = [&](std::uint64_t bytes) { bar.update(megabytes(done += bytes), megabytes(total)); };
  std::vector<ModelVerdict> verdicts;
  for (const fs::path& folder : folders) {
    FOOTNOTE_TRY(ModelVerdict verdict, verify_model(context.call, folder, count));
    verdicts.push_back(std::move(verdict));
  }
  bar.clear();
  const bool json = context.form == cli::OutputForm::kJson;
  cli::write_out(json ? to_text(verdicts_json(verdicts)) + "\n" : render_verdicts(verdicts, context.terminal.out));
  return std::ranges::all_of(verdicts, &ModelVerdict::sound) ? cli::kExitOk : cli::kExitFailure;
}

}  // namespace

Result<int> run_models(const cli::CommandContext& context, const cli::ModelsCommand& command) {
  switch (command.action) {
    case cli::ModelsCommand::Action::kList: return list(context);
    case cli::ModelsCommand::Action::kAdd: return add(context, command);
    case cli::ModelsCommand::Action::kVerify: return verify(context, command);
    case cli::ModelsCommand::Action::kInfo: return info(context, command);
    case cli::ModelsCommand::Action::kFit: break;  // needs a provider: app/run_models_fit
  }
  return cli::kExitUsage;
}

}  // namespace footnote::models
