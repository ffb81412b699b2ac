// SPDX-License-Identifier: Apache-2.0

/// \file
/// `almanac trace generate`: makes a job log from a preset, a workload file, or another job log.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/trace_options.h"
#include "cli/value_check.h"
#include "table/output_file.h"
#include "text/human.h"
#include "text/nearest.h"
#include "trace/fit.h"
#include "trace/generate.h"
#include "trace/generate_plan.h"
#include "trace/generate_tasks.h"
#include "trace/mark_requeue.h"
#include "trace/workload_file.h"
#include "trace/workload_preset.h"
#include "trace/write.h"

namespace almanac::cli {

void register_trace_generate(Program& program);

namespace {

using trace::Workload;

struct GenerateArguments {
  std::string preset;
  std::string workload;
  std::string like;
  std::optional<std::int64_t> jobs;
  std::optional<double> days;
  std::optional<double> gpu_load;
  std::optional<double> cpu_load;
  std::optional<double> requeue;
  std::int64_t scale = 1;
  std::uint64_t seed = 1;
  std::string out = "-";
  std::string save_workload;
  std::string cluster_out;
};

/// Returns the presets that are workloads. Each has a cluster file next to it.
std::vector<std::string> workload_presets() {
  std::vector<std::string> names;
  for (const text::Preset& preset : trace::presets()) {
    if (!preset.name.ends_with("_cluster")) names.emplace_back(preset.name);
  }
  return names;
}

Result<Workload> from_preset(const std::string& name) {
  const std::vector<std::string> known = workload_presets();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return fail(Code::usage, fmt::format("unknown preset \"{}\"", name), {},
                text::meant_or_known(name, known));
  }
  return trace::parse_workload(*trace::preset(name), name + ".toml");
}

Result<Workload> from_trace(const std::string& path) {
  TraceOptions options;
  options.path = path;
  options.read.lenient = true;
  const auto log = options.load();
  if (!log) return tl::unexpected(log.error());
  auto learnt = trace::fit(*log);
  if (!learnt) return tl::unexpected(learnt.error());
  for (const std::string& text : learnt->notes) note(text);
  return std::move(learnt->workload);
}

Result<Workload> load(const GenerateArguments& arguments) {
  if (!arguments.like.empty()) return from_trace(arguments.like);
  if (!arguments.workload.empty()) return trace::load_workload(arguments.workload);
  return from_preset(arguments.preset.empty() ? "venus" : arguments.preset);
}

/// The offered load: expected GPU time over that of all GPUs.
double offered_load(const Workload& workload) {
  if (!workload.task.empty()) {
    const double span_s = workload.span.days * 86400;
    return static_cast<double>(workload.span.jobs) * trace::mean_task_run(workload) /
           (static_cast<double>(trace::total_gpus(workload)) * span_s);
  }
  const trace::Plan plan = trace::make_plan(workload);
  double busy = 0;
  double nodes = 0;
  for (std::size_t i = 0; i < workload.vc.size(); ++i) {
    busy += plan.vc_load[i] * static_cast<double>(workload.vc[i].nodes);
    nodes += static_cast<double>(workload.vc[i].nodes);
  }
  return busy / nodes;
}

/// More jobs take longer, more copies of the cluster do not. A load decides what of the number of
/// jobs and the length of the span is not given.
Result<Workload> resized(Workload workload, const GenerateArguments& arguments) {
  if (arguments.jobs && arguments.days && arguments.gpu_load) {
    return fail(Code::usage, "use two of --jobs, --days and --gpu-load; the third follows");
  }
  workload = trace::scaled(std::move(workload), arguments.scale);
  trace::Workload::Span& span = workload.span;
  if (arguments.jobs) {
    workload = trace::stretched(std::move(workload), *arguments.jobs);
    if (arguments.days) span.days = *arguments.days;
  } else if (arguments.days) {
    const double rate = static_cast<double>(span.jobs) / span.days;
    workload =
        trace::stretched(std::move(workload), std::max(1LL, std::llround(rate * *arguments.days)));
  }
  if (arguments.gpu_load) {
    const double factor = *arguments.gpu_load / offered_load(workload);
    if (arguments.jobs) {
      span.days /= factor;
    } else {
      span.jobs = std::max(1LL, std::llround(static_cast<double>(span.jobs) * factor));
    }
  }
  if (arguments.cpu_load) workload.cpu.load = *arguments.cpu_load;
  if (auto fine = trace::check(workload); !fine) {
    return fail(Code::usage, std::move(fine.error().message));
  }
  return workload;
}

Result<int> run(const GenerateArguments& arguments) {
  if (arguments.preset == "list") {
    for (const std::string& name : workload_presets()) fmt::print("{}\n", name);
    return kDone;
  }
  auto loaded = load(arguments);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  const auto sized = resized(*std::move(loaded), arguments);
  if (!sized) return tl::unexpected(sized.error());
  const Workload& workload = *sized;
  if (!arguments.save_workload.empty()) {
    if (auto saved = trace::save_workload(workload, arguments.save_workload); !saved) {
      return tl::unexpected(std::move(saved.error()));
    }
  }
  if (!arguments.cluster_out.empty()) {
    const std::string text = trace::to_cluster_toml(workload);
    if (auto saved = table::write_file(arguments.cluster_out, text); !saved) {
      return tl::unexpected(std::move(saved.error()));
    }
  }
  std::atomic<double> done = 0;
  trace::Trace made = [&] {
    const ProgressBar bar("generating", [&] { return done.load(); });
    return trace::generate(workload, arguments.seed, [&](double share) { done = share; });
  }();
  if (arguments.requeue) trace::mark_requeue(made, *arguments.requeue, arguments.seed);
  std::string said =
      fmt::format("{} in {:.1f} days for {} in {}: load {:.2f}",
                  text::counted(made.jobs.size(), "job"), workload.span.days,
                  text::counted(static_cast<std::uint64_t>(trace::total_gpus(workload)), "GPU"),
                  text::counted(workload.vc.size(), "virtual cluster"), offered_load(workload));
  if (workload.cpu.load > 0) said += fmt::format(", CPU load {:.2f}", workload.cpu.load);
  note(said);
  done = 0;
  const ProgressBar bar("writing " + arguments.out, [&] { return done.load(); });
  if (auto saved = trace::save_trace(made, arguments.out, {}, [&](double share) { done = share; });
      !saved) {
    return tl::unexpected(std::move(saved.error()));
  }
  return kDone;
}

}  // namespace

