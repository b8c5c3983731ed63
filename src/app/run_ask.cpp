#include "app/backend.h"
#include "app/render_answer.h"
#include "app/render_search.h"
#include "base/text.h"
#include "base/utf8.h"

namespace footnote::app {
namespace {

Result<void> check_text(std::string_view what, const std::string& text) {
  if (!is_valid_utf8(text)) return fail(ErrorCode::kInvalidArgument, "the {} is not valid UTF-8", what);
  if (trim(text).empty()) return fail(ErrorCode::kInvalidArgument, "the {} is empty", what);
  return {};
}

}  // namespace

Result<int> run_ask(const CommandContext& context, const AskCommand& command) {
  FOOTNOTE_CHECK(check_text("question", command.question));
  FOOTNOTE_TRY(const Where where, where_of(context.settings.text(Setting::kCorpus), command.filters, command.labels));
  FOOTNOTE_TRY(const auto backend, open_backend(context));
  if (context.form == OutputForm::kJson) {
    FOOTNOTE_TRY(const Json answer, backend->ask(context.call, command.question, where, {}));
    write_out(to_text(answer) + "\n");
    return is_refusal(answer) ? kExitRefused : kExitOk;
  }
  bool streamed = false;
  const auto on_text = [&](std::string_view text) {
    streamed = true;
    write_out(printable(text));
  };
  auto answer = backend->ask(context.call, command.question, where, on_text);
  if (!answer && streamed) write_out("\n");
  if (!answer) return std::unexpected(std::move(answer).error());
  const Paint paint = context.terminal.out;
  write_out(streamed ? "\n" : render_answer_text(*answer, paint));
  write_out(render_answer_sources(*answer, paint));
  return is_refusal(*answer) ? kExitRefused : kExitOk;
}

Result<int> run_search(const CommandContext& context, const SearchCommand& command) {
  FOOTNOTE_CHECK(check_text("query", command.query));
  FOOTNOTE_TRY(const Where where, where_of(context.settings.text(Setting::kCorpus), command.filters, command.labels));
  FOOTNOTE_TRY(const auto backend, open_backend(context));
  FOOTNOTE_TRY(const Json found,
               backend->search(context.call,
                               {.query = command.query, .limit = command.limit, .prefix = command.prefix, .typos = command.typos}, where));
  if (context.form == OutputForm::kJson) {
    write_out(to_text(found) + "\n");
  } else {
    write_out(render_search(found, command.explain, context.terminal.out));
  }
  return kExitOk;
}

}  // namespace footnote::app
