#include <algorithm>

#include "app/commands.h"
#include "app/open_link.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/answer_collector.h"
#include "cli/render_answer.h"
#include "cli/render_search.h"

namespace footnote::app {
namespace {

Result<void> check_text(std::string_view what, const std::string& text) {
  if (!is_valid_utf8(text)) return fail(ErrorCode::kInvalidArgument, "the {} is not valid UTF-8", what);
  if (trim(text).empty()) return fail(ErrorCode::kInvalidArgument, "the {} is empty", what);
  return {};
}

/// NAME=VALUE arguments as the "filters" field of a body. The route validates names and values.
Result<JsonObject> filters_of(const cli::FilterArguments& arguments) {
  constexpr std::string_view kSingle[] = {"date_from", "date_to", "min_evidence_tier", "evidence_tier_min"};
  JsonObject out;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) return fail(ErrorCode::kInvalidArgument, "--filter {}: expected NAME=VALUE", argument);
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    const auto id = name == "doc_ids" ? parse_whole_number(value) : std::nullopt;
    const Json entry = id ? Json(*id) : Json(value);
    if (std::ranges::find(kSingle, name) != std::end(kSingle)) {
      out[name] = entry;
      continue;
    }
    Json& list = out[name];
    if (!list.is_array()) list = JsonArray{};
    list.get_array().push_back(entry);
  }
  return out;
}

/// The search scope fields common to both routes' bodies.
Result<JsonObject> body_of(const cli::CommandContext& context, const cli::FilterArguments& filters,
                           const std::vector<std::string>& labels) {
  FOOTNOTE_TRY(JsonObject asked, filters_of(filters));
  return JsonObject{{"project_key", context.settings.text(Setting::kCorpus)},
                    {"filters", std::move(asked)},
                    {"acl_labels", JsonArray(labels.begin(), labels.end())}};
}

/// Prints the answer as it arrives.
Result<Json> ask_aloud(const cli::CommandContext& context, cli::Link& link, const Json& body) {
  bool streamed = false;
  cli::AnswerCollector collector([&](std::string_view text) {
    streamed = true;
    cli::write_out(cli::printable(text));
  });
  const auto done = link.stream(context.call, "/api/kb/chat/stream", body, [&](const Json& event) { return collector.take(event); });
  if (streamed) cli::write_out("\n");
  if (!done) return std::unexpected(done.error());
  Json answer = collector.answer();
  if (!streamed || cli::is_refusal(answer)) cli::write_out(cli::render_answer_text(answer, context.terminal.out));
  cli::write_out(cli::render_answer_sources(answer, context.terminal.out));
  return answer;
}

}  // namespace

Result<int> run_ask(const cli::CommandContext& context, const cli::AskCommand& command) {
  FOOTNOTE_CHECK(check_text("question", command.question));
  FOOTNOTE_TRY(JsonObject body, body_of(context, command.filters, command.labels));
  body["question"] = command.question;
  body["profile"] = "ask";
  FOOTNOTE_TRY(const auto link, open_link(context, {.needs = Needs::kIndexes}));
  Json answer;
  if (context.form == cli::OutputForm::kJson) {
    FOOTNOTE_TRY(answer, link->post(context.call, "/api/kb/chat", body));
    cli::write_out(to_text(answer) + "\n");
  } else {
    FOOTNOTE_TRY(answer, ask_aloud(context, *link, body));
  }
  return cli::is_refusal(answer) ? cli::kExitRefused : cli::kExitOk;
}

Result<int> run_search(const cli::CommandContext& context, const cli::SearchCommand& command) {
  FOOTNOTE_CHECK(check_text("query", command.query));
  FOOTNOTE_TRY(JsonObject body, body_of(context, command.filters, command.labels));
  body["query"] = command.query;
  body["limit"] = command.limit;
  body["prefix"] = command.prefix;
  body["typos"] = command.typos;
  FOOTNOTE_TRY(const auto link, open_link(context, {.needs = Needs::kIndexes}));
  FOOTNOTE_TRY(const Json found, link->post(context.call, "/api/search", body));
  cli::write_out(context.form == cli::OutputForm::kJson ? to_text(found) + "\n"
                                                        : cli::render_search(found, command.explain, context.terminal.out));
  return cli::kExitOk;
}

}  // namespace footnote::app
