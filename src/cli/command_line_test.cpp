#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/completion.h"
#include "cli/text_table.h"

namespace footnote::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::variant<Invocation, EarlyExit> parse(const std::string& line) {
  std::vector<std::string> words;
  for (const auto word : split(line, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return parse_command_line(words);
}

Invocation parsed(const std::string& line) {
  auto result = parse(line);
  if (const auto* exit = std::get_if<EarlyExit>(&result)) {
    ADD_FAILURE() << line << ": " << exit->err;
    return {};
  }
  return std::get<Invocation>(std::move(result));
}

EarlyExit stopped(const std::string& line) {
  auto result = parse(line);
  EXPECT_TRUE(std::holds_alternative<EarlyExit>(result)) << line;
  if (auto* exit = std::get_if<EarlyExit>(&result)) return *exit;
  return {};
}

TEST(CommandLine, CommandsAndTheirOptions) {
  EXPECT_EQ(std::get<AskCommand>(parsed("ask how many days").command).question, "how many days");
  const auto search = std::get<SearchCommand>(parsed("search leave --explain -n 3").command);
  EXPECT_EQ(search.query, "leave");
  EXPECT_EQ(search.limit, 3U);
  EXPECT_EQ(search.explain, Explain::kOn);
  EXPECT_THAT(std::get<IngestCommand>(parsed("ingest a b").command).paths, ElementsAre("a", "b"));
  const auto eval = std::get<EvalCommand>(parsed("eval set --stages keyword,vector --limit 5").command);
  EXPECT_THAT(eval.stages, ElementsAre("keyword", "vector"));
  EXPECT_EQ(eval.limit, 5U);
  const auto about = std::get<EvalCommand>(parsed("eval set --documents docs --half keep --set a --set b --answers out").command);
  EXPECT_EQ(about.set, "set");
  EXPECT_EQ(about.documents, "docs");
  EXPECT_EQ(about.half, "keep");
  EXPECT_THAT(about.only, ElementsAre("a", "b"));
  EXPECT_EQ(about.answers, "out");
  EXPECT_EQ(std::get<CompletionCommand>(parsed("completion zsh").command).shell, Shell::kZsh);
  EXPECT_TRUE(std::holds_alternative<DoctorCommand>(parsed("doctor --json").command));
}

TEST(CommandLine, AMisspeltFlagGetsASuggestion) {
  EXPECT_THAT(stopped("search --explian x").err, HasSubstr("no flag '--explian' of `footnote search`; did you mean `--explain`?"));
  EXPECT_THAT(stopped("ask --explan x").err, HasSubstr("no flag '--explan' of `footnote ask`; `footnote search` has `--explain`"));
  EXPECT_THAT(stopped("keys create --nam=x --scope read").err, HasSubstr("no flag '--nam'"));
  EXPECT_THAT(stopped("keys create --nam=x --scope read").err, HasSubstr("did you mean `--name`?"));
  EXPECT_EQ(stopped("doctor --zzzzzzzz").err,
            "footnote: no flag '--zzzzzzzz' of `footnote doctor`\nRun `footnote doctor --help` for examples.\n");
  EXPECT_THAT(stopped("--versoin").err, HasSubstr("did you mean `--version`?"));
  EXPECT_THAT(stopped("ask").err, HasSubstr("required")) << "no flag is wrong here";
}

TEST(CommandLine, ActionsOfModels) {
  const auto add = std::get<ModelsCommand>(parsed("models add folder --name mine --replace").command);
  EXPECT_EQ(add.action, ModelsCommand::Action::kAdd);
  EXPECT_EQ(add.folder, "folder");
  EXPECT_EQ(add.name, "mine");
  EXPECT_TRUE(add.replace);
  EXPECT_THAT(std::get<ModelsCommand>(parsed("models verify a b").command).names, ElementsAre("a", "b"));
  EXPECT_EQ(std::get<ModelsCommand>(parsed("models info").command).action, ModelsCommand::Action::kInfo);
  EXPECT_EQ(parsed("models list --json").form, OutputForm::kJson);
  EXPECT_EQ(stopped("models info a b").code, kExitUsage);
  EXPECT_EQ(stopped("models add").code, kExitUsage);
  EXPECT_EQ(stopped("models").code, kExitUsage);
}

TEST(CommandLine, WhatBenchMeasures) {
  EXPECT_THAT(std::get<BenchEncoderCommand>(parsed("bench encoder --shape 1x2 --shape 3x4").command).shapes, ElementsAre("1x2", "3x4"));
  const auto index = std::get<BenchIndexCommand>(parsed("bench index --vectors v --queries q --rows 5 --seconds 0 --paced").command);
  EXPECT_EQ(index.vectors, "v");
  EXPECT_EQ(index.queries, "q");
  EXPECT_EQ(index.rows, 5U);
  EXPECT_EQ(index.dimension, 384U);
  EXPECT_TRUE(index.paced);
  EXPECT_FALSE(index.fill);
  EXPECT_EQ(stopped("bench").code, kExitUsage);
  EXPECT_EQ(stopped("bench magic").code, kExitUsage);
  EXPECT_EQ(stopped("bench index --rows 0").code, kExitUsage);
}

TEST(CommandLine, FlagsBecomeSettings) {
  const Invocation serve = parsed("serve --port 8080 --data /d --config f.toml");
  EXPECT_THAT(serve.flags, ::testing::UnorderedElementsAre(Pair(Setting::kServerPort, "8080"), Pair(Setting::kData, "/d")));
  EXPECT_EQ(serve.config_file, "f.toml");
  EXPECT_THAT(parsed("--data /d documents").flags, ElementsAre(Pair(Setting::kData, "/d")));
  EXPECT_EQ(parsed("ask q --json").form, OutputForm::kJson);
  EXPECT_EQ(parsed("config --markdown").form, OutputForm::kMarkdown);
}

TEST(CommandLine, WrongLinesExitWithUsage) {
  EXPECT_EQ(stopped("").code, kExitUsage);
  EXPECT_EQ(stopped("ask").code, kExitUsage);
  EXPECT_EQ(stopped("serve --prot 1").code, kExitUsage);
  EXPECT_EQ(stopped("search x -n 0").code, kExitUsage);
  EXPECT_EQ(stopped("eval d --stages magic").code, kExitUsage);
  EXPECT_EQ(stopped("eval d --half both").code, kExitUsage);
  EXPECT_EQ(stopped("completion tcsh").code, kExitUsage);
  const EarlyExit typo = stopped("ingset docs");
  EXPECT_EQ(typo.code, kExitUsage);
  EXPECT_THAT(typo.err, HasSubstr("footnote: no command 'ingset'; did you mean `ingest`?"));
  EXPECT_THAT(stopped("ask").err, HasSubstr("Run `footnote ask --help` for examples."));
}

TEST(CommandLine, HelpTeachesByExample) {
  const EarlyExit root = stopped("--help");
  EXPECT_EQ(root.code, kExitOk);
  EXPECT_THAT(root.out, HasSubstr("Exit codes:"));
  for (const auto& command : command_tree().children) {
    const EarlyExit help = stopped(command.name + " --help");
    EXPECT_EQ(help.code, kExitOk);
    EXPECT_THAT(help.out, HasSubstr("Examples:")) << command.name;
    EXPECT_THAT(help.out, HasSubstr("footnote " + command.name)) << command.name;
    EXPECT_THAT(root.out, HasSubstr(command.name));
  }
  EXPECT_THAT(stopped("--version").out, HasSubstr("footnote "));
}

TEST(Completion, EveryCommandAndOptionIsThere) {
  const CommandNode root = command_tree();
  for (const Shell shell : {Shell::kBash, Shell::kZsh, Shell::kFish}) {
    const std::string script = completion_script(shell, root);
    for (const auto& command : root.children) EXPECT_THAT(script, HasSubstr(command.name));
    for (const char* words : {"explain", "list add verify info", "replace", "grace"}) EXPECT_THAT(script, HasSubstr(words));
    EXPECT_THAT(script, HasSubstr("auto always never"));
  }
}

TEST(TextTable, AlignsColumnsByCodePoints) {
  TextTable table({{"stage", Align::kLeft}, {"score", Align::kRight}});
  table.add({"vecteur é", "0.5"});
  table.add({"x", "10.25"});
  EXPECT_EQ(table.render(), "stage      score\nvecteur é    0.5\nx          10.25\n");
}

}  // namespace
}  // namespace footnote::cli
