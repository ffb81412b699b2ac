// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac predict train: learns a model from a job log and writes it to one file.
#include <atomic>
#include <memory>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "predict/learned.h"
#include "predict/model_file.h"
#include "predict/replay.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::cli {

void register_predict_train(Program& program);

namespace {

struct PredictTrainOptions {
  TraceOptions trace{};
  std::string until;
  std::string out;
};

Result<int> train(const PredictTrainOptions& options) {
  const auto trace = options.trace.load();
  if (!trace) return tl::unexpected(trace.error());
  Time until = kNever;
  if (!options.until.empty()) {
    const auto wanted = parse_time_option("--until", options.until);
    if (!wanted) return tl::unexpected(wanted.error());
    until = *wanted;
  }
  std::atomic<double> done = 0;
  predict::LearnedOptions how;
  how.model.progress = [&](double share) { done = share; };
  predict::Learned learned(trace->names, how);
  Time last{};
  {
    const ProgressBar bar("learning", [&] { return done.load(); });
    double submitted = 0;
    predict::replay(
        trace->jobs,
        [&](JobId job, const trace::Request& request) {
          learned.watch(job, request);
          done = ++submitted / static_cast<double>(trace->jobs.size());
        },
        [&](JobId job, const trace::Request& request, const predict::Ended& ended) {
          learned.learn(job, request, ended);
          last = ended.at;
        },
        until);
  }
  const auto jobs = static_cast<std::int64_t>(learned.examples().ended());
  done = 0;
  {
    const ProgressBar bar("training the model", [&] { return done.load(); });
    learned.fit(kNever);
  }
  if (learned.model() == nullptr) {
    return fail(Code::invalid,
                fmt::format("a model needs {} GPU jobs that ended, the log has {}",
                            predict::Model::kFewest, jobs),
                {.file = trace->path});
  }
  const predict::Training training{.trace = trace->path,
                                   .sha256 = trace->sha256,
                                   .from = trace->jobs.front().request.submit,
                                   .to = last,
                                   .jobs = jobs};
  const auto written = predict::write_model(options.out, *learned.model(), training,
                                            learned.memory().ended_so_far());
  if (!written) return tl::unexpected(written.error());
  fmt::print("{}: trained on {}, from {} to {}, in {:.1f} s\n", options.out,
             text::counted(static_cast<std::uint64_t>(training.jobs), "job"),
             text::format_datetime(training.from), text::format_datetime(training.to),
             learned.fit_s());
  return kDone;
}

}  // namespace

void register_predict_train(Program& program) {
  const auto options = std::make_shared<PredictTrainOptions>();
  CLI::App& command =
      *program.noun(Purpose::predict, "predict", "Predict job run times from past jobs")
           .add_subcommand("train", "Train a model on a job log");
  options->trace.add_to(command);
  command
      .add_option("--until", options->until,
                  "Only train on jobs that ended before this time (default: the whole log)")
      ->type_name("TIME");
  command.add_option("--out", options->out, "File for the model")
      ->type_name("MODEL")
      ->required()
      ->group(heading(Group::output));
  add_example(command, "almanac predict train log.csv --until 2020-09-01 --out model.json");
  program.on(command, [options] { return train(*options); });
}

}  // namespace almanac::cli
