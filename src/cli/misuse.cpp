// SPDX-License-Identifier: Apache-2.0
#include "cli/misuse.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "text/nearest.h"

namespace almanac::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unknown(const std::string& kind, const std::string& word, const std::string& meant,
                    const std::string& path) {
  return fmt::format("almanac: no {} {} ({}{} --help lists them)", kind, word,
                     meant.empty() ? "" : meant + "; ", path);
}

}  // namespace

std::string misuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* last = &app;
  std::string above;
  std::string path = app.get_name();
  while (!last->get_subcommands().empty()) {
    last = last->get_subcommands().back();
    above = path;
    path += " " + last->get_name();
  }
  const std::vector<std::string> words = last->remaining();
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-' && word != "--";
  });
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return unknown("option", name, text::did_you_mean(name, options_of(*last)), path);
  }
  if (last->get_require_subcommand_min() > 0) {
    if (words.empty()) return last->help(above);
    return unknown("command", words[0], text::did_you_mean(words[0], commands_of(*last)), path);
  }
  std::string what = error.what();
  constexpr std::string_view kConversion = "Could not convert: ";
  constexpr std::string_view kIs = " = ";
  if (const auto is = what.find(kIs); what.starts_with(kConversion) && is != std::string::npos) {
    what = fmt::format("{}: \"{}\" is not a valid number",
                       what.substr(kConversion.size(), is - kConversion.size()),
                       what.substr(is + kIs.size()));
  }
  return fmt::format("almanac: {} (see {} --help)", what, path);
}

}  // namespace almanac::cli
