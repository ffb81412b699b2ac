// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_options.h"

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/own_option.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/value_check.h"
#include "text/datetime.h"
#include "text/number.h"

namespace almanac::cli {

void TraceOptions::add_to(CLI::App& command, const std::string& name,
                          const std::string& option_suffix) {
  command.add_option(name, path, "Job log; - reads standard input (.gz and .zst are decompressed)")
      ->required();
  add_reading_to(command, name, option_suffix);
}

void TraceOptions::add_reading_to(CLI::App& command, const std::string& name,
                                  const std::string& option_suffix) {
  suffix = option_suffix;
  const InGroup group(command, Group::input);
  command
      .add_option("--format" + suffix, read.format,
                  fmt::format("Format of {} (default: by its content; almanac help formats)", name))
      ->type_name("NAME");
  command
      .add_option("--columns" + suffix, read.column_map, "TOML file that maps columns to fields")
      ->type_name("FILE");
  command
      .add_option("--time-zone" + suffix, read.time_zone,
                  "Time zone of times without one, such as Europe/Berlin (default UTC)")
      ->type_name("ZONE")
      ->check(zone_name());
  command.add_flag("--lenient" + suffix, read.lenient, "Skip invalid rows and report them");
}

Result<trace::Trace> TraceOptions::load() const {
  Result<trace::Trace> trace = [&] {
    const ProgressBar bar = reading_bar({path});
    return trace::read_trace(path, read);
  }();
  if (trace) {
    for (const std::string& text : trace->notes) note(trace->path + ": " + text);
  } else if (!suffix.empty()) {
    for (const char* const option : {"--format", "--columns"}) {
      trace.error() = with_own_option(trace.error(), option, option + suffix);
    }
  }
  return trace;
}

void add_output_option(CLI::App& command, std::string& format) {
  const InGroup group(command, Group::output);
  command.add_option("-o,--output", format, "Output format")
      ->type_name("FORM")
      ->check(one_of({"table", "json"}))
      ->capture_default_str();
}

Result<Time> parse_time_option(std::string_view option, const std::string& text) {
  if (const auto time = text::parse_datetime(text)) return *time;
  if (const auto count = text::parse_thousandths(text)) return Time(Duration(*count));
  return fail(
      Code::usage,
      fmt::format("{} must be a date, a date with time, or seconds, found \"{}\"", option, text));
}

}  // namespace almanac::cli
