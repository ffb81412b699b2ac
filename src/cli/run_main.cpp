// SPDX-License-Identifier: Apache-2.0
#include "cli/run_main.h"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include <fmt/format.h>

#include "cli/misuse.h"

namespace almanac::cli {

int run_main(int argc, char** argv, Program& program) try {
  CLI::App& app = program.app;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}\n", misuse(app, error));
    return kUsage;
  }
  const Result<int> status = program.action();
  if (!status) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), to_string(status.error()));
    return exit_status(status.error().code);
  }
  // What was printed may still lie in a buffer, and a full disk shows only now.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
  return *status;
} catch (const std::system_error& error) {
  const std::string name = program.app.get_name();
  if (std::ferror(stdout) == 0 && error.code() == std::errc::resource_unavailable_try_again) {
    fmt::print(stderr,
               "{}: no thread can be started: the processes or the address space of this user are "
               "limited (raise ulimit -u and ulimit -v)\n",
               name);
    return exit_status(Code::unavailable);
  }
  if (std::ferror(stdout) == 0) {
    fmt::print(stderr, "{}: internal error: {}\n", name, error.what());
    return kInternal;
  }
  fmt::print(stderr, "{}: standard output cannot be written: {}\n", name, error.code().message());
  return kCannotWrite;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}: internal error: {}\n", program.app.get_name(), error.what());
  return kInternal;
}

}  // namespace almanac::cli
