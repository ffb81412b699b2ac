// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac help: what --help says, for those who ask in this way.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/program.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

Result<int> help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* named = &app;
  std::string path = app.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* const each :
         named->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(each->get_name());
      if (each->get_name() == word) next = each;
    }
    if (next == nullptr) {
      return fail(Code::usage, fmt::format("no command {}", fmt::join(words, " ")), {},
                  text::did_you_mean(word, known));
    }
    path += " " + word;
    named = next;
  }
  // App::help() would speak of the command that was called: of this one.
  fmt::print("{}", named->get_formatter()->make_help(named, path, CLI::AppFormatMode::Normal));
  return kDone;
}

}  // namespace

void register_help(Program& program) {
  CLI::App& command =
      program.command(Purpose::shell, "help", "Say what a command does, as its --help");
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("COMMAND", *words, "Which; all commands if not given");
  add_example(command, "almanac help trace info");
  program.on(command, [words, &program] { return help(program.app, *words); });
}

}  // namespace almanac::cli
