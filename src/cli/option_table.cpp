// SPDX-License-Identifier: Apache-2.0
#include "cli/option_table.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_group.h"
#include "cli/program.h"

namespace almanac::cli {
namespace {

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return names;
}

/// Where the check of a value begins: a placeholder may have colons of its own.
std::size_t check_of(const std::string& type) {
  for (std::size_t at = type.find(':'); at != std::string::npos; at = type.find(':', at + 1)) {
    const std::string_view rest = std::string_view(type).substr(at + 1);
    const bool is_range = rest.starts_with("from ") || rest.ends_with(" or more");
    if (rest.starts_with('{') || is_range || rest == "above 0") return at;
  }
  return std::string::npos;
}

/// CLI11 writes the kind of a value and what it is checked for as one: "TEXT:{table,json}",
/// "FACTOR:from 0.001 to 1000".
void read_type(const std::string& type, Argument& argument) {
  const std::size_t colon = check_of(type);
  argument.value = type.substr(0, colon);
  // CLI11's own words, where an option has no placeholder.
  if (argument.value == "INT" || argument.value == "UINT") argument.value = "N";
  if (argument.value == "FLOAT") argument.value = "NUMBER";
  if (argument.value == "TEXT") argument.value = type.ends_with('}') ? "NAME" : "VALUE";
  if (colon == std::string::npos) return;
  const std::string check = type.substr(colon + 1);
  if (check.starts_with('{') && check.ends_with('}')) {
    std::istringstream choices(check.substr(1, check.size() - 2));
    for (std::string each; std::getline(choices, each, ',');) argument.choices.push_back(each);
  } else {
    argument.rules.push_back(check);
  }
}

/// CLI11 writes a default of several values as "[32,128]".
std::string without_brackets(std::string preset) {
  if (!preset.starts_with('[') || !preset.ends_with(']')) return preset;
  std::istringstream values(preset.substr(1, preset.size() - 2));
  std::vector<std::string> words;
  for (std::string each; std::getline(values, each, ',');) words.push_back(each);
  return fmt::format("{}", fmt::join(words, ", "));
}

Argument argument_of(const CLI::Option& option) {
  Argument argument;
  argument.about = option.get_description();
  argument.group = option.get_group();
  argument.preset = without_brackets(option.get_default_str());
  argument.required = option.get_required();
  argument.repeats = option.get_items_expected_max() > 1;
  if (option.get_items_expected_max() > 0) read_type(option.get_type_name(), argument);
  if (const std::string& text = option.get_option_text(); !text.empty()) {
    (option.get_positional() ? argument.usage : argument.value) = text;
  }
  if (const auto others = names_of(option.get_needs()); !others.empty()) {
    argument.rules.push_back(fmt::format("only with {}", fmt::join(others, " and ")));
  }
  if (const auto others = names_of(option.get_excludes()); !others.empty()) {
    argument.rules.push_back("not with " + either(others));
  }
  return argument;
}

/// The indented lines of a footer below `heading`.
std::vector<std::string> lines_below(const std::string& footer, std::string_view heading) {
  std::vector<std::string> found;
  std::istringstream lines(footer);
  bool is_below = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      is_below = line == heading;
    } else if (is_below) {
      found.push_back(line.substr(2));
    }
  }
  return found;
}

CommandTable table_of(const CLI::App& command, std::vector<std::string> path) {
  CommandTable table{.path = std::move(path),
                     .group = command.get_group(),
                     .about = command.get_description(),
                     .examples = lines_below(command.get_footer(), kExamples),
                     .exit_statuses = lines_below(command.get_footer(), kExitStatus),
                     .needs_command = command.get_require_subcommand_min() > 0,
                     .options = {},
                     .by_place = {},
                     .commands = {}};
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_group().empty()) continue;
    Argument argument = argument_of(*option);
    if (option == command.get_help_ptr() || option == command.get_version_ptr()) {
      argument.group = heading(Group::general);
    }
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

std::string Argument::placeholder() const {
  return repeats && value.find("...") == std::string::npos ? value + "..." : value;
}

std::string CommandTable::spelled(const char* between) const {
  std::string text = "almanac";
  for (const std::string& word : path) text += between + word;
  return text;
}

std::string CommandTable::usage() const {
  std::string text = spelled();
  if (needs_command) return text + " COMMAND [options]";
  std::string before;
  std::string after;
  for (const Argument& argument : by_place) {
    std::string word = argument.names.front() + (argument.repeats ? "..." : "");
    if (!argument.required) word = "[" + word + "]";
    if (!argument.usage.empty()) word = argument.usage;
    // What follows "--" is the user's own command line, so options stand before it.
    (word.find("--") == std::string::npos ? before : after) += " " + word;
  }
  return text + before + " [options]" + after;
}

std::string preset_of(const CLI::Option& option) {
  if (std::string preset = option.get_default_str(); !preset.empty()) return preset;
  const std::string& about = option.get_description();
  constexpr std::string_view kMark = "(default";
  const std::size_t mark = about.rfind(kMark);
  if (mark == std::string::npos) return "";
  const std::size_t from = about.find_first_not_of(": ", mark + kMark.size());
  const std::size_t end = about.rfind(')');
  return end == std::string::npos || end <= from ? "" : about.substr(from, end - from);
}

std::string either(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

CommandTable option_table(const CLI::App& app) {
  std::vector<std::string> path;
  for (const CLI::App* each = &app; each->get_parent() != nullptr; each = each->get_parent()) {
    path.insert(path.begin(), each->get_name());
  }
  return table_of(app, std::move(path));
}

std::vector<const CommandTable*> all_commands(const CommandTable& table) {
  std::vector<const CommandTable*> all;
  add_all(table, all);
  return all;
}

}  // namespace almanac::cli