void register_trace_generate(Program& program) {
  const auto arguments = std::make_shared<GenerateArguments>();
  CLI::App& command =
      *program.noun(Purpose::understand, "trace", "Read, check, convert and generate job logs")
           .add_subcommand("generate",
                           "Generate a job log from a preset, a workload file or another log");
  CLI::Option* const preset =
      command
          .add_option("--preset", arguments->preset, "Built-in parameters; list prints their names")
          ->group(heading(Group::input));
  CLI::Option* const file =
      command.add_option("--workload", arguments->workload, "TOML file of parameters")
          ->type_name("FILE")
          ->group(heading(Group::input));
  CLI::Option* const like =
      command.add_option("--like", arguments->like, "Job log to learn the parameters from")
          ->type_name("LOG")
          ->group(heading(Group::input));
  preset->excludes(file)->excludes(like);
  file->excludes(like);
  command
      .add_option("--jobs", arguments->jobs,
                  "Number of GPU jobs (the log becomes as long as needed)")
      ->check(whole_number(1, 1'000'000'000));
  command
      .add_option("--days", arguments->days,
                  "Length of the log (without --jobs, with as many jobs as fit)")
      ->check(number(1e-3, 1e6));
  constexpr double kMostLoad = 100;
  command
      .add_option(
          "--gpu-load", arguments->gpu_load,
          "Requested GPU time over available GPU time (sets the jobs, or with --jobs the length)")
      ->check(number(1e-3, kMostLoad));
  command
      .add_option("--cpu-load", arguments->cpu_load,
                  "Requested core time of CPU jobs over available core time (sets their run times)")
      ->check(number(1e-3, kMostLoad));
  command.add_option("--scale", arguments->scale, "Factor on the cluster, its users and its jobs")
      ->check(whole_number(1, 100'000))
      ->capture_default_str();
  command
      .add_option("--requeue", arguments->requeue,
                  "Fraction of the jobs to mark as submitted with --requeue")
      ->check(number(0, 1))
      ->type_name("PART");
  command.add_option("--seed", arguments->seed, "Random seed")
      ->check(seed_number())
      ->capture_default_str();
  command
      .add_option("--out,OUT", arguments->out,
                  "File to write (.gz and .zst are compressed); - is standard output")
      ->type_name("FILE")
      ->capture_default_str()
      ->group(heading(Group::output));
  command
      .add_option("--save-workload", arguments->save_workload,
                  "TOML file to write the parameters to")
      ->type_name("FILE")
      ->group(heading(Group::output));
  command.add_option("--cluster-out", arguments->cluster_out, "TOML file to write the cluster to")
      ->type_name("FILE")
      ->group(heading(Group::output));
  add_example(
      command,
      "almanac trace generate --preset venus --seed 1 --out log.csv.gz --cluster-out cluster.toml");
  add_example(command, "almanac trace generate --like log.csv --jobs 100000 --out alike.csv.gz");
  program.on(command, [arguments] { return run(*arguments); });
}

}  // namespace almanac::cli
