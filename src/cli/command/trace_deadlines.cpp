// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace deadlines`: gives the jobs of a log deadlines, and the data to run them on other
/// numbers of GPUs.
#include <memory>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "experiment/deadlines.h"
#include "perf/catalogue_file.h"
#include "text/human.h"
#include "trace/write.h"

namespace almanac::cli {

void register_trace_deadlines(Program& program);

namespace {

struct DeadlinesArguments {
  TraceOptions trace;
  std::string out = "-";
  std::string speed = "genie";
  std::vector<double> mix{trace::kGenieMix.urgent, trace::kGenieMix.prior, trace::kGenieMix.normal};
  experiment::DeadlineOptions options;
};

Result<int> run(DeadlinesArguments& arguments) {
  auto trace = arguments.trace.load();
  if (!trace) return tl::unexpected(trace.error());
  const auto catalogue = perf::read_catalogue(arguments.speed);
  if (!catalogue) return tl::unexpected(catalogue.error());
  arguments.options.mix = {arguments.mix[0], arguments.mix[1], arguments.mix[2]};
  const auto done = experiment::draw_deadlines(*trace, *catalogue, arguments.options);
  if (!done) return tl::unexpected(done.error());
  if (auto saved = save_trace(*trace, arguments.out); !saved) {
    return tl::unexpected(std::move(saved.error()));
  }
  note(fmt::format("gave {} of {} a deadline; drew the model of {}",
                   text::grouped(static_cast<std::int64_t>(done->jobs)),
                   text::counted(trace->jobs.size(), "job"),
                   text::grouped(static_cast<std::int64_t>(done->drawn))));
  return kDone;
}

}  // namespace

void register_trace_deadlines(Program& program) {
  const auto arguments = std::make_shared<DeadlinesArguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and generate job logs")
           .add_subcommand("deadlines",
                           "Add deadlines to a job log, and let the number of GPUs vary");
  arguments->trace.add_to(command);
  command
      .add_option("OUT,--out", arguments->out,
                  "File to write (.gz and .zst are compressed); - is standard output")
      ->type_name("FILE")
      ->capture_default_str()
      ->group(heading(Group::output));
  command
      .add_option("--speed", arguments->speed,
                  "Speed models for the run time on one GPU: a name or a file")
      ->capture_default_str();
  command
      .add_option("--mix", arguments->mix,
                  "Weights of deadline classes: urgent (immediately), prior (within its run time "
                  "on one GPU), normal (within twice that)")
      ->delimiter(',')
      ->expected(3)
      ->check(number(0))
      ->capture_default_str();
  command
      .add_option("--node-gpus", arguments->options.node_gpus,
                  "GPUs per node: jobs ran on as few nodes as possible")
      ->check(whole_number(1, 64))
      ->capture_default_str();
  command
      .add_option("--most-gpus", arguments->options.most_gpus,
                  "Limit on the GPUs of a job, if its batch is as large")
      ->check(whole_number(1, kLargestCount))
      ->capture_default_str();
  command.add_option("--seed", arguments->options.seed, "Random seed")
      ->check(seed_number())
      ->capture_default_str();
  add_example(command, "almanac trace deadlines log.csv --out strict.csv");
  program.on(command, [arguments] { return run(*arguments); });
}

}  // namespace almanac::cli
