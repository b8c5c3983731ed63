#include "api/conversation_routes.h"

#include <map>

#include "api/live_reply.h"
#include "api/ui_message_stream.h"
#include "base/ids.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::api {

namespace {

using access::Caller;

constexpr std::size_t kProjectBytesMax = 200;
constexpr std::size_t kAfterBytesMax = 200;

ConversationId id_in_path(const http::Request& request) { return {std::string(request.param("id"))}; }

JsonObject render_summary(const Chat& chat) {
  return {{"id", chat.id.value},
          {"title", chat.title},
          {"project_keys", JsonArray(chat.project_keys.begin(), chat.project_keys.end())},
          {"created_at", to_rfc3339(chat.created_at)},
          {"updated_at", to_rfc3339(chat.updated_at)},
          {"messages", chat.messages}};
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json render_feedback(const ChatNode& node) {
  if (!node.feedback) return nullptr;
  return JsonObject{{"rating", to_string(node.feedback->rating)}, {"comment", node.feedback->reason}};
}

/// `turn` is null for a user's message, and where the turn is no longer stored.
JsonObject render_message(const ChatNode& node, const Turn* turn, CitedTexts& texts) {
  JsonObject out{{"id", node.id},
                 {"parent_id", text_or_null(node.parent)},
                 {"role", to_string(node.role)},
                 {"text", node.text},
                 {"created_at", to_rfc3339(node.created_at)},
                 {"turn_id", text_or_null(node.turn.value)},
                 {"citations", JsonArray{}},
                 {"confidence", nullptr},
                 {"refusal_reason", nullptr},
                 {"meta", nullptr},
                 {"feedback", render_feedback(node)}};
  if (const auto meta = parse_json(node.meta); meta && meta->is_object()) {
    out["meta"] = *meta;
    if (const Json* reason = meta->get_object().if_contains("refusal_reason")) out["refusal_reason"] = *reason;
  }
  if (turn == nullptr) return out;
  if (const auto* answer = std::get_if<Answer>(&turn->outcome)) {
    out["citations"] = render_cited_passages(*answer, texts);
    out["confidence"] = percent(answer->confidence);
  } else if (const auto* refusal = std::get_if<Refusal>(&turn->outcome)) {
    out["refusal_reason"] = to_string(refusal->reason);
  }
  out["partial"] = turn->state == TurnState::kPartial;
  return out;
}

/// The conversation with all its messages.
Result<JsonObject> render_whole(const ConversationServices& services, const Chat& chat, const CallContext& call) {
  FOOTNOTE_TRY(const auto nodes, services.chats.messages(call, chat.workspace, chat.id));
  FOOTNOTE_TRY(const auto turns, services.conversations.history(call, chat.workspace, chat.id, kChatMessagesMax));
  std::map<TurnId, const Turn*> by_id;
  for (const Turn& turn : turns) by_id.emplace(turn.id, &turn);
  CitedTexts texts(call, services.chunks, chat.workspace);
  JsonArray messages;
  for (const ChatNode& node : nodes) {
    const auto turn = by_id.find(node.turn);
    messages.push_back(render_message(node, turn == by_id.end() ? nullptr : turn->second, texts));
  }
  JsonObject out = render_summary(chat);
  out["active_leaf"] = text_or_null(chat.active_leaf);
  out["messages"] = std::move(messages);
  return out;
}

/// Checks a title from a client.
Result<std::string> checked_title(std::string_view title) {
  const std::string folded = fold_spaces(title);
  if (!folded.empty() && count_code_points(folded) <= kChatTitleCharsMax) return folded;
  return fail_field(ErrorCode::kInvalidArgument, "title", "'title' must have 1 to {} characters", kChatTitleCharsMax);
}

Result<http::Response> list(const ConversationServices& services, const Caller& caller, const http::Request& request,
                            const CallContext& call) {
  const auto limit = parse_whole_number(request.query_value("limit").value_or(std::to_string(kChatsPageDefault)));
  if (!limit || *limit < 1 || *limit > kChatsPageMax) {
    return fail_field(ErrorCode::kInvalidArgument, "limit", "'limit' is from 1 to {}", kChatsPageMax);
  }
  const std::string_view search = trim(request.query_value("search").value_or(""));
  const std::string_view after = request.query_value("after").value_or("");
  if (search.size() > kChatSearchBytesMax) {
    return fail_field(ErrorCode::kInvalidArgument, "search", "'search' has at most {} bytes", kChatSearchBytesMax);
  }
  if (after.size() > kAfterBytesMax) {
    return fail_field(ErrorCode::kInvalidArgument, "after", "'after' must be the 'next' of the page before");
  }
  FOOTNOTE_TRY(const ChatPage page, services.chats.chats(call, {.workspace = caller.workspace,
                                                                .owner = owner_of(caller),
                                                                .search = std::string(search),
                                                                .after = std::string(after),
                                                                .limit = static_cast<std::size_t>(*limit)}));
  JsonArray out;
  for (const Chat& chat : page.chats) out.push_back(render_summary(chat));
  return http::Response::json(200, JsonObject{{"conversations", std::move(out)}, {"next", text_or_null(page.next)}});
}

Result<http::Response> create(const ConversationServices& services, const Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(trim(request.body).empty() ? "{}" : std::string_view(request.body)));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"title", "project_keys"}));
  FOOTNOTE_TRY(const auto title, reader.optional_string("title", 4 * kChatTitleCharsMax));
  FOOTNOTE_TRY(const auto keys, reader.optional_strings("project_keys", kChatProjectsMax, kProjectBytesMax));
  Chat chat{.id = {"conv_" + random_base62(22)}, .workspace = caller.workspace, .owner = owner_of(caller)};
  if (title) {
    FOOTNOTE_TRY(chat.title, checked_title(*title));
  }
  if (keys) chat.project_keys = *keys;
  chat.created_at = chat.updated_at = services.clock.now();
  FOOTNOTE_CHECK(services.chats.create_chat(call, chat));
  FOOTNOTE_TRY(const JsonObject whole, render_whole(services, chat, call));
  return http::Response::json(201, whole);
}

