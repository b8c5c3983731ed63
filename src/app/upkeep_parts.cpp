#include "app/upkeep_parts.h"

#include "app/calibrate.h"
#include "app/embedder_opener.h"
#include "base/contained.h"
#include "base/log.h"
#include "base/mutex.h"
#include "retrieve/score_model.h"
#include "upkeep/readiness.h"
#include "upkeep/retention.h"

namespace footnote::app {
namespace {

constexpr std::chrono::seconds kMaintenanceEvery{60};
constexpr std::chrono::seconds kUsageSaveMax{5};

}  // namespace

UpkeepParts::UpkeepParts(const Settings& settings, AnswerParts& parts, PointsDoor& points, access::Keys& keys)
    : parts_(parts),
      base_(parts.base()),
      points_(points),
      keys_(keys),
      chat_days_(static_cast<int>(settings.integer(Setting::kKbChatDays))),
      graphs_on_(settings.text(Setting::kIndexGraph) == "auto"),
      scales_on_(settings.flag(Setting::kCalibrateAutomatic)),
      webhook_addresses_(settings.flag(Setting::kWebhookPrivateAddresses) ? http::Addresses::kAny : http::Addresses::kPublic),
      free_bytes_min_(static_cast<std::uint64_t>(settings.integer(Setting::kServerFreeDisk)) << 20),
      lag_({&base_.vectors(), &base_.keywords()}, base_.clock(), base_.metrics()),
      rebuilder_({base_.stores(), &base_.embedder(), base_.vectors(), base_.keywords(), base_.codes(), base_.sync(), base_.index_files()},
                 embedder_opener(settings, base_.metrics())),
      copies_(base_.folder().path(), base_.stores().store()) {}

UpkeepParts::~UpkeepParts() { stop_maintenance(); }

void UpkeepParts::start_maintenance() {
  maintenance_ = std::jthread([this](const std::stop_token& stop) { maintain(stop); });
  if (graphs_on_) graphs_.emplace(upkeep::GraphKeeper::Ports{base_.catalog(), base_.vectors(), base_.index_files()});
  if (scales_on_) start_scales();
}

/// The scales of built-in models are known: nothing is fitted for them.
void UpkeepParts::start_scales() {
  const retrieve::QuestionModels models = parts_.corpora().models();
  if (retrieve::policy_for(models.space.model_id, models.code_model, models.judge).calibrated) return;
  scales_.emplace(
      upkeep::ScaleFit::Ports{.catalog = base_.catalog(),
                              .chunks = base_.chunks(),
                              .judge = models.judge,
                              .can_ask = [this](const Corpus& corpus) { return corpus.space == base_.embedder().space(); },
                              .fit = [this](const CallContext& call, const Corpus& corpus) { return fit_scales(call, parts_, corpus); }});
}

void UpkeepParts::stop_maintenance() {
  if (!maintenance_.joinable()) return;
  graphs_.reset();
  scales_.reset();
  maintenance_.request_stop();
  maintenance_.join();
  save_key_usage();
  mark_clock();
}

std::vector<std::string> UpkeepParts::not_ready_reasons() const { return upkeep::not_ready_reasons(base_.stores(), free_bytes_min_); }

void UpkeepParts::refresh_metrics(const CallContext& call) {
  if (const auto corpora = upkeep::all_corpora(call, base_.catalog())) lag_.refresh(call, *corpora);
}

Result<bool> UpkeepParts::would_answer(const CallContext& call, const AgentSettings& settings, std::string_view question) const {
  for (const CorpusId id : settings.corpora) {
    FOOTNOTE_TRY(const Corpus corpus, base_.catalog().corpus(call, id));
    FOOTNOTE_TRY(const Profile profile, parts_.corpora().asked_as(corpus, kAskProfile, retrieve::OtherModel::kWordsAlone));
    FOOTNOTE_TRY(const auto retrieval, parts_.retriever().retrieve(call, id, question, {.profile = profile, .filter = {}}));
    if (retrieval.gate.grounded && retrieval.gate.confidence >= settings.confidence_threshold.value_or(0)) return true;
  }
  return false;
}

void UpkeepParts::start_agent_work() {
  after_ingest_ = std::make_unique<upkeep::AfterIngest>(
      upkeep::AfterIngest::Ports{.agents = base_.stores().agents(),
                                 .conversations = base_.stores().conversations(),
                                 .webhooks = base_.stores().webhooks(),
                                 .clock = base_.stores().clock(),
                                 .would_answer = [this](const CallContext& call, WorkspaceId, const AgentSettings& settings,
                                                        std::string_view question) { return would_answer(call, settings, question); }});
  base_.ingestor().on_change([this](const Corpus& corpus) { after_ingest_->changed(corpus); });
  const upkeep::WebhookSender::Ports ports{.webhooks = base_.stores().webhooks(),
                                           .conversations = base_.stores().conversations(),
                                           .catalog = base_.catalog(),
                                           .clock = base_.stores().clock(),
                                           .metrics = base_.metrics()};
  webhooks_ = std::make_unique<upkeep::WebhookSender>(ports, upkeep::WebhookSender::Options{.addresses = webhook_addresses_});
  webhooks_->start();
}

void UpkeepParts::maintain(const std::stop_token& stop) {
  Mutex mutex;
  CondVar changed;
  const std::stop_callback wake(stop, [&] {
    MutexLock lock(mutex);
    changed.notify_all();
  });
  while (true) {
    const auto until = std::chrono::steady_clock::now() + kMaintenanceEvery;
    {
      MutexLock lock(mutex);
      while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) changed.wait_until(lock, until);
    }
    if (stop.stop_requested()) return;
    contained("app", "removing expired notes", [&] { sweep_memories(stop); });
    contained("app", "deleting old turns", [&] { erase_old_turns(stop); });
    contained("app", "purging", [&] { purge_all(stop); });
    contained("app", "saving when keys were used", [&] { save_key_usage(); });
    contained("app", "recording the time", [&] { mark_clock(); });
  }
}

