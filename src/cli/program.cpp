// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal.h"

namespace almanac::cli {

namespace {

constexpr std::array<const char*, kPurposes> kHeadings{
    "Understand a cluster",  "Predict",     "Schedule", "Simulate", "Run a cluster",
    "Submit and watch jobs", "This program"};

void add_line(CLI::App& command, std::string_view heading, const std::string& line) {
  std::string footer = command.get_footer();
  if (footer.find(heading) == std::string::npos) {
    footer += fmt::format("{}{}", footer.empty() ? "" : "\n", heading);
  }
  command.footer(footer + "\n  " + line);
}

}  // namespace

const char* heading(Purpose purpose) { return kHeadings[static_cast<std::size_t>(purpose)]; }

CLI::App& Program::command(Purpose purpose, const std::string& name,
                           const std::string& description) {
  CLI::App& made = *app.add_subcommand(name, description);
  made.group(heading(purpose));
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

void Program::on(CLI::App& command, std::function<Result<int>()> run, bool reads) {
  command.callback([this, &command, run = std::move(run), reads] {
    // CLI11 calls a group of commands back last, even if one of its commands was given.
    if (!command.get_subcommands().empty()) return;
    action = run;
    reads_configuration = reads;
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

Exit exit_status(const Error& error) {
  // The client of a service reports what the service does not support as usage (serve/client.cpp).
  if (error.code == Code::unsupported && error.where.file.empty()) return kUsage;
  const bool is_of_output =
      error.code == Code::unavailable && !error.where.file.empty() &&
      (error.message.starts_with("cannot write") || error.message.starts_with("cannot create"));
  return is_of_output ? kCannotWrite : exit_status(error.code);
}

void add_example(CLI::App& command, const std::string& line) { add_line(command, kExamples, line); }

void add_exit_status(CLI::App& command, const std::string& status, const std::string& meaning) {
  add_line(command, kExitStatus, fmt::format("{:4}{}", status, meaning));
}

void note(const std::string& text) { print_message("almanac: note: " + text); }

}  // namespace almanac::cli
