// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/quoted.h"

namespace almanac::cli {
namespace {

enum class Kind { none, choices, policies, folders, files };

Kind kind_of(const Argument& argument) {
  if (!argument.choices.empty()) return Kind::choices;
  if (argument.value.empty()) return Kind::none;
  if (argument.value.starts_with("POLIC")) return Kind::policies;
  if (argument.value == "DIR") return Kind::folders;
  return Kind::files;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// What may stand next that is no option: commands, or all that a value by place may be.
std::vector<std::string> next_words(const CommandTable& command,
                                    const std::vector<std::string>& policies) {
  std::vector<std::string> words;
  for (const CommandTable& each : command.commands) words.push_back(each.path.back());
  for (const Argument& argument : command.by_place) {
    const auto& known = kind_of(argument) == Kind::policies ? policies : argument.choices;
    words.insert(words.end(), known.begin(), known.end());
  }
  return words;
}

std::vector<std::string> option_names(const CommandTable& command) {
  std::vector<std::string> names;
  for (const Argument& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

/// What bash does for a value.
std::string bash_action(const Argument& argument) {
  switch (kind_of(argument)) {
    case Kind::choices:
      return fmt::format("words='{}'", fmt::join(argument.choices, " "));
    case Kind::policies:
      return "_almanac_policies; return";
    case Kind::folders:
      return "compopt -o dirnames; return";
    case Kind::files:
      return "compopt -o default; return";
    case Kind::none:
      break;
  }
  return {};
}

/// What zsh's _arguments does for a value; folders and files are functions of zsh's own.
std::string zsh_action(const Argument& argument) {
  switch (kind_of(argument)) {
    case Kind::choices:
      return fmt::format("({})", fmt::join(argument.choices, " "));
    case Kind::policies:
      return "_sequence compadd - $policies";
    case Kind::folders:
      return "_files -/";
    case Kind::files:
      return "_files";
    case Kind::none:
      break;
  }
  return {};
}

/// Text within a specification of _arguments, in single quotes.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : first_line(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return escaped;
}

std::string zsh_option(const Argument& option) {
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), zsh_action(option));
  std::string specifications;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--") && !option.value.empty();
    specifications += fmt::format(" \\\n    '{}{}{}[{}]{}'", option.repeats ? "*" : "", name,
                                  is_long ? "=" : "", zsh_text(option.about), value);
  }
  return specifications;
}

std::string zsh_function(const CommandTable& command) {
  std::string text = fmt::format("{}() {{\n  _arguments -s -S", "_" + command.spelled("_"));
  for (const Argument& option : command.options) text += zsh_option(option);
  if (!command.commands.empty()) {
    text += " \\\n    '1:command:->command' '*::argument:->below'";
  } else {
    for (const Argument& argument : command.by_place) {
      text += fmt::format(" \\\n    '{}:{}:{}'", argument.repeats ? "*" : "",
                          zsh_text(argument.names.front()),
                          kind_of(argument) == Kind::none ? "_files" : zsh_action(argument));
    }
  }
  text += '\n';
  if (!command.commands.empty()) {
    text += "  case $state in\n    command)\n      local -a commands=(";
    for (const CommandTable& each : command.commands) {
      text += fmt::format("\n        '{}:{}'", each.path.back(), zsh_text(each.about));
    }
    text += ")\n      _describe command commands";
    if (!command.by_place.empty()) text += "\n      _files";
    text += " ;;\n    below)\n      case $words[1] in";
    for (const CommandTable& each : command.commands) {
      text += fmt::format("\n        {}) _{} ;;", each.path.back(), each.spelled("_"));
    }
    text += fmt::format("\n        *) {} ;;\n      esac ;;\n  esac\n",
                        command.by_place.empty() ? "return 1" : "_files");
  }
  return text + "}\n\n";
}

}  // namespace

