#include "cli/completion.h"

#include <fmt/format.h>

#include "base/text.h"

namespace footnote::cli {
namespace {

/// One line, safe inside single quotes.
std::string quoted_help(const std::string& help) {
  std::string out;
  for (const char c : help) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string names_of(const CommandNode& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return join(names, " ");
}

/// The names of a command's actions, such as those of "keys"; usually empty.
std::string actions_of(const CommandNode& command) {
  std::vector<std::string> names;
  for (const auto& action : command.children) names.push_back(action.name);
  return join(names, " ");
}

/// The case arms for the word after an option that takes a value.
std::string bash_value_arms(const CommandNode& command) {
  std::string out;
  for (const auto& option : command.options) {
    if (!option.takes_value) continue;
    const std::string pattern = join(option.names, "|");
    if (!option.choices.empty()) {
      out += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n", pattern, join(option.choices, " "));
    } else if (option.takes_path) {
      out += fmt::format("        {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n", pattern);
    } else {
      out += fmt::format("        {}) return ;;\n", pattern);
    }
  }
  return out;
}

std::string bash_argument(const CommandNode& command) {
  if (!command.children.empty()) return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", actions_of(command));
  for (const auto& argument : command.arguments) {
    if (!argument.choices.empty()) return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\"))", join(argument.choices, " "));
    if (argument.takes_path) return "COMPREPLY=($(compgen -f -- \"$word\"))";
  }
  return "COMPREPLY=()";
}

/// The arm for a command, identified by its words ("keys create"), and those of its actions.
std::string bash_arms(const std::string& words, const CommandNode& command) {
  std::string out = fmt::format("    '{}')\n      case \"$before\" in\n{}      esac\n", words, bash_value_arms(command));
  out += fmt::format("      if [[ \"$word\" == -* ]]; then COMPREPLY=($(compgen -W '{}' -- \"$word\")); else {}; fi ;;\n",
                     names_of(command), bash_argument(command));
  for (const auto& action : command.children) out += bash_arms(words + " " + action.name, action);
  return out;
}

std::string bash_script(const CommandNode& root) {
  std::vector<std::string> commands;
  std::vector<std::string> actions;
  for (const auto& child : root.children) {
    commands.push_back(child.name);
    for (const auto& action : child.children) actions.push_back(fmt::format("'{} {}'", child.name, action.name));
  }
  std::string out =
      "# bash completion for footnote; load with: source <(footnote completion bash)\n"
      "_footnote() {\n"
      "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"${command:+$command }${COMP_WORDS[i]}\" in\n";
  out += fmt::format("      {}|{}) command=\"${{command:+$command }}${{COMP_WORDS[i]}}\" ;;\n", join(commands, "|"), join(actions, "|"));
  out +=
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n";
  for (const auto& child : root.children) out += bash_arms(child.name, child);
  out += fmt::format("    *) COMPREPLY=($(compgen -W '{} {}' -- \"$word\")) ;;\n", join(commands, " "), names_of(root));
  out +=
      "  esac\n"
      "}\n"
      "complete -o filenames -F _footnote footnote\n";
  return out;
}

/// Escapes brackets and colons, which are special inside _arguments.
std::string zsh_help(const std::string& help) {
  std::string out;
  for (const char c : quoted_help(help)) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const OptionNode& option) {
  if (!option.choices.empty()) return fmt::format("({})", join(option.choices, " "));
  return option.takes_path ? "_files" : " ";
}

std::string zsh_arguments(const CommandNode& command, std::string_view indent) {
  std::string out;
  for (const auto& option : command.options) {
    for (const auto& name : option.names) {
      out += fmt::format(" \\\n{}'{}[{}]{}'", indent, name, zsh_help(option.help),
                         option.takes_value ? fmt::format(":value:{}", zsh_action(option)) : "");
    }
  }
  for (const auto& argument : command.arguments) {
    out += fmt::format(" \\\n{}'*:{}:{}'", indent, zsh_help(argument.help), zsh_action(argument));
  }
  return out;
}

std::string zsh_arm(const CommandNode& command, std::string_view indent) {
  const std::string inner = fmt::format("{}  ", indent);
  if (command.children.empty()) return fmt::format("{}{}) _arguments{} ;;\n", indent, command.name, zsh_arguments(command, inner));
  std::string out = fmt::format("{}{})\n{}if (( CURRENT == 2 )); then compadd {}; else shift words; (( CURRENT-- )); fi\n", indent,
                                command.name, inner, actions_of(command));
  out += fmt::format("{}case $words[1] in\n", inner);
  for (const auto& action : command.children) out += zsh_arm(action, inner + "  ");
  return out + fmt::format("{}esac ;;\n", inner);
}

std::string zsh_script(const CommandNode& root) {
  std::string out =
      "#compdef footnote\n"
      "# zsh completion for footnote; put it into a folder of $fpath as _footnote\n"
      "_footnote() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const auto& child : root.children) out += fmt::format("    '{}:{}'\n", child.name, zsh_help(child.help));
  out +=
      "  )\n"
      "  local context state line\n"
      "  _arguments -C '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command) _describe 'command' commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const auto& child : root.children) out += zsh_arm(child, "        ");
  out +=
      "      esac ;;\n"
      "  esac\n"
      "}\n"
      "_footnote \"$@\"\n";
  return out;
}

std::string fish_option(const std::string& condition, const OptionNode& option) {
  std::string out = fmt::format("complete -c footnote -n '{}'", condition);
  for (const auto& name : option.names) {
    out += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
  }
  if (option.takes_value) out += option.takes_path ? " -r -F" : " -x";
  if (!option.choices.empty()) out += fmt::format(" -a '{}'", join(option.choices, " "));
  return out + fmt::format(" -d '{}'\n", quoted_help(option.help));
}

/// Completes what follows a command's words: its actions, or its options and arguments.
std::string fish_command(const std::string& condition, const CommandNode& command) {
  std::string out;
  for (const auto& action : command.children) {
    out += fmt::format("complete -c footnote -n '{}; and not __fish_seen_subcommand_from {}' -a {} -d '{}'\n", condition,
                       actions_of(command), action.name, quoted_help(action.help));
    out += fish_command(fmt::format("{}; and __fish_seen_subcommand_from {}", condition, action.name), action);
  }
  if (!command.children.empty()) return out;
  for (const auto& option : command.options) out += fish_option(condition, option);
  for (const auto& argument : command.arguments) {
    if (argument.takes_path) out += fmt::format("complete -c footnote -n '{}' -F\n", condition);
    if (!argument.choices.empty()) out += fmt::format("complete -c footnote -n '{}' -a '{}'\n", condition, join(argument.choices, " "));
  }
  return out;
}

std::string fish_script(const CommandNode& root) {
  std::string out = "# fish completion for footnote\ncomplete -c footnote -f\n";
  for (const auto& child : root.children) {
    out += fmt::format("complete -c footnote -n __fish_use_subcommand -a {} -d '{}'\n", child.name, quoted_help(child.help));
  }
  for (const auto& child : root.children) out += fish_command(fmt::format("__fish_seen_subcommand_from {}", child.name), child);
  return out;
}

}  // namespace

std::string completion_script(Shell shell, const CommandNode& root) {
  switch (shell) {
    case Shell::kBash: return bash_script(root);
    case Shell::kZsh: return zsh_script(root);
    case Shell::kFish: return fish_script(root);
  }
  return {};
}

}  // namespace footnote::cli
