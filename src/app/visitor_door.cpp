#include "app/visitor_door.h"

#include "providers/local/local_cache.h"
#include "providers/redis/redis_cache.h"

namespace footnote::app {
namespace {

/// A Redis that is down is reported on first use, and may come up later.
Result<std::unique_ptr<Cache>> open_cache(const Settings& settings, const Clock& clock, Metrics& metrics) {
  if (settings.text(Setting::kCacheProvider) == "memory") {
    return std::make_unique<LocalCache>(clock, static_cast<std::size_t>(settings.integer(Setting::kCacheMemory)) << 20);
  }
  FOOTNOTE_TRY(RedisAddress address, parse_redis_url(settings.text(Setting::kCacheRedisUrl)));
  return std::make_unique<RedisCache>(std::move(address), RedisCacheOptions{}, &metrics);
}

}  // namespace

Result<std::unique_ptr<VisitorDoor>> VisitorDoor::open(const CallContext& call, const Settings& settings, AnswerParts& parts,
                                                       access::Keys& keys) {
  FOOTNOTE_TRY(auto cache, open_cache(settings, parts.base().clock(), parts.base().metrics()));
  FOOTNOTE_TRY(const std::string secret, parts.base().catalog().key_pepper(call));
  return std::unique_ptr<VisitorDoor>(new VisitorDoor(std::move(cache), secret, settings, parts, keys));
}

VisitorDoor::VisitorDoor(std::unique_ptr<Cache> cache, std::string_view secret, const Settings& settings, AnswerParts& parts,
                         access::Keys& keys)
    : parts_(parts),
      keys_(keys),
      cache_(std::move(cache)),
      retriever_({.retriever = parts.retriever(),
                  .vectors = parts.base().vectors(),
                  .keywords = parts.base().keywords(),
                  .chunks = parts.base().chunks(),
                  .cache = cache_.get(),
                  .model = parts.base().embedder().space().model_id,
                  .judge = parts.corpora().models().judge}),
      visitors_({.retriever = retriever_,
                 .reader = parts.reader(),
                 .model_reader = parts.model_reader(),
                 .llm = parts.llm(),
                 .judge = parts.rerankers().for_ranking(),
                 .conversations = parts.base().stores().conversations(),
                 .agents = parts.base().stores().agents(),
                 .cache = cache_.get(),
                 .clock = parts.base().clock(),
                 .metrics = &parts.base().metrics(),
                 .checking = parts.checking(),
                 .judge_timeout = settings.duration(Setting::kJudgeTimeout),
                 .events = &parts.events(),
                 .follow_ups = parts.follow_ups(),
                 .embedder = &parts.base().embedder()}),
      door_(secret, api::LiveStreams::Options{.resume_grace = settings.duration(Setting::kStreamResumeGrace)}) {}

api::AgentServices VisitorDoor::agent_services() {
  upkeep::Stores& stores = parts_.base().stores();
  return {.agents = stores.agents(),
          .conversations = stores.conversations(),
          .webhooks = stores.webhooks(),
          .catalog = stores.catalog(),
          .embedder = parts_.base().embedder(),
          .cache = *cache_};
}

api::WidgetServices VisitorDoor::widget_services() {
  upkeep::Stores& stores = parts_.base().stores();
  return {.visitors = visitors_,
          .agents = stores.agents(),
          .conversations = stores.conversations(),
          .catalog = stores.catalog(),
          .chunks = stores.chunks(),
          .asked = parts_.corpora(),
          .keys = keys_,
          .door = door_,
          .clock = stores.clock(),
          .home = stores.workspace()};
}

}  // namespace footnote::app
