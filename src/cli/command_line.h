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

/// Exit codes. Refusals and skipped files have codes of their own, so that scripts can tell them from failures.
enum ExitCode : int { kExitOk = 0, kExitFailure = 1, kExitUsage = 2, kExitRefused = 3, kExitSomeFailed = 4, kExitInterrupted = 130 };

enum class OutputForm { kText, kJson, kMarkdown };
enum class Explain { kOff, kOn };
enum class Shell { kBash, kZsh, kFish };

struct ServeCommand {
  std::vector<std::string> examples;  ///< Questions suggested on the first page.
  bool demo = false;                  ///< Also serve the demonstration shop.
};
struct IngestCommand {
  std::vector<std::string> paths;
  std::string prefix;          ///< Prepended to every document's path.
  bool keep_deleted = false;   ///< Keep documents whose file is gone.
  bool take_over = false;      ///< Replace documents with the same path that came from another source.
  bool allow_secrets = false;  ///< Also store passages with passwords, tokens and private keys.
  bool allow_hard_links = false;
  bool watch = false;          ///< Go on, and ingest again whatever changes.
  std::string profile = "kb";  ///< kb: passages along headings. proxy: windows of 800 characters, like the retrieval proxy's indexer.
};
/// NAME=VALUE, with the names of the HTTP filters; a name may be repeated.
using FilterArguments = std::vector<std::string>;
struct AskCommand {
  std::string question;
  FilterArguments filters;
  std::vector<std::string> labels;  ///< Access labels of the person asking.
};
struct SearchCommand {
  std::string query;
  std::size_t limit = 8;
  Explain explain = Explain::kOff;
  bool prefix = false;  ///< The last word may be incomplete.
  bool typos = false;   ///< Unknown words match similar ones.
  FilterArguments filters;
  std::vector<std::string> labels;
};
struct EvalCommand {
  std::filesystem::path set;                   ///< Folder or JSONL file; its format decides what is measured.
  std::vector<std::string> stages;             ///< Empty: all available.
  std::size_t limit = 0;                       ///< Rows to use; 0: all.
  std::filesystem::path cache;                 ///< Empty: ~/.cache/footnote/eval.
  std::filesystem::path save;                  ///< Where to save the run; empty: nowhere.
  std::filesystem::path against;               ///< A run to compare with; empty: none.
  std::vector<std::filesystem::path> foreign;  ///< Questions that the corpus does not cover.
  std::optional<double> gate;                  ///< Threshold of the gate to use instead of the corpus's own.
  // The following are for questions about documents:
  std::filesystem::path documents;  ///< The documents' folder.
  std::string half;                 ///< "tune" or "keep"; empty: both.
  std::vector<std::string> only;    ///< Names of sets; empty: all.
  std::filesystem::path answers;    ///< File to write the answers to, one line each; empty: none.
  std::filesystem::path passages;   ///< File for the passages that a reader would get, instead of asking; empty: none.
};
struct CalibrateCommand {
  std::string corpus;  ///< Empty: the configured one.
  double rate = 0.05;  ///< Share of foreign questions that may be answered.
  bool clear = false;  ///< Remove the corpus's calibration.
  bool show = false;   ///< Only show it; change nothing.
};
struct TraceCommand {
  std::string turn;  ///< "turn_..."
};
struct FetchCommand {
  std::string url;
  std::string store;  ///< A corpus that keeps the page; empty: none.
};
struct BenchEncoderCommand {
  std::vector<std::string> shapes{"1x16", "32x128", "18x160"};  ///< "SEQUENCESxTOKENS".
  double seconds = 3;                                           ///< Per shape.
};
struct BenchIndexCommand {
  std::filesystem::path vectors;    ///< File of raw floats, a vector per row. Empty: vector search is not measured.
  std::filesystem::path queries;    ///< Search queries for them.
  std::size_t dimension = 384;      ///< Dimension of both.
  std::filesystem::path texts;      ///< JSONL with "text"; empty: keywords are not measured.
  std::filesystem::path questions;  ///< Queries for keyword search and complete retrieval.
  std::size_t rows = 0;             ///< Only the first rows; 0: all.
  double seconds = 1;               ///< Per case.
  bool retrieve = false;            ///< Measure complete retrieval on the data folder's corpus.
  bool paced = false;               ///< Read case names from standard input.
  bool fill = false;                ///< Measure nothing: load the texts into the data folder's corpus.
  std::filesystem::path codes;      ///< With `fill` and `vectors`: copy token codes from this data folder. Empty: store none.
};
struct DoctorCommand {};
struct RebuildIndexCommand {
  std::string corpus;  ///< Empty: all.
};
struct SnapshotCommand {
  std::string file;  ///< The file to create.
};
struct RestoreCommand {
  std::string file;
};
struct DocumentsCommand {};
struct SourcesCommand {
  enum class Action { kList, kAdd, kRemove, kResync };
  Action action = Action::kList;
  std::int64_t id = 0;
  std::string kind;      ///< Empty: a folder, or an address.
  std::string location;  ///< A folder of the server, or an address.
  std::string title;
  std::chrono::milliseconds every{0};  ///< 0: no schedule.
  bool watch = false;
  std::vector<std::string> options;  ///< NAME=VALUE
};
struct JobsCommand {
  enum class Action { kList, kFollow, kCancel };
  Action action = Action::kList;
  std::int64_t id = 0;
};
struct McpCommand {};
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
  std::vector<std::string> labels = {};
};
struct WorkspacesCommand {
  std::string name;  ///< To create; empty: list them.
};
struct ModelsCommand {
  enum class Action { kList, kAdd, kVerify, kInfo, kFit };
  Action action = Action::kList;
  std::filesystem::path folder;    ///< kAdd: the folder to install. kFit: the file to write; empty: late.bin in the model's folder.
  std::string name;                ///< kAdd: the installed name; empty: the folder's name. kFit: the model.
  bool replace = false;            ///< Replace an existing model of that name.
  std::vector<std::string> names;  ///< kVerify: models to verify; empty: all. kInfo: models to show; empty: the configured one.
  std::filesystem::path texts;     ///< Texts to fit on, one per line.
};
struct ConfigCommand {};
struct CompletionCommand {
  Shell shell = Shell::kBash;
};

using Command = std::variant<ServeCommand, IngestCommand, AskCommand, SearchCommand, EvalCommand, CalibrateCommand, TraceCommand,
                             FetchCommand, BenchEncoderCommand, BenchIndexCommand, DoctorCommand, RebuildIndexCommand, SnapshotCommand,
                             RestoreCommand, DocumentsCommand, SourcesCommand, McpCommand, JobsCommand, KeysCommand, WorkspacesCommand,
                             ModelsCommand, ConfigCommand, CompletionCommand>;

/// A successfully parsed command line.
struct Invocation {
  Command command;
  OutputForm form = OutputForm::kText;
  std::optional<std::filesystem::path> config_file;
  std::vector<std::pair<Setting, std::string>> flags;
};

/// Nothing to run: help or version was requested (code 0, `out`), or the line is invalid (code 2, `err`).
struct EarlyExit {
  int code = kExitOk;
  std::string out;
  std::string err;
};

/// `arguments` without the program's name.
std::variant<Invocation, EarlyExit> parse_command_line(const std::vector<std::string>& arguments);

/// The command tree for completion and the reference, made from the same definitions as the parser.
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
