#include "app/backend.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/render_answer.h"
#include "cli/render_search.h"

namespace footnote::app {
namespace {

Result<void> check_text(std::string_view what, const std::string& text) {
  if (!is_valid_utf8(text)) return fail(ErrorCode::kInvalidArgument, "the {} is not valid UTF-8", what);
  if (trim(text).empty()) return fail(ErrorCode::kInvalidArgument, "the {} is empty", what);
  return {};
}

}  // namespace

Result<int> run_ask(const cli::CommandContext& context, const cli::AskCommand& command) {
  FOOTNOTE_CHECK(check_text("question", command.question));
  FOOTNOTE_TRY(const Where where, where_of(context.settings.text(Setting::kCorpus), command.filters, command.labels));
  FOOTNOTE_TRY(const auto backend, open_backend(context));
  if (context.form == cli::OutputForm::kJson) {
    FOOTNOTE_TRY(const Json answer, backend->ask(context.call, command.question, where, {}));
    cli::write_out(to_text(answer) + "\n");
    return cli::is_refusal(answer) ? cli::kExitRefused : cli::kExitOk;
  }
  bool streamed = false;
  const auto on_text = [&](std::string_view text) {
    streamed = true;
    cli::write_out(cli::printable(text));
  };
  auto answer = backend->ask(context.call, command.question, where, on_text);
  if (!answer && streamed) cli::write_out("\n");
  if (!answer) return std::unexpected(std::move(answer).error());
  const cli::Paint paint = context.terminal.out;
  cli::write_out(streamed ? "\n" : cli::render_answer_text(*answer, paint));
  cli::write_out(cli::render_answer_sources(*answer, paint));
  return cli::is_refusal(*answer) ? cli::kExitRefused : cli::kExitOk;
}

Result<int> run_search(const cli::CommandContext& context, const cli::SearchCommand& command) {
  FOOTNOTE_CHECK(check_text("query", command.query));
  FOOTNOTE_TRY(const Where where, where_of(context.settings.text(Setting::kCorpus), command.filters, command.labels));
  FOOTNOTE_TRY(const auto backend, open_backend(context));
  FOOTNOTE_TRY(const Json found,
               backend->search(context.call,
                               {.query = command.query, .limit = command.limit, .prefix = command.prefix, .typos = command.typos}, where));
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(found) + "\n");
  } else {
    cli::write_out(cli::render_search(found, command.explain, context.terminal.out));
  }
  return cli::kExitOk;
}

}  // namespace footnote::app
