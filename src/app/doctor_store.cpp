#include <unistd.h>

#include "app/compose_models.h"
#include "app/doctor.h"
#include "app/embedder_opener.h"
#include "app/open_link.h"
#include "app/store_checks.h"
#include "base/json_view.h"
#include "ingest/index_sync.h"
#include "models/folder.h"
#include "providers/local/local_code_index.h"
#include "providers/local/local_embedder.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "providers/sqlite/migrations.h"
#include "upkeep/index_files.h"
#include "upkeep/reconcile.h"
#include "upkeep/reembed.h"
#include "upkeep/stores.h"

namespace footnote::app {
namespace {

constexpr std::size_t kFindingsShownMax = 20;

cli::Check broken(std::string name, const Error& error, std::string fix = {}) {
  return {std::move(name), cli::Health::kBroken, error.message, std::move(fix), {{"code", to_string(error.code)}}};
}

constexpr std::string_view kRestore = "restore a copy of the data folder, or move it away and ingest again";
constexpr std::string_view kMakeWritable = "give this user write access to the folder and the files in it, or name another one with --data";

/// What to do if the data folder or its store does not open.
std::string fix_of(const Error& error) {
  if (error.code == ErrorCode::kPermissionDenied) return std::string(kMakeWritable);
  if (error.code == ErrorCode::kInvalidArgument) return "remove what is there, or name another folder with --data";
  if (error.code == ErrorCode::kStorageFull) return "free some space";
  if (error.code == ErrorCode::kResourceExhausted) return "raise the limit of open files (ulimit -n)";
  if (error.code == ErrorCode::kCorrupted) return std::string(kRestore);
  return {};
}

cli::Check check_bytes(const CallContext& call, upkeep::Stores& stores) {
  const auto findings = stores.store().check(call);
  if (!findings) return broken("store", findings.error());
  cli::Check check{"store",
                   cli::Health::kOk,
                   fmt::format("schema {}, {} sound", newest_schema(), stores.folder().path().string()),
                   {},
                   {{"schema", newest_schema()}, {"findings", findings->size()}}};
  if (findings->empty()) return check;
  check.health = cli::Health::kBroken;
  check.detail = fmt::format("{} findings", findings->size());
  for (std::size_t i = 0; i < std::min(findings->size(), kFindingsShownMax); ++i) {
    check.detail += fmt::format("; {}: {}", (*findings)[i].check, (*findings)[i].detail);
  }
  check.fix = kRestore;
  return check;
}

/// Notes passages without token codes, and those whose codes have another format than the questions': late interaction ignores them.
Result<void> check_codes(const CallContext& call, upkeep::Stores& stores, const Corpus& corpus, std::uint32_t form, cli::Check& check) {
  constexpr std::size_t kLookedAtMax = 64;
  FOOTNOTE_TRY(const auto all, stores.chunks().chunk_ids(call, corpus.id, 0, corpus.generation));
  std::vector<ChunkId> some;
  const std::size_t count = std::min(all.size(), kLookedAtMax);
  for (std::size_t i = 0; i < count; ++i) some.push_back(all[i * all.size() / count]);
  FOOTNOTE_TRY(const auto codes, stores.chunks().passage_codes(call, corpus.id, some));
  const auto others = std::ranges::count_if(codes, [&](const PassageCodes& each) { return each.form != 0 && each.form != form; });
  const auto missing = std::ranges::count_if(codes, [](const PassageCodes& each) { return each.form == 0; });
  if (others == 0 && missing == 0) return {};
  check.health = cli::Health::kNote;
  check.detail +=
      fmt::format("; of {} passages looked at, {}{}{}, so their tokens are not compared", count,
                  missing == 0 ? "" : fmt::format("{} have no token codes", missing), missing == 0 || others == 0 ? "" : " and ",
                  others == 0 ? "" : fmt::format("{} have token codes in another format than the current one", others));
  check.fix = fmt::format("run `footnote rebuild-index {}` to make them{}", corpus.name,
                          others == 0 ? "" : ", or set late.codes and late.drop_frequent as they were");
  check.facts["codes_of_another_form"] = others;
  check.facts["codes_missing"] = missing;
  return {};
}

/// Says what was measured for the corpus's gate, if anything was.
void note_calibration(const Corpus& corpus, cli::Check& check) {
  if (!corpus.gate || corpus.gate->embedder != corpus.space.model_id) return;
  check.detail += corpus.gate->automatic ? fmt::format("; scales of its models fitted over {} passages", corpus.gate->passages)
                                         : fmt::format("; gate set to {:.4f} by `footnote calibrate`", corpus.gate->evidence_min);
  check.facts["gate"] = corpus.gate->automatic ? "automatic" : "calibrated";
}

/// Counts a corpus and checks that its indexes reach the store's generation.
cli::Check check_corpus(const CallContext& call, upkeep::Stores& stores, const Corpus& corpus, const IndexFacts& facts) {
  const std::string name = fmt::format("corpus {}", corpus.name);
  const auto counts = stores.chunks().counts(call, corpus.id);
  if (!counts) return broken(name, counts.error());
  const auto reached = facts.reach(call, stores, corpus);
  if (!reached) return broken(name, reached.error());
  cli::Check check{
      name,
      cli::Health::kOk,
      fmt::format("{} documents, {} chunks, generation {}, indexes at {}, model {}", counts->documents, counts->chunks, corpus.generation,
                  *reached, corpus.space.model_id),
      {},
      {{"documents", counts->documents}, {"chunks", counts->chunks}, {"generation", corpus.generation}, {"index_generation", *reached}}};
  note_calibration(corpus, check);
  const std::string& model = facts.model;
  if (!model.empty() && corpus.space.model_id != model && upkeep::may_be_embedded(corpus)) {
    check.health = cli::Health::kBroken;
    check.fix = fmt::format("the configured model is {}; run `footnote rebuild-index {}` to embed this corpus by it, or set MODEL_NAME={}",
                            model, corpus.name, corpus.space.model_id);
  } else if (facts.code_form != 0 && corpus.space.model_id == model) {
    if (const auto checked = check_codes(call, stores, corpus, facts.code_form, check); !checked) return broken(name, checked.error());
  }
  if (*reached != corpus.generation) {
    check.health = cli::Health::kBroken;
    check.fix = "the indexes do not reach the store's state; please report it";
  }
  return check;
}

/// Checks whether the index files are usable; unusable files do no harm, because the next start rebuilds them.
cli::Check check_index_files(const CallContext& call, upkeep::Stores& stores, const Corpus& corpus) {
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  LocalCodeIndex codes(stores.chunks());
  const upkeep::IndexFiles files(stores.folder().path(), stores.chunks(), {});
  cli::Check check{fmt::format("indexes {}", corpus.name), cli::Health::kOk, {}, {}, {}};
  bool all_loaded = true;
  const auto look = [&](std::string_view name, SavedIndex& index) {
    auto loaded = files.load_one(call, corpus, index);
    if (const auto checked = loaded ? index.check(corpus.id) : Result<void>{}; !checked) loaded = std::unexpected(checked.error());
    std::string state = "none saved";
    if (loaded) {
      state = fmt::format("sound, at generation {}", loaded->generation);
    } else if (loaded.error().code != ErrorCode::kNotFound) {
      state = loaded.error().message;
      check.health = cli::Health::kNote;
      check.fix = "none needed: the next start rebuilds it; `footnote rebuild-index` does it now";
    }
    check.detail += fmt::format("{}{}: {}", check.detail.empty() ? "" : "; ", name, state);
    check.facts[name] = state;
    all_loaded &= loaded.has_value();
  };
  look("vectors", vectors);
  look("keywords", keywords);
  const bool holds_rows = all_loaded;
  look("codes", codes);
  if (!holds_rows) return check;  // Rebuilt from the store.
  ingest::IndexSync sync(stores.chunks(), {&vectors, &keywords}, stores.clock());
  if (const auto reached = sync.sync(call, corpus.id); !reached) return broken(check.name, reached.error());
  const auto hold = [&](std::string_view name, const SavedIndex& index) {
    const auto differences = upkeep::compare_with_store(call, stores.chunks(), index, corpus.id);
    const std::string state = differences ? upkeep::describe(*differences) : differences.error().message;
    check.facts[fmt::format("{}_rows", name)] = state;
    if (differences && differences->total() == 0) return;
    check.detail += fmt::format("; {} against the store: {}", name, state);
    check.health = cli::Health::kNote;
    check.fix = "none needed: the next start rebuilds it; `footnote rebuild-index` does it now";
  };
  hold("vectors", vectors);
  hold("keywords", keywords);
  return check;
}

/// Builds indexes from scratch and drops them.
Result<Generation> build_fresh_indexes(const CallContext& call, upkeep::Stores& stores, const Corpus& corpus) {
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  return ingest::IndexSync(stores.chunks(), {&vectors, &keywords}, stores.clock()).sync(call, corpus.id);
}

/// Checks the server that holds the folder.
cli::Check check_server(const CallContext& call, cli::Link& link) {
  const auto ready = link.get(call.narrowed(std::chrono::seconds{5}), "/readyz");
  const std::string url(link.server_url());
  if (!ready) return broken("server", ready.error(), fmt::format("look at the log of the server at {}, or restart it", url));
  return {
      "server", cli::Health::kOk, fmt::format("{} has the data folder, is ready, and made these checks of it", url), {}, {{"url", url}}};
}

/// The check for a folder without a store.
cli::Check check_empty(const Settings& settings) {
  std::error_code ignored;
  const auto path = settings.path(Setting::kData);
  if (std::filesystem::exists(path, ignored) && ::access(path.c_str(), W_OK | X_OK) != 0) {
    return broken("store", {ErrorCode::kPermissionDenied, fmt::format("{} may not be written in", path.string()), {}},
                  std::string(kMakeWritable));
  }
  return {"store",
          cli::Health::kNote,
          fmt::format("nothing is indexed in {} yet", path.string()),
          fmt::format("run `footnote ingest PATH{}`", data_flag(settings)),
          {}};
}

}  // namespace

IndexFacts configured_index_facts(const Settings& settings) {
  IndexFacts out{.model = configured_model(settings), .code_form = 0, .reach = build_fresh_indexes};
  if (!models::embeds_elsewhere(settings)) {
    const auto embedder = open_local_embedder(settings);  // Its errors are reported by another check.
    if (embedder) out.code_form = (*embedder)->code_form();
  }
  return out;
}

std::vector<cli::Check> check_stores(const CallContext& call, upkeep::Stores& stores, WorkspaceId workspace, const IndexFacts& facts) {
  std::vector<cli::Check> checks{check_bytes(call, stores)};
  const auto corpora = stores.catalog().corpora(call, workspace);
  if (!corpora) {
    checks.push_back(broken("corpora", corpora.error()));
    return checks;
  }
  for (const Corpus& corpus : *corpora) {
    checks.push_back(check_corpus(call, stores, corpus, facts));
    checks.push_back(check_index_files(call, stores, corpus));
  }
  return checks;
}

std::vector<cli::Check> check_data(const cli::CommandContext& context) {
  std::error_code ignored;
  const auto path = context.settings.path(Setting::kData);
  if (!std::filesystem::exists(path / kStoreFile, ignored)) return {check_empty(context.settings)};
  if (const auto access = access_folder(context.settings, Missing::kRefuse); !access) {
    const bool held = access.error().code == ErrorCode::kFailedPrecondition;
    return {broken("store", access.error(), held ? "wait for that process to end, or stop it" : fix_of(access.error()))};
  }
  const auto link = open_link(context, {});
  if (!link) return {broken("store", link.error(), fix_of(link.error()))};
  std::vector<cli::Check> checks;
  if (!(*link)->server_url().empty()) {
    checks.push_back(check_server(context.call, **link));
    if (checks.back().health == cli::Health::kBroken) return checks;
  }
  const auto found = (*link)->get(context.call, "/api/admin/checks");
  if (!found) checks.push_back(broken("store", found.error(), fix_of(found.error())));
  if (found) {
    for (const Json& check : array_at(*found, "checks")) checks.push_back(cli::parse_check(check));
  }
  return checks;
}

}  // namespace footnote::app
