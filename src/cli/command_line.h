#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/settings.h"

namespace footnote::cli {

/// What the program returns to the shell. A refusal and files left out are told apart from failure, so that a
/// script can act on them.
enum ExitCode : int { kExitOk = 0, kExitFailure = 1, kExitUsage = 2, kExitRefused = 3, kExitSomeFailed = 4, kExitInterrupted = 130 };

enum class OutputForm { kText, kJson, kMarkdown };
enum class Explain { kOff, kOn };
enum class Shell { kBash, kZsh, kFish };

struct ServeCommand {
  std::vector<std::string> examples;  ///< Questions that the first page offers.
  bool demo = false;                  ///< Serve the demonstration shop too.
};
struct IngestCommand {
  std::vector<std::string> paths;
  std::string prefix;          ///< Put before every document's path.
  bool keep_deleted = false;   ///< Documents whose file is gone stay.
  bool take_over = false;      ///< Documents of the same path that came from elsewhere are replaced.
  std::string profile = "kb";  ///< kb: passages along headings. proxy: windows of 800 characters, as the retrieval proxy's indexer cuts.
};
/// NAME=VALUE, in the names of the HTTP filters; a name may come several times.
using FilterArguments = std::vector<std::string>;
struct AskCommand {
  std::string question;
  FilterArguments filters;
  std::vector<std::string> labels;  ///< What the asker has.
};
struct SearchCommand {
  std::string query;
  std::size_t limit = 8;
  Explain explain = Explain::kOff;
  bool prefix = false;  ///< The last word may go on.
  bool typos = false;   ///< Words that nobody wrote find those that look like them.
  FilterArguments filters;
  std::vector<std::string> labels;
};
struct EvalCommand {
  std::filesystem::path set;                   ///< Folder or JSONL file; its form says what is measured.
  std::vector<std::string> stages;             ///< All that are there when empty.
  std::size_t limit = 0;                       ///< Rows to take; 0: all.
  std::filesystem::path cache;                 ///< Empty: ~/.cache/footnote/eval.
  std::filesystem::path save;                  ///< Where to keep the run; empty: nowhere.
  std::filesystem::path against;               ///< A run to compare with; empty: none.
  std::vector<std::filesystem::path> foreign;  ///< Questions that the corpus does not cover.
  std::optional<double> gate;                  ///< Evidence from which on a question is answered, in place of the corpus's own.
  /// Of questions about documents:
  std::filesystem::path documents;  ///< The documents' folder.
  std::string half;                 ///< "tune" or "keep"; empty: both.
  std::vector<std::string> only;    ///< Names of sets; all when empty.
  std::filesystem::path answers;    ///< Where to write what was answered, a line each; empty: nowhere.
};
struct CalibrateCommand {
  std::string corpus;  ///< Empty: the configured one.
  double rate = 0.05;  ///< Of foreign questions, so many may be answered.
  bool clear = false;  ///< Back to the general threshold.
};
struct TraceCommand {
  std::string turn;  ///< "turn_..."
};
struct BenchEncoderCommand {
  std::vector<std::string> shapes{"1x16", "32x128", "18x160"};  ///< Sequences x tokens.
  double seconds = 3;                                           ///< For each shape.
};
struct BenchIndexCommand {
  std::filesystem::path vectors;    ///< Rows of floats; empty: vectors are not measured.
  std::filesystem::path queries;    ///< To search them by.
  std::size_t dimension = 384;      ///< Of both.
  std::filesystem::path texts;      ///< JSONL with "text"; empty: keywords are not measured.
  std::filesystem::path questions;  ///< To search them by, and for the whole retrieval.
  std::size_t rows = 0;             ///< The first so many; 0: all.
  double seconds = 1;               ///< For each case.
  bool retrieve = false;            ///< The whole retrieval of the corpus of the data folder.
  bool paced = false;               ///< Cases by name from the standard input.
  bool fill = false;                ///< Nothing is measured: the corpus of the data folder gets the texts.
  std::filesystem::path codes;      ///< A data folder to take token codes from when filling; empty: none, or those of the embedder.
};
struct DoctorCommand {};
struct RebuildIndexCommand {
  std::string corpus;  ///< Empty: all.
};
struct SnapshotCommand {
  std::string file;  ///< To be made.
};
struct RestoreCommand {
  std::string file;
};
struct DocumentsCommand {};
struct KeysCommand {
  enum class Action { kList, kCreate, kRotate, kRevoke };
  Action action = Action::kList;
  std::int64_t id = 0;
  std::string name;
  std::vector<std::string> scopes;
  std::optional<std::chrono::milliseconds> life;
  std::chrono::milliseconds grace = std::chrono::hours{24};
  std::int64_t requests_per_minute = 0;
  std::int64_t requests_per_day = 0;
};
struct WorkspacesCommand {
  std::string name;  ///< To make; empty: list them.
};
struct ModelsCommand {
  enum class Action { kList, kAdd, kVerify, kInfo, kFit };
  Action action = Action::kList;
  std::filesystem::path folder;    ///< To add; of kFit the file to write, empty: in the model's folder.
  std::string name;                ///< For what is added, empty: its folder's; of the model to fit.
  bool replace = false;            ///< An existing model of that name gives way.
  std::vector<std::string> names;  ///< To verify, empty: all; to tell of, empty: the configured one.
  std::filesystem::path texts;     ///< To fit by: one text a line.
};
struct ConfigCommand {};
struct CompletionCommand {
  Shell shell = Shell::kBash;
};

using Command = std::variant<ServeCommand, IngestCommand, AskCommand, SearchCommand, EvalCommand, CalibrateCommand, TraceCommand,
                             BenchEncoderCommand, BenchIndexCommand, DoctorCommand, RebuildIndexCommand, SnapshotCommand, RestoreCommand,
                             DocumentsCommand, KeysCommand, WorkspacesCommand, ModelsCommand, ConfigCommand, CompletionCommand>;

/// A command line that was understood.
struct Invocation {
  Command command;
  OutputForm form = OutputForm::kText;
  std::optional<std::filesystem::path> config_file;
  std::vector<std::pair<Setting, std::string>> flags;
};

/// Nothing left to run: help or version was asked for (code 0, `out`), or the line was wrong (code 2, `err`).
struct EarlyExit {
  int code = kExitOk;
  std::string out;
  std::string err;
};

/// `arguments` without the program's name.
std::variant<Invocation, EarlyExit> parse_command_line(const std::vector<std::string>& arguments);

/// What can be typed, for completion and the reference: made from the same definitions that parse.
struct OptionNode {
  std::vector<std::string> names;  ///< "--explain", "-n"; empty for a positional argument.
  std::string help;
  std::vector<std::string> choices;
  bool takes_value = false;
  bool takes_path = false;
};
struct CommandNode {
  std::string name;
  std::string help;
  std::vector<OptionNode> options;
  std::vector<OptionNode> arguments;
  std::vector<CommandNode> children;
};
CommandNode command_tree();

/// The version as `footnote --version` prints it, without the name.
std::string_view version();

}  // namespace footnote::cli
