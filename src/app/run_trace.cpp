#include <algorithm>

#include "app/commands.h"
#include "app/folder_access.h"
#include "cli/render_trace.h"
#include "cli/server_link.h"
#include "upkeep/stores.h"

namespace footnote::app {
namespace {

/// Also what makes it safe to put into a path: see AnswerService.
Result<void> check_turn_id(const std::string& id) {
  const auto is_id_character = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  if (id.starts_with("turn_") && std::ranges::all_of(id, is_id_character)) return {};
  return fail(ErrorCode::kInvalidArgument, "'{}' is not the id of a turn; `footnote ask` prints it, as turn_...", id);
}

/// From the data folder, or from the server that has it: the same text.
Result<std::string> read_trace(const cli::CommandContext& context, const std::string& id) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kRefuse));
  if (const auto* server = std::get_if<HeldByServer>(&access)) {
    return cli::ServerLink(server->url, server->token, context.settings.text(Setting::kWorkspace))
        .get_text(context.call, fmt::format("/api/turns/{}/trace", id));
  }
  FOOTNOTE_TRY(const auto stores,
               upkeep::Stores::open(context.call, std::get<DataFolder>(std::move(access)), context.settings.text(Setting::kWorkspace)));
  return stores->conversations().trace(context.call, stores->workspace(), {id});
}

}  // namespace

Result<int> run_trace(const cli::CommandContext& context, const cli::TraceCommand& command) {
  FOOTNOTE_CHECK(check_turn_id(command.turn));
  FOOTNOTE_TRY(const std::string text, read_trace(context, command.turn));
  // As it is stored: read and written again, a number may end in another digit.
  if (context.form == cli::OutputForm::kJson) {
    cli::write_out(text + "\n");
    return cli::kExitOk;
  }
  FOOTNOTE_TRY(const Json trace, parse_json(text));
  cli::write_out(cli::render_trace(trace, context.terminal.out));
  return cli::kExitOk;
}

}  // namespace footnote::app
