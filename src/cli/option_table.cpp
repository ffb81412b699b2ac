// SPDX-License-Identifier: Apache-2.0
#include "cli/option_table.h"

#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace almanac::cli {
namespace {

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return names;
}

/// CLI11 writes the kind of a value and what it is checked for as one: "TEXT:{table,json}",
/// "FACTOR:FLOAT in [0.001 - 1000]".
void read_type(const std::string& type, Argument& argument) {
  const std::size_t colon = type.find(':');
  argument.value = type.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string check = type.substr(colon + 1);
  if (check.starts_with('{') && check.ends_with('}')) {
    std::istringstream choices(check.substr(1, check.size() - 2));
    for (std::string each; std::getline(choices, each, ',');) argument.choices.push_back(each);
  } else if (const std::size_t in = check.find(" in ["); in != std::string::npos) {
    argument.rules.push_back("from " + check.substr(in + 5, check.size() - in - 6));
    std::string& rule = argument.rules.back();
    if (const std::size_t dash = rule.find(" - "); dash != std::string::npos) {
      rule.replace(dash, 3, " to ");
    }
  }
}

Argument argument_of(const CLI::Option& option) {
  Argument argument;
  argument.about = option.get_description();
  argument.preset = option.get_default_str();
  argument.required = option.get_required();
  argument.repeats = option.get_items_expected_max() > 1;
  if (option.get_items_expected_max() > 0) read_type(option.get_type_name(), argument);
  if (!option.get_option_text().empty()) argument.value = option.get_option_text();
  if (const auto others = names_of(option.get_needs()); !others.empty()) {
    argument.rules.push_back(fmt::format("only with {}", fmt::join(others, " and ")));
  }
  if (const auto others = names_of(option.get_excludes()); !others.empty()) {
    argument.rules.push_back(fmt::format("not with {}", fmt::join(others, " or ")));
  }
  return argument;
}

CommandTable table_of(const CLI::App& command, std::vector<std::string> path) {
  CommandTable table{.path = std::move(path),
                     .about = command.get_description(),
                     .more = command.get_footer(),
                     .needs_command = command.get_require_subcommand_min() > 0,
                     .options = {},
                     .by_place = {},
                     .commands = {}};
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_group().empty()) continue;
    Argument argument = argument_of(*option);
    // One may be both: "OUT,--out".
    if (option->get_positional()) {
      Argument by_place = argument;
      by_place.names = {option->get_name(true)};
      by_place.value = by_place.names.front();
      table.by_place.push_back(std::move(by_place));
    }
    for (const std::string& name : option->get_snames()) argument.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) argument.names.push_back("--" + name);
    if (!argument.names.empty()) table.options.push_back(std::move(argument));
  }
  for (const CLI::App* const each :
       command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
    std::vector<std::string> below = table.path;
    below.push_back(each->get_name());
    table.commands.push_back(table_of(*each, std::move(below)));
  }
  std::sort(table.commands.begin(), table.commands.end(),
            [](const CommandTable& a, const CommandTable& b) { return a.path < b.path; });
  return table;
}

void add_all(const CommandTable& table, std::vector<const CommandTable*>& all) {
  all.push_back(&table);
  for (const CommandTable& each : table.commands) add_all(each, all);
}

}  // namespace

std::string CommandTable::spelled(const char* between) const {
  std::string text = "almanac";
  for (const std::string& word : path) text += between + word;
  return text;
}

CommandTable option_table(const CLI::App& program) { return table_of(program, {}); }

std::vector<const CommandTable*> all_commands(const CommandTable& table) {
  std::vector<const CommandTable*> all;
  add_all(table, all);
  return all;
}

}  // namespace almanac::cli
