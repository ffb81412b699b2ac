// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_options.h"

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/progress.h"
#include "text/datetime.h"
#include "text/number.h"
#include "trace/format.h"

namespace almanac::cli {
namespace {

std::string format_help(const std::string& name) {
  std::string help =
      fmt::format("The format of {}; found out from its content if not given:", name);
  for (const trace::Format& format : trace::formats().all()) {
    help += fmt::format("\n  {:15} {}", format.name, format.summary);
  }
  return help;
}

}  // namespace

void TraceOptions::add_to(CLI::App& command, const std::string& name, const std::string& suffix) {
  command.add_option(name, path, "The job log, - for standard input; .gz and .zst are unpacked")
      ->required();
  add_reading_to(command, name, suffix);
}

void TraceOptions::add_reading_to(CLI::App& command, const std::string& name,
                                  const std::string& suffix) {
  command.add_option("--format" + suffix, read.format, format_help(name))->type_name("NAME");
  command
      .add_option("--columns" + suffix, read.column_map,
                  "TOML file that says which column means what")
      ->type_name("FILE");
  command
      .add_option("--time-zone" + suffix, read.time_zone,
                  "Zone of times that are written without one, such as Europe/Berlin; default: UTC")
      ->type_name("ZONE");
  command.add_flag("--lenient" + suffix, read.lenient, "Drop bad rows and say how many and why");
}

Result<trace::Trace> TraceOptions::load() const {
  auto trace = [&] {
    const ProgressBar bar = reading_bar({path});
    return trace::read_trace(path, read);
  }();
  if (trace) {
    for (const std::string& text : trace->notes) note(trace->path + ": " + text);
  }
  return trace;
}

void add_output_option(CLI::App& command, std::string& format) {
  command.add_option("-o,--output", format, "How to print: table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

Result<Time> parse_time_option(std::string_view option, const std::string& text) {
  if (const auto time = text::parse_datetime(text)) return *time;
  if (const auto count = text::parse_thousandths(text)) return Time(Duration(*count));
  return fail(Code::usage,
              fmt::format("{} must be a date, a date with time, or seconds: \"{}\"", option, text));
}

}  // namespace almanac::cli
