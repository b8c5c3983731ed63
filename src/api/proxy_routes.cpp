#include "api/proxy_routes.h"

#include <set>

#include "api/chunk_sink.h"
#include "api/error_mapping.h"
#include "api/grounded_chat.h"
#include "api/responses_wire.h"

namespace footnote::api {

namespace {

using access::Caller;

/// Prompts with images are long.
constexpr std::size_t kChatBodyBytesMax = 32 << 20;
/// A stream may last long: silence ends it (llm.timeout).
constexpr std::chrono::hours kChatTimeout{1};

Error leads_back() {
  return {ErrorCode::kFailedPrecondition, "the upstream leads back here: set LLM_BASE_URL to the model server's own address", {}};
}

void hand_on(const ProxyServices& services, const Caller& caller, const http::Request& request, std::string_view path,
             std::string_view model, http::ResponseStream& response) {
  if (!services.upstream) return response.reply(render_openai_error(no_such_model(model)));
  relay(*services.upstream, upstream_request(*services.upstream, caller, request, path, request.body, AnswerUse::kPassThrough), response);
}

void chat_completions(const ProxyServices& services, const Caller& caller, const http::Request& request, const CallContext& call,
                      http::ResponseStream& response) {
  const auto ask = parse_chat_ask(request.body);
  if (!ask) return response.reply(render_openai_error(ask.error()));
  const proxy::Target target = proxy::resolve_model(services.chats.policy(), ask->model);
  if (const auto fits = check_stream(ask->body); !fits && target.kind != proxy::Target::Kind::kOther) {
    return response.reply(render_openai_error(fits.error()));
  }
  const GroundedChat chat{services, caller, request, call, *ask, target};
  switch (target.kind) {
    case proxy::Target::Kind::kOther: return hand_on(services, caller, request, "/chat/completions", ask->model, response);
    case proxy::Target::Kind::kGrounded:
      if (!ask->stream) return answer_whole(chat, response);
      break;
    case proxy::Target::Kind::kBuiltIn:
      if (!ask->stream) return answer_chunks(chat, std::make_unique<WholeCompletion>(response), response);
      break;
  }
  answer_chunks(chat, std::make_unique<ChunkEvents>(response), response);
}

void responses(const ProxyServices& services, const Caller& caller, const http::Request& request, const CallContext& call,
               http::ResponseStream& response) {
  const auto ask = parse_chat_ask(request.body);
  if (!ask) return response.reply(render_openai_error(ask.error()));
  const proxy::Target target = proxy::resolve_model(services.chats.policy(), ask->model);
  if (target.kind == proxy::Target::Kind::kOther) {
    return hand_on(services, caller, request, "/responses", ask->model, response);
  }
  if (const auto fits = check_stream(ask->body); !fits) return response.reply(render_openai_error(fits.error()));
  const auto as_chat = chat_of_response_ask(*ask);
  if (!as_chat) return response.reply(render_openai_error(as_chat.error()));
  const GroundedChat chat{services, caller, request, call, *as_chat, target};
  if (ask->stream) {
    answer_chunks(chat, std::make_unique<ResponseEvents>(response, ask->model), response);
  } else {
    answer_chunks(chat, std::make_unique<WholeResponse>(response, ask->model), response);
  }
}

JsonObject model_entry(std::string_view id, std::string_view owner) {
  return {{"id", id}, {"object", "model"}, {"created", 0}, {"owned_by", owner}};
}

/// The upstream's models as it lists them, then a grounded variant of each, then our own.
class ModelList {
 public:
  void add_upstream(const JsonArray& models) {
    std::vector<std::string> names;
    for (const Json& model : models) {
      const JsonObject* object = model.if_object();
      const Json* id = object == nullptr ? nullptr : object->if_contains("id");
      if (id == nullptr || !id->is_string()) continue;
      names.emplace_back(id->get_string());
      put(names.back(), *object);
    }
    for (const std::string& name : names) {
      if (!name.starts_with(proxy::kGroundedPrefix)) add(proxy::grounded_name(name), "footnote");
    }
  }
  void add(const std::string& name, std::string_view owner) { put(name, model_entry(name, owner)); }

