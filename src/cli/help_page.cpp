// SPDX-License-Identifier: Apache-2.0
#include "cli/help_page.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/terminal.h"
#include "cli/topic.h"
#include "text/wrap.h"

namespace almanac::cli {
namespace {

/// A blank at which a line is not broken.
constexpr char kKept = '\t';

/// A longer name has a line of its own.
constexpr std::size_t kWidestName = 26;

constexpr std::array<std::pair<const char*, const char*>, 3> kFirstCommands{{
    {"almanac demo", "Open a dashboard with simulated GPUs, users and jobs"},
    {"almanac advise LOG", "Find a better scheduling policy for your own cluster"},
    {"almanac simulate LOG", "Replay a job log under several policies and compare them"},
}};

std::string in_lines(const std::string& text, std::size_t width) {
  return fmt::format("{}\n", fmt::join(text::wrap(text, width), "\n"));
}

/// "-o, --output FORM"; long names without a short one are indented to stand below each other.
std::string label(const Argument& option) {
  std::string text = option.names.front().starts_with("--") ? "    " : "";
  text += fmt::format("{}", fmt::join(option.names, ", "));
  return option.value.empty() ? text : text + " " + option.placeholder();
}

std::string with_default(const Argument& argument) {
  std::string text = argument.about;
  const bool explains_each = std::all_of(
      argument.choices.begin(), argument.choices.end(),
      [&](const auto& choice) { return text.find(choice + ": ") != std::string::npos; });
  if (!explains_each) {
    const std::size_t end = std::min(text.find(" (default"), text.size());
    text.insert(end, ": " + either(argument.choices));
  }
  if (!argument.preset.empty() && text.find("(default") == std::string::npos) {
    text += fmt::format(" (default {})", argument.preset);
  }
  const bool is_option = argument.names.front().starts_with('-');
  return is_option && argument.required ? text + " (required)" : text;
}

using Entry = std::pair<std::string, std::string>;

std::size_t column_for(const std::vector<Entry>& entries) {
  std::size_t widest = 0;
  for (const auto& [name, description] : entries) {
    const std::size_t width = text::width_of(name);
    if (width <= kWidestName) widest = std::max(widest, width);
  }
  return widest + 4;
}

std::string section(const std::string& heading, const std::vector<Entry>& entries,
                    std::size_t column, std::size_t width) {
  if (entries.empty()) return "";
  std::string page = fmt::format("\n{}:\n", heading);
  for (const auto& [name, description] : entries) {
    page += help_entry(name, description, column, width);
  }
  return page;
}

/// Options under their headings.
std::string option_sections(const CommandTable& command, std::size_t width) {
  std::vector<Entry> all;
  std::vector<std::pair<std::string, std::vector<Entry>>> groups;
  for (const Argument& option : command.options) {
    all.emplace_back(label(option), with_default(option));
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.first == option.group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {option.group, {}});
    found->second.push_back(all.back());
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return group_order(a.first) < group_order(b.first);
  });
  std::string page;
  for (const auto& [heading, entries] : groups) {
    page += section(heading, entries, column_for(all), width);
  }
  return page;
}

/// Whether the first commands of help have all that there is to say of it.
bool is_first(const CommandTable& command) {
  return std::any_of(kFirstCommands.begin(), kFirstCommands.end(),
                     [&](const auto& first) { return first.first == command.spelled(); });
}

std::string commands_below(const CommandTable& command, std::size_t width) {
  std::string page;
  std::vector<Entry> all;
  for (const CommandTable& each : command.commands) {
    all.emplace_back(each.path.back(), each.about);
  }
  const std::size_t column = column_for(all);
  if (!command.path.empty()) return section("Commands", all, column, width);
  for (std::size_t at = 0; at < kPurposes; ++at) {
    const std::string name = heading(static_cast<Purpose>(at));
    std::vector<Entry> entries;
    for (const CommandTable& each : command.commands) {
      if (each.group == name && !is_first(each)) entries.emplace_back(each.path.back(), each.about);
    }
    page += section(name, entries, column, width);
  }
  return page;
}

std::string first_commands(std::size_t width) {
  const std::vector<Entry> entries(kFirstCommands.begin(), kFirstCommands.end());
  return section("Start with one of these", entries, column_for(entries), width);
}

std::string topics_below(std::size_t width) {
  std::vector<Entry> entries;
  for (const Topic& each : topics()) entries.emplace_back("help " + each.name, each.summary);
  return section("Topics", entries, column_for(entries), width);
}

}  // namespace

std::string help_entry(const std::string& name, const std::string& description, std::size_t column,
                       std::size_t width) {
  std::string entry = "  " + name;
  if (description.empty()) return entry + '\n';
  const std::size_t used = text::width_of(entry);
  entry += used + 2 <= column ? std::string(column - used, ' ') : '\n' + std::string(column, ' ');
  const auto lines = text::wrap(description, width - column);
  return fmt::format("{}{}\n", entry, fmt::join(lines, '\n' + std::string(column, ' ')));
}

std::string help_example(const std::string& line, std::size_t width) {
  if (line.size() + 2 <= width) return fmt::format("  {}\n", line);
  // An option and its value stay together.
  std::string kept = line;
  for (std::size_t at = 0; (at = kept.find(' ', at)) != std::string::npos; ++at) {
    const bool breaks = kept.compare(at, 3, " --") == 0 || kept.compare(at, 3, " | ") == 0;
    if (!breaks) kept[at] = kKept;
  }
  std::string page;
  for (std::string part : text::wrap(kept, width - 8)) {
    std::replace(part.begin(), part.end(), kKept, ' ');
    page += (page.empty() ? "  " : " \\\n      ") + part;
  }
  return page + '\n';
}

std::string help_page(const CommandTable& command, std::size_t width) {
  const bool is_program = command.path.empty();
  std::string page = in_lines(command.about, width);
  page +=
      fmt::format("\nUsage: {}\n", fmt::join(text::wrap(command.usage(), width - 7), "\n       "));
  if (is_program) page += first_commands(width);
  std::vector<Entry> by_place;
  for (const Argument& each : command.by_place) {
    by_place.emplace_back(each.names.front() + (each.repeats ? "..." : ""), with_default(each));
  }
  page += section("Arguments", by_place, column_for(by_place), width);
  page += commands_below(command, width);
  page += option_sections(command, width);
  if (!command.exit_statuses.empty()) page += "\nExit status (others: almanac help exit-status):\n";
  for (const std::string& each : command.exit_statuses) {
    page += help_entry(each.substr(0, each.find(' ')), each.substr(4), 7, width);
  }
  if (!command.examples.empty()) page += "\nExamples:\n";
  for (const std::string& each : command.examples) page += help_example(each, width);
  if (is_program) {
    page += topics_below(width);
    page += "\n" + in_lines("Run almanac help COMMAND for the options of a command, with examples.",
                            width);
  }
  return page;
}

std::size_t help_width() {
  constexpr std::size_t kLeast = 60;
  constexpr std::size_t kMost = 100;
  constexpr std::size_t kWithoutTerminal = 80;
  const std::size_t columns = terminal_columns();
  return columns == 0 ? kWithoutTerminal : std::clamp(columns, kLeast, kMost);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode /*mode*/) const {
  return help_page(option_table(*app), help_width());
}

}  // namespace almanac::cli
