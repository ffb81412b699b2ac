// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/topic.h"

namespace almanac::cli {
namespace {

/// Escapes what scdoc would read as markup.
std::string plain(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    const bool begins_line = escaped.empty() || escaped.back() == '\n';
    if (c == '\\' || c == '_' || c == '*' ||
        (begins_line && std::string_view("#[]|`-;").find(c) != std::string_view::npos)) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

/// The summary in the line of a name, which is no sentence.
std::string summary(std::string text) {
  if (const std::string own = "Almanac "; text.starts_with(own)) text.erase(0, own.size());
  const bool is_word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (is_word) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// Lines that stay as they are.
std::string literal(const std::vector<std::string>& lines) {
  return fmt::format("```\n{}\n```\n\n", fmt::join(lines, "\n"));
}

/// A list of names and what they mean.
std::string entry(const std::string& name, const std::string& words) {
  return fmt::format("*{}*\n\t{}\n\n", plain(name), plain(words));
}

std::string heading(const Argument& argument) {
  const bool is_option = argument.names.front().starts_with('-');
  if (!is_option) return fmt::format("_{}_", plain(argument.names.front()));
  std::string text;
  for (const std::string& name : argument.names) {
    text += fmt::format("{}*{}*", text.empty() ? "" : ", ", plain(name));
  }
  if (!argument.value.empty()) text += fmt::format(" _{}_", plain(argument.placeholder()));
  return text;
}

std::string described(const Argument& argument) {
  std::string page = fmt::format("{}\n\t{}\n", heading(argument), plain(argument.about));
  std::vector<std::string> rules = argument.rules;
  if (!argument.choices.empty()) {
    rules.insert(rules.begin(), fmt::format("one of {}", fmt::join(argument.choices, ", ")));
  }
  const bool has_default = argument.about.find("(default") != std::string::npos;
  if (!argument.preset.empty() && !has_default) rules.push_back("default: " + argument.preset);
  if (!rules.empty()) {
    std::string rule = fmt::format("{}", fmt::join(rules, "; "));
    rule[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(rule[0])));
    page += fmt::format("\n\t{}.\n", plain(rule));
  }
  return page + '\n';
}

std::string synopsis(const CommandTable& command) {
  std::string page = fmt::format("*{}*", plain(command.spelled()));
  return page + plain(command.usage().substr(command.spelled().size())) + "\n\n";
}

std::string page_name(const CommandTable& command) { return plain(command.spelled("-")); }

std::string see_also(const CommandTable& program, const CommandTable& command) {
  std::vector<std::string> pages;
  if (!command.path.empty()) pages.emplace_back("*almanac*(1)");
  for (const CommandTable* const other : all_commands(program)) {
    // What lies directly below, and the neighbors below the same noun.
    const bool is_child = !command.path.empty() && other->path.size() == command.path.size() + 1 &&
                          std::equal(command.path.begin(), command.path.end(), other->path.begin());
    const bool is_neighbour = command.path.size() > 1 && other != &command &&
                              other->path.size() == command.path.size() &&
                              other->path.front() == command.path.front();
    if (is_child || is_neighbour) pages.push_back(fmt::format("*{}*(1)", page_name(*other)));
  }
  return pages.empty() ? "" : fmt::format("# SEE ALSO\n\n{}\n", fmt::join(pages, ", "));
}

}  // namespace

std::string manual_page(const CommandTable& program, const CommandTable& command) {
  std::string page =
      fmt::format("{0}(1) \"almanac {1}\" \"Almanac\"\n\n# NAME\n\n{2} - {3}\n\n# SYNOPSIS\n\n{4}",
                  command.spelled("-"), ALMANAC_VERSION, page_name(command),
                  plain(summary(command.about)), synopsis(command));
  if (!command.commands.empty()) {
    page += "# COMMANDS\n\n";
    for (const CommandTable* const each : all_commands(command)) {
      if (each == &command || each->needs_command) continue;
      page += fmt::format("*{}*(1)\n\t{}\n\n", page_name(*each), plain(each->about));
    }
  }
  if (!command.by_place.empty()) page += "# ARGUMENTS\n\n";
  for (const Argument& argument : command.by_place) page += described(argument);
  page += "# OPTIONS\n\n";
  std::vector<Argument> options = command.options;
  std::stable_sort(options.begin(), options.end(), [](const Argument& a, const Argument& b) {
    return group_order(a.group) < group_order(b.group);
  });
  for (const Argument& argument : options) page += described(argument);
  if (!command.needs_command || command.path.empty()) {
    page += "# EXIT STATUS\n\n";
    // A command may mean something else with one of them.
    for (const std::string& each : command.exit_statuses) {
      page += entry(each.substr(0, each.find(' ')), each.substr(4));
    }
    for (const Meaning& each : exit_statuses()) {
      const std::string status = std::to_string(static_cast<int>(each.status));
      const bool has_own = std::any_of(
          command.exit_statuses.begin(), command.exit_statuses.end(),
          [&](const std::string& own) { return own.substr(0, own.find(' ')) == status; });
      if (!has_own) page += entry(status, each.words);
    }
  }
  if (command.path.empty()) {
    page += "# ENVIRONMENT\n\n";
    for (const Variable& each : variables()) page += entry(each.name, each.words);
    page += "# FILES\n\n";
    page += entry("/etc/almanac/almanac.toml", "Defaults for all users of the machine");
    page += entry("~/.config/almanac/almanac.toml",
                  "Defaults of a user; almanac help config describes the keys");
  }
  if (!command.examples.empty()) page += "# EXAMPLES\n\n" + literal(command.examples);
  return page + see_also(program, command);
}

}  // namespace almanac::cli