  const Json* find(std::string_view name) const {
    for (const Json& model : models_) {
      if (std::string_view(model.at("id").get_string()) == name) return &model;
    }
    return nullptr;
  }
  JsonObject render() const { return {{"object", "list"}, {"data", models_}}; }

 private:
  void put(const std::string& name, JsonObject entry) {
    if (names_.insert(name).second) models_.push_back(std::move(entry));
  }
  std::set<std::string> names_;
  JsonArray models_;
};

std::expected<ModelList, http::Response> list_models(const ProxyServices& services, const Caller& caller, const http::Request& request,
                                                     const CallContext& call) {
  ModelList out;
  if (came_from_here(request)) return std::unexpected(render_openai_error(leads_back()));
  if (services.upstream) {
    const auto answer =
        services.upstream->client.fetch(call, upstream_request(*services.upstream, caller, request, "/models", {}, AnswerUse::kRead));
    if (!answer) return std::unexpected(render_openai_error(upstream_failure(answer.error())));
    if (answer->status != 200) return std::unexpected(error_answer(answer->status, answer->headers, answer->body));
    const auto listed = parse_json(answer->body);
    const JsonObject* object = listed ? listed->if_object() : nullptr;
    const Json* models = object == nullptr ? nullptr : object->if_contains("data");
    if (models == nullptr || !models->is_array()) {
      return std::unexpected(render_openai_error(upstream_failure({ErrorCode::kUnavailable, "its list of models is invalid", {}})));
    }
    out.add_upstream(models->get_array());
    for (const auto& [name, rule] : services.chats.policy().rules) out.add(std::string(proxy::kGroundedPrefix) + name, "footnote");
  }
  out.add(std::string(proxy::kGroundedPrefix) + std::string(proxy::kBuiltInName), "footnote");
  out.add(services.embedder.space().model_id, "footnote");
  return out;
}

Result<http::Response> models(const ProxyServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  const auto list = list_models(services, caller, request, call);
  return list ? http::Response::json(200, list->render()) : list.error();
}

Result<http::Response> model(const ProxyServices& services, const Caller& caller, const http::Request& request, const CallContext& call) {
  const auto list = list_models(services, caller, request, call);
  if (!list) return list.error();
  const Json* found = list->find(request.param("id"));
  if (found == nullptr) return fail(ErrorCode::kNotFound, "the model '{}' does not exist", request.param("id"));
  return http::Response::json(200, *found);
}

}  // namespace

std::vector<Route> make_proxy_routes(const ProxyServices& services) {
  const auto post = [&](std::string pattern, auto* function, std::string summary) {
    return Route{.access = Access::with(KeyScope::kRead),
                 .method = http::Method::kPost,
                 .pattern = std::move(pattern),
                 .handler = StreamHandler([services, function](const Caller& caller, const http::Request& request, const CallContext& call,
                                                               http::ResponseStream& response) {
                   if (came_from_here(request)) return response.reply(render_openai_error(leads_back()));
                   function(services, caller, request, call, response);
                 }),
                 .lane = http::Lane::kWaitingWorker,
                 .body_bytes_max = kChatBodyBytesMax,
                 .timeout = kChatTimeout,
                 .summary = std::move(summary),
                 .error_form = render_openai_error};
  };
  const auto get = [&](std::string pattern, auto* function, std::string summary) {
    return Route{.access = Access::with(KeyScope::kRead),
                 .method = http::Method::kGet,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .summary = std::move(summary),
                 .error_form = render_openai_error};
  };
  return {post("/v1/chat/completions", chat_completions, "A chat completion, in OpenAI's form; rag/ models answer from the store"),
          post("/v1/responses", responses, "A response, in OpenAI's form; rag/ models answer from the store"),
          get("/v1/models", models, "The available models, in OpenAI's format"), get("/v1/models/{id...}", model, "One model")};
}

}  // namespace footnote::api
