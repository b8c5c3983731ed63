#include "app/open_link.h"

#include "access/key_text.h"
#include "api/admin_routes.h"
#include "api/authentication.h"
#include "api/check_routes.h"
#include "api/library_routes.h"
#include "api/rebuild_routes.h"
#include "api/snapshot_routes.h"
#include "app/embedder_opener.h"
#include "app/server_parts.h"
#include "app/store_checks.h"
#include "base/log.h"
#include "upkeep/store_copies.h"
#include "upkeep/stores.h"

namespace footnote::app {
namespace {

/// Rebuilds indexes that are not being searched.
struct RebuildParts {
  RebuildParts(upkeep::Stores& stores, const Settings& settings, Metrics& metrics)
      : codes(stores.chunks(), upkeep::code_file_bytes(settings)),
        sync(stores.chunks(), {&vectors, &keywords}, stores.clock()),
        files(stores.folder().path(), stores.chunks(), saved(settings)),
        rebuilder({stores, nullptr, vectors, keywords, codes, sync, files}, embedder_opener(settings, metrics)) {}
  std::vector<SavedIndex*> saved(const Settings& settings) {
    std::vector<SavedIndex*> out{&vectors, &keywords};
    if (upkeep::code_file_bytes(settings) > 0) out.push_back(&codes);
    return out;
  }

  LocalVectorStore vectors;
  LocalKeywordIndex keywords;
  LocalCodeIndex codes;
  ingest::IndexSync sync;
  upkeep::IndexFiles files;
  upkeep::IndexRebuilder rebuilder;
};

/// Owns what the routes without a model borrow.
struct StoreParts {
  std::string token = access::make_owner_text();
  Metrics metrics;
  std::unique_ptr<upkeep::Stores> stores;
  std::unique_ptr<access::Keys> keys;
  std::optional<upkeep::StoreCopies> copies;
  std::optional<RebuildParts> rebuilds;
};

std::vector<http::Route> store_routes(StoreParts& parts, const Settings& settings) {
  upkeep::Stores& stores = *parts.stores;
  const api::AuthServices auth{*parts.keys, stores.catalog(), stores.workspace(), parts.metrics};
  std::vector<http::Route> out;
  for (auto& routes : {api::make_admin_routes({*parts.keys, stores.catalog()}),
                       api::make_library_routes({stores.catalog(), stores.chunks(), stores.conversations()}),
                       api::make_snapshot_routes([&](const CallContext& call) { return parts.copies->make(call); }),
                       api::make_rebuild_routes(parts.rebuilds->rebuilder),
                       api::make_check_routes([&stores, settings](const CallContext& call, WorkspaceId workspace) {
                         return check_stores(call, stores, workspace, configured_index_facts(settings));
                       })}) {
    for (const api::Route& route : routes) out.push_back(api::guarded(auth, route));
  }
  return out;
}

Result<std::unique_ptr<cli::Link>> open_store(const cli::CommandContext& context, DataFolder folder, const std::string& workspace) {
  const CallContext& call = context.call;
  const auto parts = std::make_shared<StoreParts>();
  FOOTNOTE_TRY(parts->stores, upkeep::Stores::open(call, std::move(folder), workspace));
  upkeep::Stores& stores = *parts->stores;
  FOOTNOTE_TRY(parts->keys, access::Keys::open(call, stores.catalog(), stores.clock(), parts->token));
  parts->copies.emplace(stores.folder().path(), stores.store());
  parts->copies->tidy();
  parts->rebuilds.emplace(stores, context.settings, parts->metrics);
  return cli::RouterLink::open(store_routes(*parts, context.settings), {parts->token, workspace}, parts);
}

/// Everything, with a server's periodic upkeep.
struct AllParts {
  ~AllParts() {
    if (is_writer) purge();
  }
  /// The indexes are left alone, so only the store is purged.
  void purge() const {
    IngestParts& base = parts->base();
    const auto corpora = upkeep::all_corpora(call, base.catalog());
    for (const Corpus& corpus : corpora.value_or(std::vector<Corpus>{})) {
      const auto purged = base.chunks().purge(call, corpus.id, base.clock().now() - ingest::kPurgeGrace);
      if (!purged) log(LogLevel::kWarn, "app", "purge failed", {{"error", purged.error().message}});
    }
  }

  const CallContext call;
  const bool is_writer;
  const std::unique_ptr<ServerParts> parts;
};

Result<std::unique_ptr<cli::Link>> open_all(const cli::CommandContext& context, DataFolder folder, Needs needs) {
  const bool indexes = needs == Needs::kIndexes;
  FOOTNOTE_TRY(auto parts, ServerParts::open(context.call, context.settings, std::move(folder),
                                             {.answer = {.ingest = {.indexes = indexes ? Indexes::kOn : Indexes::kOff}}}));
  if (indexes) FOOTNOTE_CHECK(parts->base().build_indexes(context.call, context.terminal));
  auto routes = api::make_routes(parts->services({}));
  const cli::LinkCaller caller{parts->owner_token(), context.settings.text(Setting::kWorkspace)};
  return cli::RouterLink::open(std::move(routes), caller, std::make_shared<AllParts>(context.call, !indexes, std::move(parts)));
}

}  // namespace

Result<std::unique_ptr<cli::Link>> open_link(const cli::CommandContext& context, const LinkOptions& options) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, options.missing));
  const std::string workspace(options.workspace.empty() ? context.settings.text(Setting::kWorkspace) : options.workspace);
  if (const auto* server = std::get_if<HeldByServer>(&access)) {
    return std::make_unique<cli::ServerLink>(server->url, cli::LinkCaller{server->token, workspace});
  }
  auto& folder = std::get<DataFolder>(access);
  if (options.needs == Needs::kStore) return open_store(context, std::move(folder), workspace);
  return open_all(context, std::move(folder), options.needs);
}

}  // namespace footnote::app