void UpkeepParts::sweep_memories(const std::stop_token& stop) {
  CallContext call;
  call.stop = stop;
  const auto removed = points_.memories().sweep(call);
  if (!removed && removed.error().code != ErrorCode::kCancelled) {
    log(LogLevel::kWarn, "app", "could not remove expired notes", {{"error", removed.error().message}});
  }
}

/// Erases visitors' turns past their agent's retention.
void UpkeepParts::erase_old_turns(const std::stop_token& stop) {
  CallContext call;
  call.stop = stop;
  const auto erased =
      upkeep::erase_expired_turns(call, base_.catalog(), base_.stores().agents(), base_.stores().conversations(), base_.clock().now());
  if (!erased && erased.error().code != ErrorCode::kCancelled) {
    log(LogLevel::kWarn, "app", "could not delete old turns", {{"error", erased.error().message}});
  }
  const auto chats = upkeep::erase_old_chats(call, base_.stores().chats(), base_.clock().now(), chat_days_);
  if (!chats && chats.error().code != ErrorCode::kCancelled) {
    log(LogLevel::kWarn, "app", "could not delete old conversations", {{"error", chats.error().message}});
  }
}

void UpkeepParts::purge_all(const std::stop_token& stop) {
  CallContext call;
  call.stop = stop;
  const auto corpora = upkeep::all_corpora(call, base_.catalog());
  if (!corpora) return log(LogLevel::kWarn, "app", "maintenance failed", {{"error", corpora.error().message}});
  for (const Corpus& corpus : *corpora) {
    base_.index_files().drop_damaged(call, corpus);
    const auto purged = base_.sync().purge(call, corpus.id);
    if (!purged && purged.error().code != ErrorCode::kCancelled) {
      log(LogLevel::kWarn, "app", "purge failed", {{"corpus", corpus.name}, {"error", purged.error().message}});
    }
    base_.index_files().save(call, corpus, upkeep::IndexFiles::When::kInBackground);
  }
}

void UpkeepParts::mark_clock() {
  if (const auto marked = base_.stores().mark_clock(); !marked) {
    log(LogLevel::kWarn, "app", "could not record the current time", {{"error", marked.error().message}});
  }
}

void UpkeepParts::save_key_usage() {
  const auto saved = keys_.save_usage(CallContext::with_timeout(kUsageSaveMax));
  if (!saved) log(LogLevel::kWarn, "app", "could not save when keys were last used", {{"error", saved.error().message}});
}

}  // namespace footnote::app
