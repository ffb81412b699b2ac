// SPDX-License-Identifier: Apache-2.0

/// \file
/// The program `almanac`: parses the command line, runs the chosen action, reports its error.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "cli/misuse.h"
#include "cli/program.h"
#include "process/own_program.h"

int main(int argc, char** argv) try {
  using namespace almanac;
  process::own_program();  // before a thread reads the environment, and before a job inherits it
  CLI::App app{"Almanac: scheduling deep-learning work on GPU clusters from what history teaches",
               "almanac"};
  app.set_version_flag("--version", "almanac " ALMANAC_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  app.formatter(std::make_shared<cli::CommandList>());

  cli::Program program{.app = app, .command_line = {argv, argv + argc}};
  cli::register_command(program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}\n", cli::misuse(app, error));
    return cli::kUsage;
  }
  const Result<int> status = program.action();
  if (!status) {
    fmt::print(stderr, "almanac: {}\n", to_string(status.error()));
    return cli::exit_status(status.error().code);
  }
  // What was printed may still lie in a buffer, and a full disk shows only now.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
  return *status;
} catch (const std::system_error& error) {
  if (error.code() == std::errc::resource_unavailable_try_again) {
    fmt::print(stderr,
               "almanac: no thread can be started: the processes or the address space of this "
               "user are limited (raise ulimit -u and ulimit -v)\n");
    return almanac::cli::exit_status(almanac::Code::unavailable);
  }
  if (std::ferror(stdout) == 0) {
    fmt::print(stderr, "almanac: internal error: {}\n", error.what());
    return almanac::cli::kInternal;
  }
  fmt::print(stderr, "almanac: standard output cannot be written: {}\n", error.code().message());
  return almanac::cli::kCannotWrite;
} catch (const std::exception& error) {
  fmt::print(stderr, "almanac: internal error: {}\n", error.what());
  return almanac::cli::kInternal;
}
