#include "api/kb_feedback_routes.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "retrieve/retriever.h"

namespace footnote::api {

namespace {

using access::Caller;

constexpr std::size_t kWordBytesMax = 200;
constexpr std::size_t kCommentBytesMax = 4 * kFeedbackCharsMax;
constexpr std::size_t kCaseAnswersMax = 20;
constexpr std::size_t kCaseAnswerBytesMax = 2'000;
constexpr std::size_t kGapProjectsMax = 50;

TurnId turn_in_path(const http::Request& request) { return {std::string(request.param("id"))}; }

Result<http::Response> rate(const ConversationServices& services, const Caller& caller, const http::Request& request,
                            const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"rating", "comment"}));
  FOOTNOTE_TRY(const auto name, reader.optional_string("rating", kWordBytesMax));
  FOOTNOTE_TRY(const auto comment, reader.optional_string("comment", kCommentBytesMax));
  std::optional<Feedback> feedback;
  if (name) {
    const auto rating = parse_rating(*name);
    if (!rating) return fail_field(ErrorCode::kInvalidArgument, "rating", "'rating' is up, down or null");
    feedback = Feedback{*rating, comment.value_or("")};
    if (!check_feedback(*feedback)) {
      return fail_field(ErrorCode::kInvalidArgument, "comment", "'comment' must have at most {} characters", kFeedbackCharsMax);
    }
  }
  FOOTNOTE_TRY(const Turn turn, visible_turn(services, caller, turn_in_path(request), call));
  FOOTNOTE_CHECK(services.chats.rate(call, caller.workspace, turn.id, feedback));
  return http::Response::json(200, JsonObject{{"turn_id", turn.id.value},
                                              {"rating", feedback ? Json(to_string(feedback->rating)) : Json(nullptr)},
                                              {"comment", feedback ? Json(feedback->reason) : Json(nullptr)}});
}

/// The paths of the documents that the answer cites, each once.
std::vector<std::string> cited_documents(const Turn& turn) {
  std::vector<std::string> out;
  const auto* answer = std::get_if<Answer>(&turn.outcome);
  if (answer == nullptr) return out;
  for (const Citation& citation : answer->citations) {
    const auto block = std::ranges::find(answer->sources, citation.number, &SourceBlock::number);
    if (block == answer->sources.end() || citation.support == Support::kUnsupported) continue;
    if (std::ranges::find(out, block->hit.document_key) == out.end()) out.push_back(block->hit.document_key);
  }
  return out;
}

/// One line of the JSONL that `footnote eval` reads.
JsonObject render_case(const EvalCase& made, std::string_view project_key) {
  return {{"id", fmt::format("case-{}", made.id)},
          {"question", made.question},
          {"documents", JsonArray(made.document_keys.begin(), made.document_keys.end())},
          {"answers", JsonArray(made.answers.begin(), made.answers.end())},
          {"answerable", made.answerable},
          {"project_key", project_key},
          {"turn_id", made.turn.value},
          {"created_at", to_rfc3339(made.created_at)}};
}

Result<http::Response> make_case(const ConversationServices& services, const Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(trim(request.body).empty() ? "{}" : std::string_view(request.body)));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"answerable", "documents", "answers"}));
  FOOTNOTE_TRY(const auto answerable, reader.optional_bool("answerable"));
  FOOTNOTE_TRY(const auto documents, reader.optional_strings("documents", kCaseAnswersMax, kCaseAnswerBytesMax));
  FOOTNOTE_TRY(const auto answers, reader.optional_strings("answers", kCaseAnswersMax, kCaseAnswerBytesMax));
  FOOTNOTE_TRY(const Turn turn, visible_turn(services, caller, turn_in_path(request), call));
  EvalCase made{.workspace = caller.workspace,
                .corpus = turn.corpus,
                .turn = turn.id,
                .question = turn.question,
                .answerable = answerable.value_or(std::holds_alternative<Answer>(turn.outcome)),
                .created_at = services.clock.now()};
  if (made.answerable) made.document_keys = documents ? *documents : cited_documents(turn);
  if (made.answerable && answers) made.answers = *answers;
  FOOTNOTE_TRY(made.id, services.chats.put_eval_case(call, made));
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.corpus(call, turn.corpus));
  return http::Response::json(201, render_case(made, corpus.name));
}

/// The names of the workspace's corpora.
Result<std::map<CorpusId, std::string>> corpus_names(const ConversationServices& services, const Caller& caller, const CallContext& call) {
  FOOTNOTE_TRY(const auto corpora, services.catalog.corpora(call, caller.workspace));
  std::map<CorpusId, std::string> out;
  for (const Corpus& corpus : corpora) out.emplace(corpus.id, corpus.name);
  return out;
}

Result<http::Response> list_cases(const ConversationServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  const auto project = request.query_value("project_key");
  FOOTNOTE_TRY(const auto names, corpus_names(services, caller, call));
  FOOTNOTE_TRY(const auto cases, services.chats.eval_cases(call, caller.workspace, 0, kEvalCasesMax));
  std::string lines;
  for (const EvalCase& made : cases) {
    const auto name = names.find(made.corpus);
    if (name == names.end() || (project && name->second != *project)) continue;
    lines += to_text(render_case(made, name->second)) + "\n";
  }
  return http::Response::text(200, "application/jsonl; charset=utf-8", std::move(lines));
}

JsonObject render_gap(const Gap& gap, const std::map<CorpusId, std::string>& names) {
  const auto name = names.find(gap.corpus);
  return {{"id", gap.id.value},
          {"project_key", name == names.end() ? Json(nullptr) : Json(name->second)},
          {"question", gap.question},
          {"reason", to_string(gap.reason)},
          {"occurrences", gap.occurrences},
          {"first_seen_at", to_rfc3339(gap.first_seen_at)},
          {"last_seen_at", to_rfc3339(gap.last_seen_at)},
          {"resolved_at", gap.resolved_at ? Json(to_rfc3339(*gap.resolved_at)) : Json(nullptr)}};
}

