// SPDX-License-Identifier: Apache-2.0

/// \file
/// The program `almanac`.
#include <memory>

#include "cli/old_names.h"
#include "cli/program.h"
#include "cli/run_main.h"
#include "process/own_program.h"

int main(int argc, char** argv) {
  using namespace almanac;
  process::own_program();  // before a thread reads the environment, and before a job inherits it
  cli::replace_old_names(argc, argv);
  CLI::App app{"Almanac: scheduling deep-learning work on GPU clusters from what history teaches",
               "almanac"};
  app.set_version_flag("--version", "almanac " ALMANAC_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  app.formatter(std::make_shared<cli::CommandList>());

  cli::Program program{.app = app, .command_line = {argv, argv + argc}};
  cli::register_command(program);
  return cli::run_main(argc, argv, program);
}