Result<http::Response> read(const ConversationServices& services, const Caller& caller, const http::Request& request,
                            const CallContext& call) {
  FOOTNOTE_TRY(const Chat chat, visible_chat(services, caller, id_in_path(request), call));
  FOOTNOTE_TRY(const JsonObject whole, render_whole(services, chat, call));
  return http::Response::json(200, whole);
}

Result<http::Response> change(const ConversationServices& services, const Caller& caller, const http::Request& request,
                              const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"title", "active_leaf"}));
  ChatChange wanted;
  FOOTNOTE_TRY(const auto title, reader.optional_string("title", 4 * kChatTitleCharsMax));
  if (title) {
    FOOTNOTE_TRY(wanted.title, checked_title(*title));
  }
  FOOTNOTE_TRY(wanted.active_leaf, reader.optional_string("active_leaf", kChatIdBytesMax));
  FOOTNOTE_TRY(const Chat chat, visible_chat(services, caller, id_in_path(request), call));
  FOOTNOTE_TRY(const Chat changed, services.chats.change_chat(call, caller.workspace, chat.id, wanted));
  JsonObject out = render_summary(changed);
  out["active_leaf"] = text_or_null(changed.active_leaf);
  return http::Response::json(200, out);
}

/// A running answer would otherwise be stored after the conversation is gone.
void stop_streams(const ConversationServices& services, const Caller& caller, const ConversationId& id) {
  for (const auto& stream : services.streams.running(stream_scope(caller.workspace, id))) stream->stop();
}

Result<http::Response> erase(const ConversationServices& services, const Caller& caller, const http::Request& request,
                             const CallContext& call) {
  FOOTNOTE_TRY(const Chat chat, visible_chat(services, caller, id_in_path(request), call));
  stop_streams(services, caller, chat.id);
  FOOTNOTE_CHECK(services.chats.erase_chat(call, caller.workspace, chat.id));
  return http::Response{.status = 204, .headers = {}, .body = {}};
}

Result<http::Response> stop(const ConversationServices& services, const Caller& caller, const http::Request& request,
                            const CallContext& call) {
  FOOTNOTE_TRY(const Chat chat, visible_chat(services, caller, id_in_path(request), call));
  stop_streams(services, caller, chat.id);
  return http::Response{.status = 204, .headers = {}, .body = {}};
}

/// The branch that is shown, as a document for people.
std::string to_markdown(const Chat& chat, const std::vector<ChatNode>& path, const std::map<TurnId, const Turn*>& turns) {
  std::string out = fmt::format("# {}\n\n", chat.title.empty() ? "Conversation" : chat.title);
  for (const ChatNode& node : path) {
    out += fmt::format("## {}\n\n{}\n\n", node.role == MessageRole::kUser ? "Question" : "Answer", trim(node.text));
    const auto turn = turns.find(node.turn);
    const auto* answer = turn == turns.end() ? nullptr : std::get_if<Answer>(&turn->second->outcome);
    if (answer == nullptr) continue;
    std::string sources;
    for (const SourceBlock& block : answer->sources) {
      const auto is_cited = [&](const Citation& citation) { return citation.number == block.number; };
      if (std::ranges::none_of(answer->citations, is_cited)) continue;
      const std::string& address = block.hit.document.url.empty() ? block.hit.document_key : block.hit.document.url;
      sources += fmt::format("- [{}] {} ({})\n", block.number, block.hit.document.title, address);
    }
    if (!sources.empty()) out += "Sources:\n\n" + sources + "\n";
  }
  return out;
}

