// SPDX-License-Identifier: Apache-2.0

/// \file
/// The program `almanac`.
#include <memory>

#include "cli/help_page.h"
#include "cli/old_names.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/run_main.h"
#include "process/own_program.h"

int main(int argc, char** argv) {
  using namespace almanac;
  process::own_program();  // before a thread reads the environment, and before a job inherits it
  cli::replace_old_names(argc, argv);
  CLI::App app{"Almanac understands, predicts, schedules, simulates and runs GPU clusters",
               "almanac"};
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  app.formatter(std::make_shared<cli::HelpFormatter>());
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("-V,--version", "almanac " ALMANAC_VERSION, "Print the version");

  cli::Program program{.app = app, .command_line = {argv, argv + argc}};
  app.add_option("--config", program.configuration,
                 "Configuration file; overrides the machine's and your own (almanac help config)")
      ->type_name("FILE")
      ->group(heading(cli::Group::general));
  cli::register_command(program);
  return cli::run_main(argc, argv, program);
}
