#include "api/widget_wire.h"

#include <algorithm>

#include "answer/visitor_turn.h"
#include "api/code_points.h"
#include "base/page_url.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::api {

namespace {

constexpr std::size_t kIdBytesMax = 200;
constexpr std::size_t kLocaleBytesMax = 35;
constexpr std::size_t kTokenBytesMax = 8 << 10;

std::string text_of(const JsonObject& object, std::string_view name) {
  const Json* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

std::vector<std::string> texts_of(const JsonObject& object, std::string_view name) {
  std::vector<std::string> out;
  const Json* value = object.if_contains(name);
  if (value == nullptr || !value->is_array()) return out;
  for (const Json& each : value->as_array()) {
    if (each.is_string()) out.emplace_back(each.as_string());
  }
  return out;
}

/// JSON-LD is sent as a text or as JSON.
std::string json_ld_of(const JsonObject& object) {
  const Json* value = object.if_contains("json_ld");
  if (value == nullptr || value->is_null()) return "";
  return value->is_string() ? std::string(value->as_string()) : to_text(*value);
}

answer::PageContext page_of(const JsonObject& object) {
  answer::PageContext page{.url = canonical_url(text_of(object, "url")).value_or(""),
                           .title = text_of(object, "title"),
                           .description = text_of(object, "description"),
                           .og = {},
                           .json_ld = json_ld_of(object),
                           .h1 = texts_of(object, "h1"),
                           .h2 = texts_of(object, "h2"),
                           .visible_text = text_of(object, "visible_text")};
  const Json* og = object.if_contains("og");
  if (og == nullptr || !og->is_object()) return page;
  for (const auto& entry : og->as_object()) {
    std::string_view name(entry.key().data(), entry.key().size());
    if (name.starts_with("og:")) name.remove_prefix(3);
    if (entry.value().is_string()) page.og.emplace_back(name, std::string(entry.value().as_string()));
  }
  return page;
}

/// "https://a.shop.example" is a sub-domain of "https://*.shop.example".
bool is_sub_domain(std::string_view origin, std::string_view pattern) {
  const std::size_t star = pattern.find("://*.");
  if (star == std::string_view::npos) return false;
  const std::string_view scheme = pattern.substr(0, star + 3);
  const std::string_view tail = pattern.substr(star + 4);  // ".shop.example"
  if (!origin.starts_with(scheme) || !origin.ends_with(tail) || origin.size() <= scheme.size() + tail.size()) return false;
  const std::string_view name = origin.substr(scheme.size(), origin.size() - scheme.size() - tail.size());
  return std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
}

std::string web_address(const Hit& hit) { return canonical_url(hit.document.url) ? hit.document.url : ""; }

int rank_of(Support support) { return support == Support::kSupported ? 2 : support == Support::kUnsupported ? 1 : 0; }

/// The best-supported citation of one source.
const Citation* best_citation(const Answer& answer, int number) {
  const Citation* best = nullptr;
  const auto rank = [](const Citation& citation) { return 2 * rank_of(citation.support) + (citation.support_range ? 1 : 0); };
  for (const Citation& citation : answer.citations) {
    if (citation.number == number && (best == nullptr || rank(citation) > rank(*best))) best = &citation;
  }
  return best;
}

std::string_view text_of_outcome(const Outcome& outcome) {
  return std::visit([](const auto& each) -> std::string_view { return each.text; }, outcome);
}

std::string_view outcome_name(const Turn& turn) {
  if (turn.state == TurnState::kPartial) return "stopped";
  if (turn.visit && turn.visit->curated) return "curated";
  const auto* refusal = std::get_if<Refusal>(&turn.outcome);
  if (refusal == nullptr) return "answer";
  const bool declined = turn.visit && std::ranges::find(turn.visit->flags, answer::kFlagAvoidedTopic) != turn.visit->flags.end();
  return declined ? "declined" : "unknown";
}

}  // namespace

http::Response render(const WidgetError& error) {
  return http::Response::json(error.status, JsonObject{{"error", JsonObject{{"code", error.code}, {"message", error.message}}}});
}

Result<InitRequest> parse_init(const http::Request& request) {
  FOOTNOTE_TRY(const Json value, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader body, JsonReader::of(value));
  InitRequest out;
  FOOTNOTE_TRY(out.agent.value, body.required_string("agent_id", kIdBytesMax));
  FOOTNOTE_TRY(const auto page, body.optional_string("page_url", 4 * kPageUrlBytesMax));
  FOOTNOTE_TRY(const auto locale, body.optional_string("locale", kLocaleBytesMax));
  FOOTNOTE_TRY(const auto token, body.optional_string("token", kTokenBytesMax));
  FOOTNOTE_TRY(const auto playground, body.optional_bool("playground"));
  out.page_url = canonical_url(page.value_or("")).value_or("");
  out.locale = locale.value_or("");
  out.token = token.value_or("");
  out.playground = playground.value_or(false);
  return out;
}

Result<MessageRequest> parse_message(const http::Request& request) {
  FOOTNOTE_TRY(const Json value, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader body, JsonReader::of(value));
  FOOTNOTE_TRY(const std::string text, body.required_string("message", 4 * kVisitorMessageCharsMax + 1'024));
  MessageRequest out;
  out.text = std::string(trim(text));
  if (out.text.empty()) return fail_field(ErrorCode::kInvalidArgument, "message", "the message is empty");
  if (count_code_points(out.text) > kVisitorMessageCharsMax) {
    return fail_field(ErrorCode::kInvalidArgument, "message", "the message is over the limit of {} characters", kVisitorMessageCharsMax);
  }
  FOOTNOTE_TRY(const auto page_url, body.optional_string("page_url", 4 * kPageUrlBytesMax));
  out.page_url = canonical_url(page_url.value_or("")).value_or("");
  const Json* page = value.as_object().if_contains("page_context");
  if (page == nullptr || !page->is_object()) return out;
  out.page_was_dropped = to_text(*page).size() > answer::kPageContextBytesMax;
  if (!out.page_was_dropped) out.page = page_of(page->as_object());
  if (out.page && out.page_url.empty()) out.page_url = out.page->url;
  return out;
}

bool is_allowed_origin(const std::vector<std::string>& allowed, std::string_view origin, std::string_view host) {
  const std::string wanted = to_lower_ascii(origin);
  if (wanted.empty() || wanted == "null") return false;
  if (allowed.empty()) {
    const std::size_t scheme = wanted.find("://");
    return scheme != std::string::npos && !host.empty() && std::string_view(wanted).substr(scheme + 3) == to_lower_ascii(host);
  }
  return std::ranges::any_of(allowed, [&](const std::string& entry) {
    const std::string pattern = to_lower_ascii(entry);
    return wanted == pattern || is_sub_domain(wanted, pattern);
  });
}

JsonArray render_visitor_citations(const Answer& answer, CitedTexts& texts) {
  JsonArray out;
  for (const SourceBlock& block : answer.sources) {
    const Citation* citation = best_citation(answer, block.number);
    if (citation == nullptr) continue;
    JsonObject entry{
        {"id", block.number}, {"url", web_address(block.hit)},          {"title", block.hit.document.title}, {"start", nullptr},
        {"end", nullptr},     {"support", to_string(citation->support)}};
    // The page read by the widget is not stored: its text is the block's.
    const bool is_stored = static_cast<bool>(citation->document);
    const std::string* text = is_stored ? texts.text(citation->document, citation->document_version) : &block.hit.chunk.text;
    if (citation->support_range && text != nullptr && citation->support_range->end <= text->size()) {
      const TextRange range = CodePointOffsets(*text).range(*citation->support_range);
      entry["start"] = range.begin;
      entry["end"] = range.end;
    }
    out.push_back(std::move(entry));
  }
  return out;
}

JsonArray render_messages(const std::vector<Turn>& turns, CitedTexts& texts) {
  JsonArray out;
  for (const Turn& turn : turns) {
    out.push_back(JsonObject{
        {"role", "user"}, {"message_id", turn.id.value}, {"content", turn.question}, {"citations", JsonArray{}}, {"feedback", nullptr}});
    const auto* answer = std::get_if<Answer>(&turn.outcome);
    const bool rated = turn.visit && turn.visit->feedback;
    out.push_back(JsonObject{{"role", "assistant"},
                             {"message_id", turn.id.value},
                             {"content", text_of_outcome(turn.outcome)},
                             {"citations", answer == nullptr ? JsonArray{} : render_visitor_citations(*answer, texts)},
                             {"feedback", rated ? Json(footnote::to_string(turn.visit->feedback->rating)) : Json(nullptr)}});
  }
  return out;
}

JsonObject render_agent(const PublishedAgent& agent, std::string_view language) {
  const AgentSettings& settings = agent.settings;
  return {{"id", agent.id.value},
          {"name", agent.name},
          {"persona", JsonObject{{"name", settings.persona.name}}},
          {"theme", JsonObject{{"accent", settings.theme.accent},
                               {"accent_text", settings.theme.accent_text},
                               {"position", settings.theme.position == WidgetPosition::kLeft ? "left" : "right"},
                               {"title", settings.theme.title},
                               {"logo_url", settings.theme.logo_url}}},
          {"starter_prompts", JsonArray(settings.starter_prompts.begin(), settings.starter_prompts.end())},
          {"language", language}};
}

JsonObject render_done(const answer::TurnReport& report) {
  const Turn& turn = report.turn;
  const Visit visit = turn.visit.value_or(Visit{});
  JsonObject out{{"event", "done"},
                 {"conversation_id", turn.conversation.value},
                 {"message_id", turn.id.value},
                 {"confidence", visit.confidence},
                 {"low_confidence", visit.low_confidence},
                 {"latency_ms", turn.latency.count()},
                 {"outcome", outcome_name(turn)}};
  if (report.fallback) out["fallback"] = answer::to_string(*report.fallback);
  if (!visit.flags.empty()) out["reasons"] = JsonArray(visit.flags.begin(), visit.flags.end());
  if (std::ranges::find(visit.flags, answer::kFlagTruncated) != visit.flags.end()) out["truncated"] = true;
  return out;
}

JsonObject render_stream_error(const Error& error) {
  std::string_view code = "stream_failed";
  std::string_view message = "Something went wrong. Please try again.";
  switch (error.code) {
    case ErrorCode::kUnavailable:
      code = "llm_failed";
      message = "The answer could not be written. Please try again.";
      break;
    case ErrorCode::kDeadlineExceeded:
      code = "timeout";
      message = "The answer took too long. Please try again.";
      break;
    case ErrorCode::kResourceExhausted:
      code = "overloaded";
      message = "The server is busy right now. Please try again in a moment.";
      break;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnsupported:
    case ErrorCode::kStorageFull:
    case ErrorCode::kCancelled:
    case ErrorCode::kCorrupted:
    case ErrorCode::kInternal: break;
  }
  return {{"event", "error"}, {"code", code}, {"message", message}};
}

}  // namespace footnote::api
