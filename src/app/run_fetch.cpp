#include "app/commands.h"
#include "app/open_link.h"
#include "base/json.h"

namespace footnote::app {

Result<int> run_fetch(const cli::CommandContext& context, const cli::FetchCommand& command) {
  FOOTNOTE_TRY(const auto link, open_link(context, {}));
  JsonObject body{{"url", command.url}};
  if (!command.store.empty()) body["store"] = command.store;
  FOOTNOTE_TRY(const Json answer, link->post(context.call, "/fetch", std::move(body)));
  FOOTNOTE_TRY(const JsonReader reader, JsonReader::of(answer));
  FOOTNOTE_TRY(const auto item, reader.optional_object("item"));
  if (!item) return fail(ErrorCode::kUnavailable, "the server sent no page; is it of an older version?");
  constexpr std::size_t kShownBytesMax = 1u << 20;
  FOOTNOTE_TRY(const auto ok, item->optional_bool("ok"));
  FOOTNOTE_TRY(const auto error, item->optional_string("error", kShownBytesMax));
  if (!ok.value_or(false)) return fail(ErrorCode::kUnavailable, "{}: {}", command.url, error.value_or("no reason given"));
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(to_text(answer.at("item")) + "\n");
    return cli::kExitOk;
  }
  FOOTNOTE_TRY(const auto text, item->optional_string("text", kShownBytesMax));
  cli::write_out(text.value_or("") + "\n");
  return cli::kExitOk;
}

}  // namespace footnote::app
