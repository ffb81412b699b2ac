// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace sample`: writes a part of a job log: a time window, some VCs or users, a random
/// sample.
#include <memory>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "text/human.h"
#include "trace/select.h"
#include "trace/write.h"

namespace almanac::cli {

void register_trace_sample(Program& program);

namespace {

struct SampleArguments {
  TraceOptions trace;
  std::string out = "-";
  std::string to_format;
  std::string from;
  std::string to;
  double fraction = 1;
  std::int64_t count = 0;
  trace::Sample sample;
};

Result<int> run(SampleArguments& arguments) {
  trace::Sample& sample = arguments.sample;
  if (!arguments.from.empty()) {
    const auto time = parse_time_option("--from", arguments.from);
    if (!time) return tl::unexpected(time.error());
    sample.from = *time;
  }
  if (!arguments.to.empty()) {
    const auto time = parse_time_option("--to", arguments.to);
    if (!time) return tl::unexpected(time.error());
    sample.to = *time;
  }
  auto trace = arguments.trace.load();
  if (!trace) return tl::unexpected(trace.error());
  const std::size_t before = trace->jobs.size();
  if (auto kept = keep_sample(*trace, sample); !kept) {
    return tl::unexpected(std::move(kept.error()));
  }
  if (auto saved = save_trace(*trace, arguments.out, arguments.to_format); !saved) {
    return tl::unexpected(std::move(saved.error()));
  }
  note(fmt::format("kept {} of {}", text::grouped(static_cast<std::int64_t>(trace->jobs.size())),
                   text::counted(before, "job")));
  return kDone;
}

}  // namespace

void register_trace_sample(Program& program) {
  const auto arguments = std::make_shared<SampleArguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and generate job logs")
           .add_subcommand("sample", "Write a part of a job log");
  arguments->trace.add_to(command);
  command
      .add_option("OUT,--out", arguments->out,
                  "File to write (.gz and .zst are compressed); - is standard output")
      ->type_name("FILE")
      ->capture_default_str()
      ->group(heading(Group::output));
  command.add_option("--as", arguments->to_format, "Format (default: by the name of OUT)")
      ->check(one_of({"csv", "swf"}));
  command.add_option("--from", arguments->from, "Only jobs submitted at this time or later")
      ->type_name("TIME");
  command.add_option("--to", arguments->to, "Only jobs submitted before this time")
      ->type_name("TIME");
  command.add_option("--vc", arguments->sample.vcs, "Only jobs of these virtual clusters")
      ->delimiter(',');
  command.add_option("--user", arguments->sample.users, "Only jobs of these users")->delimiter(',');
  command
      .add_option("--min-gpus", arguments->sample.min_gpus,
                  "Only jobs with at least this many GPUs")
      ->check(whole_number(0, kLargestCount));
  CLI::Option* const fraction =
      command.add_option("--fraction", arguments->fraction, "Share of the jobs to keep, at random")
          ->check(number(0.0, 1.0));
  CLI::Option* const count =
      command.add_option("--count", arguments->count, "Number of jobs to keep, at random")
          ->check(whole_number(1, kLargestCount))
          ->excludes(fraction);
  command.add_option("--seed", arguments->sample.seed, "Random seed")
      ->check(seed_number())
      ->capture_default_str();
  add_example(command, "almanac trace sample log.csv part.csv --fraction 0.1");
  program.on(command, [arguments, fraction, count] {
    if (fraction->count() > 0) arguments->sample.fraction = arguments->fraction;
    if (count->count() > 0) arguments->sample.count = arguments->count;
    return run(*arguments);
  });
}

}  // namespace almanac::cli
