// SPDX-License-Identifier: Apache-2.0
#include "cli/run_main.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "cli/config.h"
#include "cli/misuse.h"
#include "cli/terminal.h"

namespace almanac::cli {

namespace {

/// The command that was given: the last one, as "trace convert" is below "trace".
CLI::App& chosen_command(CLI::App& app) {
  CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().back();
  return *last;
}

/// Throws if standard output cannot take what is still in a buffer: a full disk shows only now.
void flush_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
}

}  // namespace

int run_main(int argc, char** argv, Program& program) try {
  CLI::App& app = program.app;
  try {
    app.parse(argc, argv);
    refuse_empty_values(app);
  } catch (const CLI::Success& help) {
    const int status = app.exit(help);
    flush_output();
    return status;
  } catch (const CLI::ParseError& error) {
    print_message(misuse(app, error));
    return kUsage;
  }
  const Result<int> status = [&]() -> Result<int> {
    if (program.reads_configuration) {
      if (auto loaded = load_configuration(program.configuration, app); !loaded) {
        return tl::unexpected(loaded.error());
      }
      if (auto applied = apply_configuration(configuration(), chosen_command(app)); !applied) {
        return tl::unexpected(applied.error());
      }
    }
    return program.action();
  }();
  if (!status) {
    Error error = status.error();
    if (program.reads_configuration)
      error = naming_its_setting(std::move(error), configuration(), chosen_command(app));
    print_message(fmt::format("{}: {}", app.get_name(), to_string(error)));
    return exit_status(error);
  }
  flush_output();
  return *status;
} catch (const std::system_error& error) {
  const std::string name = program.app.get_name();
  if (std::ferror(stdout) == 0 && error.code() == std::errc::resource_unavailable_try_again) {
    print_message(name +
                  ": cannot start a thread: this user's processes or address space are limited "
                  "(raise ulimit -u and ulimit -v)");
    return exit_status(Code::unavailable);
  }
  if (std::ferror(stdout) == 0) {
    print_message(fmt::format("{}: internal error: {}", name, error.what()));
    return kInternal;
  }
  print_message(fmt::format("{}: cannot write standard output: {}", name, error.code().message()));
  return kCannotWrite;
} catch (const std::exception& error) {
  print_message(fmt::format("{}: internal error: {}", program.app.get_name(), error.what()));
  return kInternal;
}

}  // namespace almanac::cli