Result<GapQuery> gap_query(const Caller& caller, const http::Request& request, const std::map<CorpusId, std::string>& names,
                           bool& names_unknown) {
  GapQuery query{.workspace = caller.workspace, .limit = kGapsPageDefault};
  std::size_t named = 0;
  for (const auto& [field, value] : request.query) {
    if (field == "project_keys[]" || field == "project_keys") {
      if (++named > kGapProjectsMax) {
        return fail_field(ErrorCode::kInvalidArgument, "project_keys", "'project_keys' has at most {} entries", kGapProjectsMax);
      }
      const auto found = std::ranges::find(names, value, [](const auto& entry) { return entry.second; });
      if (found != names.end()) query.corpora.push_back(found->first);
    } else if (field == "reason" && !value.empty()) {
      query.reason = parse_gap_reason(value);
      if (!query.reason) return fail_field(ErrorCode::kInvalidArgument, "reason", "'{}' is not a reason of a gap", value);
    } else if (field == "include_resolved") {
      query.include_resolved = value == "1" || value == "true";
    } else if (field == "per_page") {
      const auto count = parse_whole_number(value);
      if (!count || *count < 1 || *count > static_cast<std::int64_t>(kGapsPageMax)) {
        return fail_field(ErrorCode::kInvalidArgument, "per_page", "'per_page' is from 1 to {}", kGapsPageMax);
      }
      query.limit = static_cast<std::size_t>(*count);
    } else {
      return fail_field(ErrorCode::kInvalidArgument, field, "'{}' is unknown here", field);
    }
  }
  names_unknown = named > 0 && query.corpora.empty();
  return query;
}

Result<http::Response> list_gaps(const ConversationServices& services, const Caller& caller, const http::Request& request,
                                 const CallContext& call) {
  FOOTNOTE_TRY(const auto names, corpus_names(services, caller, call));
  bool names_unknown = false;
  FOOTNOTE_TRY(const GapQuery query, gap_query(caller, request, names, names_unknown));
  std::vector<Gap> gaps;
  if (!names_unknown) {
    FOOTNOTE_TRY(gaps, services.conversations.content_gaps(call, query));
  }
  JsonArray out;
  for (const Gap& gap : gaps) out.push_back(render_gap(gap, names));
  return http::Response::json(200, JsonObject{{"gaps", std::move(out)}});
}

Result<http::Response> resolve_gap(const ConversationServices& services, const Caller& caller, const http::Request& request,
                                   const CallContext& call) {
  const auto id = parse_whole_number(request.param("id"));
  if (!id) return fail(ErrorCode::kNotFound, "there is no gap '{}'", request.param("id"));
  FOOTNOTE_TRY(const Gap gap, services.conversations.resolve_gap(call, caller.workspace, {*id}, services.clock.now()));
  FOOTNOTE_TRY(const auto names, corpus_names(services, caller, call));
  return http::Response::json(200, render_gap(gap, names));
}

Result<http::Response> report_gap(const ConversationServices& services, const Caller& caller, const http::Request& request,
                                  const CallContext& call) {
  FOOTNOTE_TRY(const Json body, parse_request_json(request.body));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(body));
  FOOTNOTE_CHECK(reader.only({"question", "project_key"}));
  FOOTNOTE_TRY(const std::string question, reader.required_string("question", retrieve::kQuestionBytesMax));
  if (trim(question).empty()) return fail_field(ErrorCode::kInvalidArgument, "question", "'question' must not be empty");
  FOOTNOTE_TRY(const auto project, reader.optional_string("project_key", kWordBytesMax));
  FOOTNOTE_TRY(const Corpus corpus, services.catalog.find_corpus(call, caller.workspace, project.value_or(std::string(kDefaultCorpus))));
  FOOTNOTE_TRY(const Gap gap, services.conversations.report_gap(call, caller.workspace, corpus.id, trim(question), GapReason::kReported,
                                                                services.clock.now()));
  return http::Response::json(201, render_gap(gap, {{corpus.id, corpus.name}}));
}

}  // namespace

std::vector<Route> make_kb_feedback_routes(const ConversationServices& services) {
  using http::Method;
  const auto row = [&](KeyScope scope, Method method, std::string pattern, auto function, std::string summary) {
    return Route{.access = Access::with(scope),
                 .method = method,
                 .pattern = std::move(pattern),
                 .handler = bind(services, function),
                 .summary = std::move(summary)};
  };
  return {
      row(KeyScope::kRead, Method::kPost, "/api/kb/turns/{id}/feedback", rate, "Rate an answer, or take a rating back"),
      row(KeyScope::kRead, Method::kPost, "/api/kb/turns/{id}/eval-case", make_case, "Make a labelled eval case of a turn"),
      row(KeyScope::kAdmin, Method::kGet, "/api/kb/eval-cases", list_cases, "The eval cases, as JSON lines for `footnote eval`"),
      row(KeyScope::kRead, Method::kPost, "/api/kb/gaps", report_gap, "Say that a question should be answered"),
      row(KeyScope::kAdmin, Method::kGet, "/api/admin/kb/content-gaps", list_gaps,
          "Questions that the corpora did not answer, most frequent first"),
      row(KeyScope::kAdmin, Method::kPatch, "/api/admin/kb/content-gaps/{id}/resolve", resolve_gap, "Mark a gap as resolved"),
  };
}

}  // namespace footnote::api
