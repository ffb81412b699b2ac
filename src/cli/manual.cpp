// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <array>
#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/program.h"

namespace almanac::cli {
namespace {

struct Meaning {
  Exit status;
  const char* words;
};

constexpr std::array kMeanings{
    Meaning{kDone, "done"},
    Meaning{kCheckFailed, "a check failed, or what was compared differs"},
    Meaning{kUsage, "the command line is wrong"},
    Meaning{kBadData, "a file does not hold what it should"},
    Meaning{kNoInput, "a file or a name is not there"},
    Meaning{kUnavailable, "a service, or what it needs, is not available"},
    Meaning{kInternal, "a defect of almanac itself"},
    Meaning{kInterrupted, "interrupted; what was written is marked incomplete"},
};

/// What scdoc would take for markup is not.
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

/// As the line of a name: without the program's own, and not as a sentence.
std::string summary(std::string text) {
  if (const std::string own = "Almanac: "; text.starts_with(own)) text.erase(0, own.size());
  const bool is_word = text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0;
  if (is_word) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

/// Text whose indented lines stay as they are.
std::string paragraphs(const std::string& text, const std::string& indent) {
  std::string page;
  bool is_literal = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ") != is_literal) {
      is_literal = !is_literal;
      page += is_literal ? fmt::format("\n{}```\n", indent) : fmt::format("{}```\n\n", indent);
    }
    page += indent + (is_literal ? line.substr(2) : plain(line)) + '\n';
  }
  if (is_literal) page += indent + "```\n";
  return page;
}

std::string placeholder(const Argument& argument) {
  return fmt::format("_{}_{}", plain(argument.value), argument.repeats ? "..." : "");
}

std::string heading(const Argument& argument) {
  const bool is_option = argument.names.front().starts_with('-');
  if (!is_option) return fmt::format("_{}_", plain(argument.names.front()));
  std::string text;
  for (const std::string& name : argument.names) {
    text += fmt::format("{}*{}*", text.empty() ? "" : ", ", plain(name));
  }
  if (!argument.value.empty()) text += " " + placeholder(argument);
  return text;
}

std::string described(const Argument& argument) {
  std::string page = fmt::format("{}\n{}", heading(argument), paragraphs(argument.about, "\t"));
  std::vector<std::string> rules = argument.rules;
  if (!argument.choices.empty()) {
    rules.insert(rules.begin(), fmt::format("one of {}", fmt::join(argument.choices, ", ")));
  }
  if (!argument.preset.empty()) rules.push_back("default: " + argument.preset);
  if (!rules.empty()) {
    std::string rule = fmt::format("{}", fmt::join(rules, "; "));
    rule[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(rule[0])));
    page += fmt::format("\n\t{}.\n", plain(rule));
  }
  return page + '\n';
}

std::string synopsis(const CommandTable& command) {
  std::string page = fmt::format("*{}*", plain(command.spelled()));
  if (!command.options.empty()) page += " [_OPTION_...]";
  for (const Argument& argument : command.by_place) {
    const std::string value = placeholder(argument);
    page += argument.required ? " " + value : fmt::format(" [{}]", value);
  }
  if (!command.commands.empty()) {
    page += command.needs_command ? " _COMMAND_ ..." : " [_COMMAND_ ...]";
  }
  return page + "\n\n";
}

std::string page_name(const CommandTable& command) { return plain(command.spelled("-")); }

std::string see_also(const CommandTable& program, const CommandTable& command) {
  std::vector<std::string> pages;
  if (!command.path.empty()) pages.emplace_back("*almanac*(1)");
  for (const CommandTable* const other : all_commands(program)) {
    // What lies directly below, and the neighbours below the same noun.
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
  for (const Argument& argument : command.options) page += described(argument);
  if (!command.needs_command || command.path.empty()) {
    page += "# EXIT STATUS\n\n";
    for (const Meaning& each : kMeanings) {
      page += fmt::format("*{}*\n\t{}\n\n", static_cast<int>(each.status), plain(each.words));
    }
  }
  if (command.path.empty()) {
    page +=
        "# ENVIRONMENT\n\n*NO\\_COLOR*\n\tIf set, nothing is coloured.\n\n"
        "*CUDA\\_VISIBLE\\_DEVICES*\n\tThe GPUs that *almanac-profile*(1) may use.\n\n";
  }
  if (!command.more.empty()) {
    std::string more = command.more;
    if (more.starts_with("Examples:\n")) more.erase(0, 10);
    page += "# EXAMPLES\n" + paragraphs(more, "") + '\n';
  }
  return page + see_also(program, command);
}

}  // namespace almanac::cli