Result<http::Response> export_chat(const ConversationServices& services, const Caller& caller, const http::Request& request,
                                   const CallContext& call) {
  const std::string_view format = request.query_value("format").value_or("markdown");
  if (format != "markdown" && format != "json") {
    return fail_field(ErrorCode::kInvalidArgument, "format", "'format' is markdown or json");
  }
  FOOTNOTE_TRY(const Chat chat, visible_chat(services, caller, id_in_path(request), call));
  http::Response response;
  if (format == "json") {
    FOOTNOTE_TRY(const JsonObject whole, render_whole(services, chat, call));
    response = http::Response::json(200, whole);
  } else {
    std::vector<ChatNode> path;
    if (!chat.active_leaf.empty()) {
      FOOTNOTE_TRY(path, services.chats.path(call, chat.workspace, chat.id, chat.active_leaf, kChatMessagesMax));
    }
    FOOTNOTE_TRY(const auto turns, services.conversations.history(call, chat.workspace, chat.id, kChatMessagesMax));
    std::map<TurnId, const Turn*> by_id;
    for (const Turn& turn : turns) by_id.emplace(turn.id, &turn);
    response = http::Response::text(200, "text/markdown; charset=utf-8", to_markdown(chat, path, by_id));
  }
  response.headers.set("content-disposition", fmt::format("attachment; filename=\"conversation.{}\"", format == "json" ? "json" : "md"));
  return response;
}

/// Replays a running answer from its first chunk. 204: nothing runs, or the answer is too long to replay: the conversation has it.
void resume(const ConversationServices& services, const Caller& caller, const http::Request& request, const CallContext& call,
            http::ResponseStream& response) {
  const ConversationId id = id_in_path(request);
  const auto chat = visible_chat(services, caller, id, call);
  if (!chat && chat.error().code != ErrorCode::kNotFound) return response.reply(render_error(chat.error()));
  const auto running = chat ? services.streams.running(stream_scope(caller.workspace, id)) : std::vector<std::shared_ptr<LiveStream>>{};
  if (running.empty() || running.back()->after(0, std::chrono::milliseconds{0}).lost) {
    return response.reply({.status = 204, .headers = {}, .body = {}});
  }
  replay(call, running.back(), 0, response, ui_stream_headers());
}

}  // namespace

std::vector<Route> make_conversation_routes(const ConversationServices& services) {
  using http::Method;
  const Access read_access = Access::with(KeyScope::kRead);
  const StreamHandler resumed = [services](const Caller& caller, const http::Request& request, const CallContext& call,
                                           http::ResponseStream& response) { resume(services, caller, request, call, response); };
  const auto row = [&](Method method, std::string pattern, auto function, std::string summary) {
    return Route{.access = read_access,
                 .method = method,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .summary = std::move(summary)};
  };
  std::vector<Route> out{
      row(Method::kGet, "/api/kb/conversations", list, "The caller's conversations, last changed first"),
      row(Method::kPost, "/api/kb/conversations", create, "Start a conversation"),
      row(Method::kGet, "/api/kb/conversations/{id}", read, "A conversation with its tree of messages"),
      row(Method::kPatch, "/api/kb/conversations/{id}", change, "Rename a conversation, or choose the branch that is shown"),
      row(Method::kDelete, "/api/kb/conversations/{id}", erase, "Delete a conversation with its turns"),
      row(Method::kGet, "/api/kb/conversations/{id}/export", export_chat, "A conversation as Markdown or JSON"),
      row(Method::kPost, "/api/kb/conversations/{id}/stop", stop, "Stop the answer that is being written"),
  };
  out.push_back({.access = read_access,
                 .method = Method::kGet,
                 .pattern = "/api/kb/chat/stream/{id}/stream",
                 .handler = resumed,
                 .lane = http::Lane::kWaitingWorker,
                 .timeout = std::chrono::minutes{3},
                 .summary = "Resume a conversation's running answer; 204 if none runs"});
  return out;
}

}  // namespace footnote::api