std::string bash_completion(const CommandTable& program, const std::vector<std::string>& policies) {
  std::string paths;
  std::string words;
  std::string values;
  for (const CommandTable* const command : all_commands(program)) {
    const std::string spelled = command->spelled();
    if (!command->path.empty()) paths += fmt::format("{}'{}'", paths.empty() ? "" : " | ", spelled);
    words += fmt::format("    '{}')\n      next='{}'\n      options='{}' ;;\n", spelled,
                         fmt::join(next_words(*command, policies), " "),
                         fmt::join(option_names(*command), " "));
    for (const Argument& option : command->options) {
      if (option.value.empty()) continue;
      std::string patterns;
      for (const std::string& name : option.names) {
        patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", spelled, name);
      }
      values += fmt::format("    {}) {} ;;\n", patterns, bash_action(option));
    }
  }
  return fmt::format(R"(# bash completion of almanac, by almanac completion bash

# Policies are given by comma; slots are replaced with +.
_almanac_policies() {{
  local last=${{cur##*,}}
  mapfile -t COMPREPLY < <(compgen -P "${{cur%"$last"}}" -W '{}' -- "$last")
  compopt -o default
}}

_almanac() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command=almanac next='' options='' words='' at
  # --option=value comes as three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $option == = ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((at = 1; at < COMP_CWORD; ++at)); do
    if [[ ${{COMP_WORDS[at]}} == -- ]]; then
      compopt -o default
      return
    fi
    case "$command ${{COMP_WORDS[at]}}" in
      {}) command+=" ${{COMP_WORDS[at]}}" ;;
    esac
  done
  case $command in
{}  esac
  case "$command $option" in
{}  esac
  if [[ -z $words ]]; then
    words=$next
    [[ $cur == -* ]] && words=$options
    compopt -o default
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}}

complete -F _almanac almanac
)",
                     fmt::join(policies, " "), paths, words, values);
}

std::string zsh_completion(const CommandTable& program, const std::vector<std::string>& policies) {
  std::string text = fmt::format(
      "#compdef almanac\n# zsh completion of almanac, by almanac completion zsh\n\n"
      "local context state line\nlocal -A opt_args\nlocal -a policies=({})\n\n",
      fmt::join(policies, " "));
  for (const CommandTable* const command : all_commands(program)) text += zsh_function(*command);
  return text + "_almanac \"$@\"\n";
}

std::string fish_completion(const CommandTable& program, const std::vector<std::string>& policies) {
  std::string text = fmt::format(R"(# fish completion of almanac, by almanac completion fish

# Whether the command line has come to the command told.
function __almanac_at
    set -l at
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
)");
  std::string rules;
  for (const CommandTable* const command : all_commands(program)) {
    std::string path = fmt::format("{}", fmt::join(command->path, " "));
    if (!command->path.empty()) {
      text += fmt::format("            case {}\n                set at \"$at $word\"\n",
                          text::quoted(" " + path, "\\'"));
    }
    const std::string at = fmt::format("complete -c almanac -n \"__almanac_at {}\"",
                                       path.empty() ? "''" : "'" + path + "'");
    for (const CommandTable& each : command->commands) {
      rules += fmt::format("{} -f -a {} -d {}\n", at, each.path.back(),
                           text::quoted(first_line(each.about), "\\'"));
    }
    for (const Argument& argument : command->by_place) {
      if (!argument.choices.empty()) {
        rules += fmt::format("{} -f -a '{}'\n", at, fmt::join(argument.choices, " "));
      } else if (kind_of(argument) == Kind::policies) {
        rules += fmt::format("{} -a '{}'\n", at, fmt::join(policies, " "));
      }
    }
    for (const Argument& option : command->options) {
      std::string rule = at;
      for (const std::string& name : option.names) {
        rule += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      switch (kind_of(option)) {
        case Kind::none:
          break;
        case Kind::choices:
          rule += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
          break;
        case Kind::policies:
          rule += fmt::format(" -r -a '(__fish_append , {})'", fmt::join(policies, " "));
          break;
        case Kind::folders:
          rule += " -x -a '(__fish_complete_directories)'";
          break;
        case Kind::files:
          rule += " -r -F";
          break;
      }
      rules += fmt::format("{} -d {}\n", rule, text::quoted(first_line(option.about), "\\'"));
    }
  }
  return text + R"(        end
    end
    test "$at" = (string replace -r '^(?=.)' ' ' -- "$argv[1]")
end

)" + rules;
}

}  // namespace almanac::cli
