#include "app/server_parts.h"

#include "access/key_text.h"
#include "app/calibrate.h"
#include "app/store_checks.h"
#include "cli/command_line.h"

namespace footnote::app {

Result<std::unique_ptr<ServerParts>> ServerParts::open(const CallContext& call, const Settings& settings, DataFolder folder,
                                                       ServerOptions options) {
  Opened opened;
  FOOTNOTE_TRY(opened.parts, AnswerParts::open(call, settings, std::move(folder), std::move(options.answer)));
  IngestParts& base = opened.parts->base();
  opened.owner_token = access::make_owner_text();
  const access::KeysOptions limits{.requests_per_minute = settings.integer(Setting::kServerRequestsPerMinute),
                                   .requests_per_minute_max = settings.integer(Setting::kKeysRequestsPerMinuteMax),
                                   .active_keys_max = static_cast<std::size_t>(settings.integer(Setting::kKeysPerWorkspace))};
  FOOTNOTE_TRY(opened.keys, access::Keys::open(call, base.catalog(), base.clock(), opened.owner_token, limits));
  FOOTNOTE_TRY(opened.points, PointsDoor::open(call, settings, base, options.notes));
  FOOTNOTE_TRY(opened.proxy, ProxyDoor::open(settings, *opened.parts));
  FOOTNOTE_TRY(opened.visitors, VisitorDoor::open(call, settings, *opened.parts, *opened.keys));
  FOOTNOTE_TRY(opened.web, WebDoor::open(settings, *opened.parts));
  FOOTNOTE_TRY(opened.sources, SourceDoor::open(settings, base, opened.web == nullptr ? nullptr : &opened.web->crawler()));
  opened.projects = std::make_unique<ProjectDoor>(settings, *opened.parts);
  return std::unique_ptr<ServerParts>(new ServerParts(std::move(opened), settings));
}

ServerParts::ServerParts(Opened opened, const Settings& settings)
    : parts_(std::move(opened.parts)),
      owner_token_(std::move(opened.owner_token)),
      keys_(std::move(opened.keys)),
      points_(std::move(opened.points)),
      proxy_(std::move(opened.proxy)),
      visitors_(std::move(opened.visitors)),
      web_(std::move(opened.web)),
      sources_(std::move(opened.sources)),
      kb_(settings, *parts_),
      projects_(std::move(opened.projects)),
      secrets_(settings.text(Setting::kIngestSecrets) == "allow" ? ingest::Secrets::kAllow : ingest::Secrets::kKeepOut),
      upkeep_(settings, *parts_, *points_, *keys_) {}

api::Services ServerParts::services(std::vector<std::string> example_questions) {
  IngestParts& base = parts_->base();
  return {.answers = parts_->answers(),
          .retriever = parts_->retriever(),
          .corpora = parts_->corpora(),
          .ingestor = base.ingestor(),
          .catalog = base.catalog(),
          .chunks = base.chunks(),
          .conversations = base.stores().conversations(),
          .embedder = base.embedder(),
          .reranker = parts_->rerankers().provided.port.get(),
          .points = points_->services(),
          .memories = points_->memories(),
          .keys = *keys_,
          .metrics = base.metrics(),
          .clock = base.clock(),
          .home = base.workspace(),
          .version = std::string(cli::version()),
          .not_ready_reasons = [this] { return upkeep_.not_ready_reasons(); },
          .refresh_metrics = [this](const CallContext& call) { upkeep_.refresh_metrics(call); },
          .secrets = secrets_,
          .originals = sources_->originals(),
          .example_questions = std::move(example_questions),
          .rebuilds = &upkeep_.rebuilder(),
          .check_store = [this](const CallContext& call, WorkspaceId workspace) { return check_store(call, workspace); },
          .calibration =
              api::CalibrateServices{
                  .catalog = base.catalog(),
                  .corpora = parts_->corpora(),
                  .calibrate = [this](const CallContext& call, const Corpus& corpus, double rate,
                                      const api::OnQuestion& on_question) { return calibrate(call, *parts_, corpus, rate, on_question); }},
          .proxy = proxy_->services(),
          .copy_store = [this](const CallContext& call) { return upkeep_.copies().make(call); },
          .agents = visitors_->agent_services(),
          .widget = visitors_->widget_services(),
          .kb_profile = kb_.profile(),
          .mentions_boost = kb_.mentions_boost(),
          .chats = kb_.services(),
          .jobs = sources_->job_services(),
          .sources = sources_->source_services(),
          .uploads = sources_->upload_services(),
          .projects = projects_->services(),
          .web = web_ == nullptr ? std::nullopt : std::optional(web_->services(secrets_))};
}

std::vector<api::Check> ServerParts::check_store(const CallContext& call, WorkspaceId workspace) {
  IngestParts& base = parts_->base();
  const auto reach = [&base](const CallContext& within, upkeep::Stores&, const Corpus& corpus) {
    return base.sync().sync(within, corpus.id);
  };
  return check_stores(call, base.stores(), workspace, {base.embedder().space().model_id, base.embedder().code_form(), reach});
}

}  // namespace footnote::app
