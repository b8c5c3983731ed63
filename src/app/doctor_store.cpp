#include "app/doctor.h"
#include "app/folder_access.h"
#include "app/server_link.h"
#include "ingest/index_sync.h"
#include "providers/local/local_keyword_index.h"
#include "providers/local/local_vector_store.h"
#include "providers/sqlite/migrations.h"

namespace footnote::app {
namespace {

constexpr std::size_t kFindingsShownMax = 20;

Check broken(std::string name, const Error& error, std::string fix = {}) {
  return {std::move(name), Health::kBroken, error.message, std::move(fix), {{"code", to_string(error.code)}}};
}

Check check_bytes(const CallContext& call, Stores& stores) {
  const auto findings = stores.store().check(call);
  if (!findings) return broken("store", findings.error());
  Check check{"store",
              Health::kOk,
              fmt::format("schema {}, {} sound", newest_schema(), stores.folder().path().string()),
              {},
              {{"schema", newest_schema()}, {"findings", findings->size()}}};
  if (findings->empty()) return check;
  check.health = Health::kBroken;
  check.detail = fmt::format("{} findings", findings->size());
  for (std::size_t i = 0; i < std::min(findings->size(), kFindingsShownMax); ++i) {
    check.detail += fmt::format("; {}: {}", (*findings)[i].check, (*findings)[i].detail);
  }
  check.fix = "restore a copy of the data folder, or move it away and ingest again";
  return check;
}

/// Counts a corpus and builds its indexes from nothing: they must reach the store's generation.
Check check_corpus(const CallContext& call, Stores& stores, const Corpus& corpus, const std::string& model) {
  const std::string name = fmt::format("corpus {}", corpus.name);
  const auto counts = stores.chunks().counts(call, corpus.id);
  if (!counts) return broken(name, counts.error());
  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  ingest::IndexSync sync(stores.chunks(), {&vectors, &keywords}, stores.clock());
  const auto reached = sync.sync(call, corpus.id);
  if (!reached) return broken(name, reached.error());
  Check check{
      name,
      Health::kOk,
      fmt::format("{} documents, {} chunks, generation {}, indexes at {}, model {}", counts->documents, counts->chunks, corpus.generation,
                  *reached, corpus.space.model_id),
      {},
      {{"documents", counts->documents}, {"chunks", counts->chunks}, {"generation", corpus.generation}, {"index_generation", *reached}}};
  if (corpus.space.model_id != model) {
    check.health = Health::kBroken;
    check.fix = fmt::format("the configured model is {}; set MODEL_NAME={} to ask this corpus", model, corpus.space.model_id);
  }
  if (*reached != corpus.generation) {
    check.health = Health::kBroken;
    check.fix = "the indexes do not reach the store's state; please report it";
  }
  return check;
}

Check check_server(const CallContext& call, const Settings& settings, const HeldByServer& server) {
  ServerLink link(server, settings.text(Setting::kWorkspace));
  const auto ready = link.get(call.narrowed(std::chrono::seconds{5}), "/readyz");
  Check check{
      "store",
      Health::kOk,
      fmt::format("the server at {} (process {}) has the data folder and is ready; stop it to check the bytes", server.url, server.pid),
      {},
      {{"server", server.url}, {"pid", server.pid}}};
  if (ready) return check;
  check.health = Health::kBroken;
  check.detail = fmt::format("the server at {} (process {}) is not ready: {}", server.url, server.pid, ready.error().message);
  check.fix = "look at its log, or restart it";
  return check;
}

}  // namespace

std::vector<Check> check_store(const CallContext& call, const Settings& settings) {
  std::error_code ignored;
  const auto path = settings.path(Setting::kData);
  if (!std::filesystem::exists(path / kStoreFile, ignored)) {
    return {{"store", Health::kNote, fmt::format("nothing is indexed in {} yet", path.string()), "run `footnote ingest PATH`", {}}};
  }
  auto access = access_folder(settings, Missing::kRefuse);
  if (!access) return {broken("store", access.error(), "wait for that process to end, or stop it")};
  if (const auto* server = std::get_if<HeldByServer>(&*access)) return {check_server(call, settings, *server)};
  auto stores = Stores::open(call, std::get<DataFolder>(*std::move(access)), settings.text(Setting::kWorkspace));
  if (!stores) return {broken("store", stores.error())};
  std::vector<Check> checks{check_bytes(call, **stores)};
  const auto corpora = (*stores)->catalog().corpora(call, (*stores)->workspace());
  if (!corpora) {
    checks.push_back(broken("corpora", corpora.error()));
    return checks;
  }
  for (const Corpus& corpus : *corpora) checks.push_back(check_corpus(call, **stores, corpus, settings.text(Setting::kModelsName)));
  return checks;
}

}  // namespace footnote::app
