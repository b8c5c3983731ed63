#include "cli/command_line.h"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/help_text.h"

namespace footnote::cli {
namespace {

std::vector<std::string> to_strings(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

/// The CLI11 application and the values that it fills. Built anew for each use.
class CommandLine {
 public:
  CommandLine() : app_("Answers questions about your documents with citations, or says that they do not answer.", "footnote") {
    app_.require_subcommand(0, 1);
    app_.set_version_flag("--version", fmt::format("footnote {}", version()), "Print the version and exit");
    app_.footer(std::string(help_footer("")));
    add_common(app_);
    add_serve();
    add_ingest();
    add_ask();
    add_search();
    add_eval();
    add_calibrate();
    add_trace();
    add_fetch();
    add_bench();
    add_documents();
    add_sources();
    add_jobs();
    add_mcp();
    add_keys();
    add_workspaces();
    add_models();
    add_doctor();
    add_rebuild_index();
    add_snapshot();
    add_config();
    add_completion();
  }

  std::variant<Invocation, EarlyExit> parse(const std::vector<std::string>& arguments) {
    try {
      app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 wants reverse order
    } catch (const CLI::ParseError& error) {
      return early_exit(error, arguments);
    } catch (const std::exception& error) {
      return EarlyExit{kExitUsage, {}, fmt::format("footnote: {}\n", error.what())};
    }
    if (app_.get_subcommands().empty()) return EarlyExit{kExitUsage, {}, app_.help()};
    return invocation_;
  }

  CommandNode tree() const { return node_of(app_); }

 private:
  CLI::App& add_command(std::string_view name, std::string_view help) {
    CLI::App& command = *app_.add_subcommand(std::string(name), std::string(help));
    command.footer(std::string(help_footer(name)));
    add_common(command);
    return command;
  }

  void add_common(CLI::App& command) {
    command.set_help_flag("-h,--help", "Show this help and exit");
    command
        .add_option_function<std::string>(
            "--config", [this](const std::string& text) { invocation_.config_file = text; },
            "Configuration file (default: footnote.toml when present)")
        ->type_name("FILE");
    for (const Setting id :
         {Setting::kData, Setting::kWorkspace, Setting::kCorpus, Setting::kModelsPath, Setting::kLogLevel, Setting::kColor}) {
      add_setting(command, id);
    }
  }

  void add_setting(CLI::App& command, Setting id) {
    const SettingSpec& spec = spec_of(id);
    std::string help(spec.help);
    if (!spec.default_text.empty()) help += fmt::format(" [{}]", spec.default_text);
    CLI::Option* option = command.add_option_function<std::string>(
        std::string(spec.flag), [this, id](const std::string& text) { invocation_.flags.emplace_back(id, text); }, help);
    option->group("Settings");
    switch (spec.type) {
      case SettingType::kPath: option->type_name("DIR"); break;
      case SettingType::kInteger:
      case SettingType::kNumber: option->type_name("NUMBER"); break;
      case SettingType::kChoice: {
        choices_[option] = to_strings(split(spec.choices, '|'));
        option->type_name(join(choices_[option], "|"));
        break;
      }
      case SettingType::kLogSpec: {
        choices_[option] = to_strings(split(spec.choices, '|'));  // completes the level for all modules
        option->type_name("LEVEL[,MODULE=LEVEL]");
        break;
      }
      case SettingType::kBool:
      case SettingType::kDuration:
      case SettingType::kString: option->type_name("TEXT"); break;
    }
  }

  void add_json(CLI::App& command, std::string_view help) {
    command.add_flag_callback("--json", [this] { invocation_.form = OutputForm::kJson; }, std::string(help));
  }

  template <class T>
  void on_parsed(CLI::App& command, const T& values) {
    command.callback([this, &values] { invocation_.command = values; });
  }

  void add_serve() {
    CLI::App& command = add_command("serve", "Run the server: web pages and HTTP APIs");
    add_setting(command, Setting::kServerHost);
    add_setting(command, Setting::kServerPort);
    add_setting(command, Setting::kServerMemoryMax);
    add_setting(command, Setting::kEngineThreads);
    command.add_option("--example", serve_.examples, "A question to suggest on the start page; can be repeated")
        ->type_name("TEXT")
        ->allow_extra_args(false);
    command.add_flag("--demo", serve_.demo, "Serve the demonstration shop, with the widget on its pages, at /demo/shop/");
    add_json(command, "Print one JSON line with the URL when ready");
    on_parsed(command, serve_);
  }

  void add_ingest() {
    CLI::App& command = add_command("ingest", "Read files and folders into a corpus; a second run reads only what changed");
    command.add_option("path", ingest_.paths, "Files and folders to read")->required()->type_name("PATH");
    command.add_option("--prefix", ingest_.prefix, "Put this before the paths of its documents (\"handbook/\")")->type_name("TEXT");
    command.add_flag("--watch", ingest_.watch, "Go on until Ctrl-C, and read again whatever changes");
    command.add_flag("--keep-deleted", ingest_.keep_deleted, "Keep documents whose file is gone from the folder");
    command.add_flag("--take-over", ingest_.take_over, "Replace documents of the same path that came from another source");
    command.add_flag("--allow-secrets", ingest_.allow_secrets, "Store passages with passwords, tokens and private keys too");
    command.add_flag("--allow-hard-links", ingest_.allow_hard_links, "Read files that have another name (hard link) outside the folder");
    CLI::Option* profile =
        command.add_option("--profile", ingest_.profile, "How to split texts: kb by headings, proxy in fixed windows [kb]");
    profile->type_name("kb|proxy")->check(CLI::IsMember({"kb", "proxy"}));
    choices_[profile] = {"kb", "proxy"};
    add_setting(command, Setting::kServerMemoryMax);
    add_setting(command, Setting::kEngineThreads);
    add_json(command, "One JSON line per committed document and problem, then a summary");
    on_parsed(command, ingest_);
  }

  void add_filters(CLI::App& command, FilterArguments& filters, std::vector<std::string>& labels) {
    command.add_option("--filter", filters, "Search only where NAME is VALUE: tags=ops, path_globs=docs/**; can be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    command.add_option("--acl-label", labels, "An access label of the person asking; can be repeated")
        ->type_name("LABEL")
        ->allow_extra_args(false);
  }

  void add_ask() {
    CLI::App& command = add_command("ask", "Ask a question: a cited answer, or an honest refusal");
    command.add_option("question", words_, "The question")->required()->type_name("TEXT");
    add_json(command, "The answer as JSON, in the form of POST /api/kb/chat");
    add_filters(command, ask_.filters, ask_.labels);
    command.callback([this] {
      ask_.question = join(words_, " ");
      invocation_.command = ask_;
    });
  }

  void add_search() {
    CLI::App& command = add_command("search", "Show the passages found for a question, best first");
    command.add_option("query", words_, "What to look for")->required()->type_name("TEXT");
    command.add_option("-n,--limit", search_.limit, "Passages to show [8]")->check(CLI::Range(1, 100))->type_name("NUMBER");
    command.add_flag_callback(
        "--explain", [this] { search_.explain = Explain::kOn; },
        "Show every stage's raw score, weight and contribution, how the vectors were searched, the gate and the times");
    command.add_flag("--prefix", search_.prefix, "Also match words that start with the last word, for search as you type");
    command.add_flag("--typos", search_.typos, "For a word that no passage contains, also match words with a similar spelling");
    add_filters(command, search_.filters, search_.labels);
    add_json(command, "The hits as JSON, in the form of POST /api/search");
    command.callback([this] {
      search_.query = join(words_, " ");
      invocation_.command = search_;
    });
  }

  void add_eval() {
    CLI::App& command = add_command("eval", "Measure retrieval, reading, the citation check or complete answers on a labelled set");
    CLI::Option* set = command.add_option(
        "set", eval_.set, "Folder in BEIR's format or with questions about documents, or a JSONL file of questions or claims");
    set->required()->type_name("PATH");
    const std::vector<std::string> names{"keyword",   "vector",     "late",   "fused", "judged", "answer",
                                         "relevance", "word_share", "cosine", "sum",   "check",  "reader"};
    CLI::Option* stages = command.add_option("--stages", eval_.stages, "Stages to measure, separated by commas [all that the set allows]");
    stages->delimiter(',')->allow_extra_args(false)->type_name("keyword,vector,...")->check(CLI::IsMember(names));
    choices_[stages] = names;
    command.add_option("--limit", eval_.limit, "Use only the first N rows")->check(CLI::Range(1, 100'000'000))->type_name("N");
    command.add_option("--foreign", eval_.foreign, "Questions that the corpus does not cover and that should be refused; can be repeated")
        ->type_name("PATH")
        ->allow_extra_args(false);
    command.add_option("--gate", eval_.gate, "Use this threshold of the gate (evidence) instead of the corpus's own")->type_name("NUMBER");
    command.add_option("--save", eval_.save, "Save the results row by row")->type_name("FILE");
    command.add_option("--against", eval_.against, "Compare with a saved run: differences and their significance")->type_name("FILE");
    command.add_option("--documents", eval_.documents, "Folder of the documents that the questions are about")->type_name("DIR");
    CLI::Option* half = command.add_option("--half", eval_.half, "Use only this half of the questions about documents [both]");
    half->type_name("tune|keep")->check(CLI::IsMember({"tune", "keep"}));
    choices_[half] = {"tune", "keep"};
    command.add_option("--set", eval_.only, "Use only this set of a folder of sets; can be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command.add_option("--answers", eval_.answers, "Write the answers, one JSON line per question")->type_name("FILE");
    command.add_option("--passages", eval_.passages, "Ask nothing; write the passages that a reader would get, one JSON line per question")
        ->type_name("FILE");
    command.add_option("--cache", eval_.cache, "Where embedded corpora are cached [~/.cache/footnote/eval]")->type_name("DIR");
    add_setting(command, Setting::kEngineThreads);
    add_json(command, "The figures as JSON");
    on_parsed(command, eval_);
  }

  void add_calibrate() {
    CLI::App& command = add_command("calibrate", "Set how much evidence a corpus needs before it answers");
    command.add_option("corpus", calibrate_.corpus, "The corpus [the configured one]")->type_name("NAME");
    command.add_option("--rate", calibrate_.rate, "Share of foreign questions (not covered by the corpus) that may be answered [0.05]")
        ->check(CLI::Range(0.0, 0.5))
        ->type_name("SHARE");
    auto* clear = command.add_flag("--clear", calibrate_.clear, "Delete the corpus's calibration");
    command.add_flag("--show", calibrate_.show, "Only show how the gate is set, and by what")->excludes(clear);
    add_setting(command, Setting::kEngineThreads);
    add_json(command, "What was set and measured as JSON");
    on_parsed(command, calibrate_);
  }

  void add_fetch() {
    CLI::App& command = add_command("fetch", "Print the text of a web page");
    command.add_option("url", fetch_.url, "The page's address: https://...")->required()->type_name("URL");
    command.add_option("--store", fetch_.store, "Keep the page in this corpus")->type_name("CORPUS");
    add_json(command, "The page as JSON, in the form of POST /fetch");
    on_parsed(command, fetch_);
  }

  void add_trace() {
    CLI::App& command = add_command("trace", "Show how a turn got its answer: stages, times, candidates and why each was cut");
    command.add_option("id", trace_.turn, "The turn's id, as `footnote ask` prints it")->required()->type_name("TURN");
    add_json(command, "The trace as JSON, in the form of GET /api/turns/{id}/trace");
    on_parsed(command, trace_);
  }

  void add_bench() {
    CLI::App& command = add_command("bench", "Measure how fast this machine encodes text and searches");
    command.require_subcommand(1);
    CLI::App& encoder = add_action(command, "encoder", "Encode sequences of tokens with the embedding model");
    encoder.add_option("--shape", bench_encoder_.shapes, "Sequences x tokens; can be repeated [1x16 32x128 18x160]")->type_name("NxM");
    encoder.add_option("--seconds", bench_encoder_.seconds, "How long to measure each shape [3]")
        ->check(CLI::Range(0.0, 600.0))
        ->type_name("N");
    add_setting(encoder, Setting::kEngineThreads);
    add_json(encoder, "One JSON line per shape");
    on_parsed(encoder, bench_encoder_);
    add_bench_index(command);
  }

  void add_bench_index(CLI::App& bench) {
    CLI::App& command = add_action(bench, "index", "Vector search, keyword search and complete retrieval on given vectors and texts");
    command.add_option("--vectors", bench_index_.vectors, "Vectors: rows of 32-bit floats, nothing else in the file")->type_name("FILE");
    command.add_option("--queries", bench_index_.queries, "Query vectors")->type_name("FILE");
    command.add_option("--dimension", bench_index_.dimension, "Numbers in a vector [384]")->check(CLI::Range(1, 65'536))->type_name("N");
    command.add_option("--texts", bench_index_.texts, "Passages: a JSON object with \"text\" on each line")->type_name("FILE");
    command.add_option("--questions", bench_index_.questions, "Questions in the same format")->type_name("FILE");
    command.add_option("--rows", bench_index_.rows, "Use only the first N of each [all]")
        ->check(CLI::Range(1, 100'000'000))
        ->type_name("N");
    command.add_option("--seconds", bench_index_.seconds, "How long to measure each case [1]")
        ->check(CLI::Range(0.0, 600.0))
        ->type_name("N");
    command.add_flag("--retrieve", bench_index_.retrieve, "Measure complete retrieval for the questions in the data folder's corpus");
    command.add_flag("--paced", bench_index_.paced, "Read case names from standard input; measure each and write a JSON line");
    command
        .add_option("--codes", bench_index_.codes,
                    "With --fill and --vectors: copy the token codes of this data folder's corpus, starting with its first passage")
        ->type_name("DIR");
    command.add_flag("--fill", bench_index_.fill,
                     "Measure nothing: load the texts into an empty corpus, with the given vectors or embedded");
    add_setting(command, Setting::kEngineThreads);
    add_json(command, "One JSON line per index and case");
    on_parsed(command, bench_index_);
  }

  void add_documents() {
    CLI::App& command = add_command("documents", "List the documents of a corpus");
    add_json(command, "One JSON line per document");
    on_parsed(command, documents_);
  }

  void add_sources() {
    CLI::App& command = add_command("sources", "List, add, remove and sync sources: folders and texts that the server keeps up to date");
    command.require_subcommand(1);
    const auto on_action = [this](CLI::App& action, SourcesCommand::Action what) {
      add_json(action, "The answer as JSON, in the form of /api/v1/workspace/sources");
      action.callback([this, what] {
        sources_.action = what;
        invocation_.command = sources_;
      });
    };
    on_action(add_action(command, "list", "The workspace's sources, and whether they are up to date"), SourcesCommand::Action::kList);

    CLI::App& add = add_action(command, "add", "Add a folder of the server, or an address, and index it");
    add.add_option("location", sources_.location, "The folder or the address")->required()->type_name("PATH");
    add.add_option("--kind", sources_.kind, "What it is [folder, or url for an address]")->type_name("folder|url|sitemap|feed");
    add.add_option("--title", sources_.title, "Its name")->type_name("TEXT");
    add.add_flag("--watch", sources_.watch, "Sync the folder whenever it changes");
    add_duration(add, "--every", sources_.every, "Sync it this often: 1h, 1d [only when asked]");
    add.add_option("--option", sources_.options, "An option of its kind: prefix=docs/; can be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    on_action(add, SourcesCommand::Action::kAdd);

    CLI::App& remove = add_action(command, "remove", "Delete a source with its documents");
    remove.add_option("id", sources_.id, "The source's number in the list")->required()->type_name("ID");
    on_action(remove, SourcesCommand::Action::kRemove);

    CLI::App& resync = add_action(command, "resync", "Read a source again, all of it");
    resync.add_option("id", sources_.id, "The source's number in the list")->required()->type_name("ID");
    on_action(resync, SourcesCommand::Action::kResync);
  }

  void add_jobs() {
    CLI::App& command = add_command("jobs", "List, follow and cancel background jobs: syncs and uploads");
    command.require_subcommand(1);
    const auto on_action = [this](CLI::App& action, JobsCommand::Action what) {
      add_json(action, "The answer as JSON, in the form of /api/jobs");
      action.callback([this, what] {
        jobs_.action = what;
        invocation_.command = jobs_;
      });
    };
    on_action(add_action(command, "list", "The workspace's last jobs"), JobsCommand::Action::kList);
    CLI::App& follow = add_action(command, "follow", "Show a job's progress until it ends");
    follow.add_option("id", jobs_.id, "The job's number in the list")->required()->type_name("ID");
    on_action(follow, JobsCommand::Action::kFollow);
    CLI::App& cancel = add_action(command, "cancel", "Cancel a job; what it has committed stays");
    cancel.add_option("id", jobs_.id, "The job's number in the list")->required()->type_name("ID");
    on_action(cancel, JobsCommand::Action::kCancel);
  }

  void add_mcp() {
    CLI::App& command = add_command("mcp", "Serve coding agents over standard input and output (Model Context Protocol)");
    on_parsed(command, mcp_);
  }

  CLI::App& add_action(CLI::App& command, std::string_view name, std::string_view help) {
    CLI::App& action = *command.add_subcommand(std::string(name), std::string(help));
    add_common(action);
    return action;
  }

  /// Parses "90d" into `target`; CLI11 reports invalid values.
  template <class Target>
  void add_duration(CLI::App& command, const std::string& flag, Target& target, const std::string& help) {
    command
        .add_option_function<std::string>(
            flag,
            [&target, flag](const std::string& text) {
              const auto parsed = parse_duration(text);
              if (!parsed) throw CLI::ValidationError(flag, parsed.error().message);
              target = *parsed;
            },
            help)
        ->type_name("DURATION");
  }

  void add_keys() {
    CLI::App& command = add_command("keys", "List, create, rotate and revoke API keys");
    command.require_subcommand(1);
    const auto on_action = [this](CLI::App& action, KeysCommand::Action what) {
      add_json(action, "The answer as JSON, in the form of /api/admin/keys");
      action.callback([this, what] {
        keys_.action = what;
        invocation_.command = keys_;
      });
    };
    on_action(add_action(command, "list", "The workspace's keys, and when they were last used"), KeysCommand::Action::kList);

    CLI::App& create = add_action(command, "create", "Create a key; it is printed only once");
    create.add_option("--name", keys_.name, "What it is for")->required()->type_name("TEXT");
    CLI::Option* scopes = create.add_option("--scope", keys_.scopes, "What it may do, separated by commas");
    scopes->required()->delimiter(',')->allow_extra_args(false)->type_name("read,ingest,admin,visitor");
    scopes->check(CLI::IsMember({"read", "ingest", "admin", "visitor"}));
    choices_[scopes] = {"read", "ingest", "admin", "visitor"};
    add_duration(create, "--expires", keys_.life, "Expires after this time: 12h, 90d [never]");
    create.add_option("--per-minute", keys_.requests_per_minute, "Requests per minute [server.requests_per_minute]")->type_name("NUMBER");
    create.add_option("--per-day", keys_.requests_per_day, "Requests per day, UTC [unlimited]")->type_name("NUMBER");
    CLI::Option* labels = create.add_option("--label", keys_.labels, "Its holder finds documents with this label; may be repeated");
    labels->allow_extra_args(false)->type_name("LABEL");
    on_action(create, KeysCommand::Action::kCreate);

    CLI::App& rotate = add_action(command, "rotate", "Replace a key's secret; the old one works until its grace period ends");
    rotate.add_option("id", keys_.id, "The key's number in the list")->required()->type_name("ID");
    add_duration(rotate, "--grace", keys_.grace, "How long the old secret still works [24h]");
    on_action(rotate, KeysCommand::Action::kRotate);

    CLI::App& revoke = add_action(command, "revoke", "Revoke a key at once");
    revoke.add_option("id", keys_.id, "The key's number in the list")->required()->type_name("ID");
    on_action(revoke, KeysCommand::Action::kRevoke);
  }

  void add_workspaces() {
    CLI::App& command = add_command("workspaces", "List and create workspaces: tenants that never see each other's data");
    command.require_subcommand(1);
    CLI::App& list = add_action(command, "list", "All workspaces of the data folder");
    add_json(list, "The answer as JSON, in the form of /api/admin/workspaces");
    on_parsed(list, workspaces_);
    CLI::App& create = add_action(command, "create", "Create a workspace");
    create.add_option("name", workspaces_.name, "Its name")->required()->type_name("NAME");
    add_json(create, "The answer as JSON, in the form of /api/admin/workspaces");
    on_parsed(create, workspaces_);
  }

  void add_models() {
    CLI::App& command = add_command("models", "List, add, verify and describe the models that embed and rerank");
    command.require_subcommand(1);
    const auto on_action = [this](CLI::App& action, ModelsCommand::Action what, std::string_view json) {
      add_json(action, json);
      action.callback([this, what] {
        models_.action = what;
        invocation_.command = models_;
      });
    };
    on_action(add_action(command, "list", "All installed models, and which are in use"), ModelsCommand::Action::kList,
              "The models as JSON");

    CLI::App& add = add_action(command, "add", "Install a copy of a Hugging Face model folder");
    add.add_option("folder", models_.folder, "Folder with config.json, model.safetensors and a tokenizer")->required()->type_name("DIR");
    add.add_option("--name", models_.name, "Its name here [the folder's]")->type_name("NAME");
    add.add_flag("--replace", models_.replace, "Replace a model of that name");
    on_action(add, ModelsCommand::Action::kAdd, "What was added, with its checksums, as JSON");

    CLI::App& verify = add_action(command, "verify", "Check every file against its checksum");
    verify.add_option("name", models_.names, "Models to verify [all]")->type_name("NAME");
    on_action(verify, ModelsCommand::Action::kVerify, "The findings as JSON");

    CLI::App& info = add_action(command, "info", "Details of one model");
    info.add_option("name", models_.names, "The model [models.name]")->type_name("NAME")->expected(0, 1);
    on_action(info, ModelsCommand::Action::kInfo, "The same as JSON");

    CLI::App& fit = add_action(command, "fit", "Learn from texts how to code a model's token vectors for late interaction");
    fit.add_option("name", models_.name, "The model")->required()->type_name("NAME");
    fit.add_option("texts", models_.texts, "File with one text per line: a few thousand passages like yours")
        ->required()
        ->type_name("FILE");
    fit.add_option("--out", models_.folder, "Where to write it [late.bin in the model's folder]")->type_name("FILE");
    on_action(fit, ModelsCommand::Action::kFit, "Nothing more");
  }

  void add_doctor() {
    CLI::App& command = add_command("doctor", "Check machine, model, store and port, and say what to fix");
    add_json(command, "The findings as JSON");
    on_parsed(command, doctor_);
  }

  void add_rebuild_index() {
    CLI::App& command = add_command("rebuild-index", "Rebuild the indexes from the store, with the configured model");
    command.add_option("corpus", rebuild_index_.corpus, "The corpus [all corpora of the workspace]")->type_name("NAME");
    add_json(command, "One JSON line per corpus");
    on_parsed(command, rebuild_index_);
  }

  void add_snapshot() {
    CLI::App& snapshot = add_command("snapshot", "Back up everything into one file; a running server keeps serving");
    snapshot.add_option("file", snapshot_.file, "The file to write; an existing file is replaced")->required()->type_name("FILE");
    add_json(snapshot, "What was written as JSON");
    on_parsed(snapshot, snapshot_);
    CLI::App& restore = add_command("restore", "Create a data folder from a snapshot");
    restore.add_option("file", restore_.file, "A file written by `footnote snapshot`")->required()->type_name("FILE");
    add_json(restore, "What was read as JSON");
    on_parsed(restore, restore_);
  }

  void add_config() {
    CLI::App& command = add_command("config", "Show every setting, its value and where it came from");
    add_setting(command, Setting::kServerHost);
    add_setting(command, Setting::kServerPort);
    add_setting(command, Setting::kEngineThreads);
    add_json(command, "The settings as JSON");
    command.add_flag_callback(
        "--markdown", [this] { invocation_.form = OutputForm::kMarkdown; }, "Print the reference page docs/configuration.md");
    on_parsed(command, config_);
  }

  void add_completion() {
    CLI::App& command = add_command("completion", "Print a completion script for a shell");
    CLI::Option* shell = command.add_option("shell", shell_, "bash, zsh or fish");
    shell->required()->type_name("bash|zsh|fish")->check(CLI::IsMember({"bash", "zsh", "fish"}));
    choices_[shell] = {"bash", "zsh", "fish"};
    command.callback([this] {
      const Shell shell_id = shell_ == "bash" ? Shell::kBash : shell_ == "zsh" ? Shell::kZsh : Shell::kFish;
      invocation_.command = CompletionCommand{shell_id};
    });
  }

  EarlyExit early_exit(const CLI::ParseError& error, const std::vector<std::string>& arguments) {
    EarlyExit exit;
    if (error.get_exit_code() == 0) {
      std::ostringstream out;
      std::ostringstream err;
      app_.exit(error, out, err);
      exit.out = out.str();
      return exit;
    }
    exit.code = kExitUsage;
    const auto parsed = app_.get_subcommands();
    const std::string command = parsed.empty() ? "" : " " + parsed.front()->get_name();
    exit.err = fmt::format("footnote: {}\n", error.what());
    if (const std::string flag = unknown_flag(arguments); !flag.empty()) {
      exit.err = fmt::format("footnote: no flag '{}' of `footnote{}`{}\n", flag, command, nearest_flag(flag));
    }
    if (const std::string unknown = parsed.empty() ? first_word(arguments) : ""; !unknown.empty()) {
      exit.err = fmt::format("footnote: no command '{}'{}\n", unknown, nearest_command(unknown));
    }
    exit.err += fmt::format("Run `footnote{} --help` for examples.\n", command);
    return exit;
  }

  static std::string first_word(const std::vector<std::string>& arguments) {
    return arguments.empty() || arguments.front().starts_with('-') ? std::string() : arguments.front();
  }

  std::string nearest_command(std::string_view word) const {
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands({})) names.push_back(command->get_name());
    return nearest(word, names);
  }

  /// The innermost parsed command: `footnote keys create`.
  const CLI::App& innermost() const {
    const CLI::App* app = &app_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  static std::vector<std::string> flags_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
  }

  /// The first "--name" that the command does not define.
  std::string unknown_flag(const std::vector<std::string>& arguments) const {
    const std::vector<std::string> known = flags_of(innermost());
    for (const std::string& argument : arguments) {
      const std::string name = argument.substr(0, argument.find('='));
      if (name == "--") return {};
      if (name.starts_with("--") && std::ranges::find(known, name) == known.end()) return name;
    }
    return {};
  }

  /// A similar flag of this command, else one of another command.
  std::string nearest_flag(std::string_view flag) const {
    if (std::string here = nearest(flag, flags_of(innermost())); !here.empty()) return here;
    for (const CLI::App* command : app_.get_subcommands({})) {
      for (const std::string& name : flags_of(*command)) {
        if (edit_distance(flag, name, 1) <= 1) return fmt::format("; `footnote {}` has `{}`", command->get_name(), name);
      }
    }
    return {};
  }

  static std::string nearest(std::string_view word, const std::vector<std::string>& names) {
    for (const std::size_t limit : {1, 2, 3}) {
      for (const std::string& name : names) {
        if (edit_distance(word, name, limit) <= limit) return fmt::format("; did you mean `{}`?", name);
      }
    }
    return {};
  }

  OptionNode option_node(const CLI::Option& option) const {
    OptionNode node;
    for (const auto& name : option.get_snames()) node.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) node.names.push_back("--" + name);
    node.help = option.get_description();
    node.takes_value = option.get_items_expected_max() > 0;
    const std::string type = option.get_type_name();
    node.takes_path = type == "DIR" || type == "FILE" || type == "PATH";
    if (const auto found = choices_.find(&option); found != choices_.end()) node.choices = found->second;
    return node;
  }

  CommandNode node_of(const CLI::App& app) const {
    CommandNode node{app.get_name(), app.get_description(), {}, {}, {}};
    for (const CLI::Option* option : app.get_options()) {
      (option->get_positional() ? node.arguments : node.options).push_back(option_node(*option));
    }
    for (const CLI::App* child : app.get_subcommands({})) node.children.push_back(node_of(*child));
    return node;
  }

  CLI::App app_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
  Invocation invocation_;
  ServeCommand serve_;
  IngestCommand ingest_;
  AskCommand ask_;
  SearchCommand search_;
  EvalCommand eval_;
  CalibrateCommand calibrate_;
  TraceCommand trace_;
  FetchCommand fetch_;
  BenchEncoderCommand bench_encoder_;
  BenchIndexCommand bench_index_;
  DocumentsCommand documents_;
  McpCommand mcp_;
  DoctorCommand doctor_;
  SourcesCommand sources_;
  JobsCommand jobs_;
  KeysCommand keys_;
  WorkspacesCommand workspaces_;
  ModelsCommand models_;
  RebuildIndexCommand rebuild_index_;
  SnapshotCommand snapshot_;
  RestoreCommand restore_;
  ConfigCommand config_;
  std::vector<std::string> words_;
  std::string shell_;
};

}  // namespace

std::variant<Invocation, EarlyExit> parse_command_line(const std::vector<std::string>& arguments) { return CommandLine().parse(arguments); }

CommandNode command_tree() { return CommandLine().tree(); }

}  // namespace footnote::cli
