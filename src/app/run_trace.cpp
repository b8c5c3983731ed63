#include <algorithm>

#include "app/commands.h"
#include "app/folder_access.h"
#include "app/render_trace.h"
#include "app/server_link.h"
#include "app/stores.h"

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
Result<std::string> read_trace(const CommandContext& context, const std::string& id) {
  FOOTNOTE_TRY(FolderAccess access, access_folder(context.settings, Missing::kRefuse));
  if (const auto* server = std::get_if<HeldByServer>(&access)) {
    return ServerLink(*server, context.settings.text(Setting::kWorkspace)).get_text(context.call, fmt::format("/api/turns/{}/trace", id));
  }
  FOOTNOTE_TRY(const auto stores,
               Stores::open(context.call, std::get<DataFolder>(std::move(access)), context.settings.text(Setting::kWorkspace)));
  return stores->conversations().trace(context.call, stores->workspace(), {id});
}

}  // namespace

Result<int> run_trace(const CommandContext& context, const TraceCommand& command) {
  FOOTNOTE_CHECK(check_turn_id(command.turn));
  FOOTNOTE_TRY(const std::string text, read_trace(context, command.turn));
  // As it is stored: read and written again, a number may end in another digit.
  if (context.form == OutputForm::kJson) {
    write_out(text + "\n");
    return kExitOk;
  }
  FOOTNOTE_TRY(const Json trace, parse_json(text));
  write_out(render_trace(trace, context.terminal.out));
  return kExitOk;
}

}  // namespace footnote::app
