// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <array>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace almanac::cli {

namespace {

constexpr std::array<const char*, 6> kHeadings{"Understand a cluster", "Predict",
                                               "Choose a policy",      "Run it",
                                               "Jobs of the service",  "This program"};

}  // namespace

CLI::App& Program::command(Purpose purpose, const std::string& name,
                           const std::string& description) {
  CLI::App& made = *app.add_subcommand(name, description);
  made.group(kHeadings[static_cast<std::size_t>(purpose)]);
  return made;
}

CLI::App& Program::noun(Purpose purpose, const std::string& name, const std::string& description) {
  for (CLI::App* const known : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (known->get_name() == name) return *known;
  }
  CLI::App& made = command(purpose, name, description);
  made.require_subcommand(1);
  return made;
}

void Program::on(CLI::App& command, std::function<Result<int>()> run) {
  command.callback([this, &command, run = std::move(run)] {
    // A command with subcommands is called back last, also when one of them was given.
    if (command.get_subcommands().empty()) action = run;
  });
}

Exit exit_status(Code code) {
  switch (code) {
    case Code::usage:
      return kUsage;
    case Code::invalid:
    case Code::corrupt:
    case Code::unsupported:
      return kBadData;
    case Code::not_found:
      return kNoInput;
    case Code::conflict:
    case Code::unavailable:
      return kUnavailable;
  }
  return kInternal;
}

std::string CommandList::make_subcommands(const CLI::App* app, CLI::AppFormatMode) const {
  std::string text;
  if (app->get_parent() != nullptr) {
    // Those of a group are of the group's purpose all.
    for (const CLI::App* const each : app->get_subcommands([](const CLI::App*) { return true; })) {
      text += make_subcommand(each);
    }
    return text.empty() ? text : "\nCommands:\n" + text;
  }
  for (const char* const heading : kHeadings) {
    text += fmt::format("\n{}:\n", heading);
    for (const CLI::App* const each : app->get_subcommands(
             [&](const CLI::App* command) { return command->get_group() == heading; })) {
      text += make_subcommand(each);
    }
  }
  return text;
}

void add_example(CLI::App& command, const std::string& line) {
  const std::string before = command.get_footer();
  command.footer((before.empty() ? "Examples:" : before) + "\n  " + line);
}

void note(const std::string& text) { fmt::print(stderr, "almanac: note: {}\n", text); }

}  // namespace almanac::cli
