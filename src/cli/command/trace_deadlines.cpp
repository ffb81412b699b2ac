// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace deadlines`: gives the jobs of a log deadlines, and what it takes to run them on
/// other numbers of GPUs.
#include <memory>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/trace_options.h"
#include "experiment/deadlines.h"
#include "perf/catalogue_file.h"
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
  note(fmt::format("deadlines for {} of {} jobs; drew the model of {}", done->jobs,
                   trace->jobs.size(), done->drawn));
  return kDone;
}

}  // namespace

void register_trace_deadlines(Program& program) {
  const auto arguments = std::make_shared<DeadlinesArguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and make job logs")
           .add_subcommand("deadlines",
                           "Give the jobs of a log deadlines, and let their GPUs vary");
  arguments->trace.add_to(command);
  command
      .add_option("OUT,--out", arguments->out,
                  "File to write, packed if it ends in .gz or .zst; - is the standard output")
      ->capture_default_str();
  command
      .add_option("--speed", arguments->speed,
                  "Speed models that say how long a job takes on one GPU: a name or a file")
      ->capture_default_str();
  command
      .add_option(
          "--mix", arguments->mix,
          "Weights: urgent (to end at once), prior (within its run time on one GPU), normal "
          "(within twice that)")
      ->delimiter(',')
      ->expected(3)
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--node-gpus", arguments->options.node_gpus,
                  "GPUs of a node: jobs ran on as few nodes as hold them")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command
      .add_option("--most-gpus", arguments->options.most_gpus,
                  "A job may run on so many, if its batch has as many samples")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--seed", arguments->options.seed, "Which job gets which deadline")
      ->capture_default_str();
  add_example(command, "almanac trace deadlines log.csv --out strict.csv");
  program.on(command, [arguments] { return run(*arguments); });
}

}  // namespace almanac::cli
