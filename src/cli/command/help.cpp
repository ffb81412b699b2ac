// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac help: the same as --help of a command, topics that many commands share, and policies.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/describe_policy.h"
#include "cli/help_page.h"
#include "cli/program.h"
#include "cli/topic.h"
#include "text/nearest.h"

namespace almanac::cli {
namespace {

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& each : topics()) names.push_back(each.name);
  return names;
}

/// Whether the base of `text`, as in "qssf+easy:1", is a policy or a part of policies.
bool is_policy_or_part(const std::string& text) {
  std::string base = text.substr(text.starts_with('+') ? 1 : 0);
  base.resize(std::min(base.size(), base.find_first_of("+:")));
  std::replace(base.begin(), base.end(), '-', '_');
  const std::vector<std::string> known = policy_and_part_names();
  return std::find(known.begin(), known.end(), base) != known.end();
}

Result<int> help(const CLI::App& app, const std::vector<std::string>& words) {
  for (const Topic& each : topics()) {
    if (words != std::vector{each.name}) continue;
    fmt::print("{}", each.page(help_width()));
    return kDone;
  }
  const CLI::App* named = &app;
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* const each :
         named->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(each->get_name());
      if (each->get_name() == word) next = each;
    }
    if (next == nullptr) {
      if (words.size() == 1 && is_policy_or_part(word)) return describe_policy(word, false);
      for (const std::string& each : topic_names()) known.push_back(each);
      for (std::string& each : policy_and_part_names()) known.push_back(std::move(each));
      const std::string meant = text::did_you_mean(word, known);
      return fail(
          Code::usage,
          fmt::format("no command, topic, policy or part is named {}", fmt::join(words, " ")), {},
          meant.empty() ? fmt::format("topics: {}; almanac --help lists all commands",
                                      fmt::join(topic_names(), ", "))
                        : meant);
    }
    named = next;
  }
  fmt::print("{}", help_page(option_table(*named), help_width()));
  return kDone;
}

}  // namespace

void register_help(Program& program) {
  CLI::App& command =
      program.command(Purpose::program, "help", "Explain a command, a topic or a policy");
  const auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("COMMAND", *words,
                     "Command, topic, policy or part of policies; by default an overview");
  add_example(command, "almanac help trace info");
  add_example(command, "almanac help formats");
  add_example(command, "almanac help gittins");
  program.on(
      command, [words, &program] { return help(program.app, *words); }, false);
}

}  // namespace almanac::cli
