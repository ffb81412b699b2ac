// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac completion: prints the completion script of a shell.
#include "cli/completion.h"

#include <memory>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/value_check.h"
#include "policy/registry.h"

namespace almanac::cli {
namespace {

Result<int> complete(const CLI::App& app, const std::string& shell) {
  const CommandTable program = option_table(app);
  std::vector<std::string> policies;
  for (const policy::Composition& each : policy::registry().policies()) {
    policies.push_back(each.name);
  }
  const auto print = shell == "bash"  ? bash_completion
                     : shell == "zsh" ? zsh_completion
                                      : fish_completion;
  fmt::print("{}", print(program, policies));
  return kDone;
}

}  // namespace

void register_completion(Program& program) {
  CLI::App& command = program.command(Purpose::program, "completion",
                                      "Print a completion script for bash, zsh or fish");
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "Shell")->required()->check(one_of({"bash", "zsh", "fish"}));
  add_example(command,
              "almanac completion bash > ~/.local/share/bash-completion/completions/almanac");
  program.on(
      command, [shell, &program] { return complete(program.app, *shell); }, false);
}

}  // namespace almanac::cli
