// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac sweep: policies x loads x seeds, on all cores.
///
/// A workload file is generated again for every seed. A recorded log stays the same; the seed then
/// affects only random placements. A sweep can run in parts on a cluster, and continue after an
/// interruption.
#include "experiment/sweep.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/keep_memory.h"
#include "cli/experiment_options.h"
#include "cli/interrupt.h"
#include "cli/list_options.h"
#include "cli/option_group.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "cli/sweep_front.h"
#include "cli/value_check.h"
#include "cluster/read_toml.h"
#include "experiment/noise.h"
#include "experiment/sweep_array.h"
#include "experiment/sweep_part.h"
#include "figure/document.h"
#include "policy/registry.h"
#include "process/own_program.h"
#include "report/front.h"
#include "report/noise_table.h"
#include "report/page.h"
#include "report/shown_command.h"
#include "report/sweep_document.h"
#include "report/sweep_tables.h"
#include "site/cluster.h"
#include "table/output_file.h"
#include "text/human.h"
#include "text/number.h"
#include "text/wrap.h"
#include "trace/generate.h"
#include "trace/workload_file.h"

namespace almanac::cli {
namespace {

/// Policies that a search tries besides those that are named.
constexpr std::size_t kUsualBudget = 200;
/// Letters of a line of text.
constexpr std::size_t kLine = 100;
constexpr int kMostBudget = 100'000;

struct SweepOptions {
  ExperimentOptions experiment{};
  std::string loads = "1";
  std::string seeds = "1";
  std::string out;
  std::string engine = "machine";
  std::string part;
  std::string sbatch;
  std::string pareto;
  bool noise = false;
  std::size_t budget = kUsualBudget;
  std::size_t parts = 0;
  int threads = 0;

  bool on_slurm() const { return engine == "slurm"; }
};

/// Most tasks of a job array if a site does not set MaxArraySize in slurm.conf.
constexpr std::size_t kMostTasks = 1'000;
/// Most parts of a sweep; a folder holds that many files without trouble.
constexpr int kMostParts = 100'000;

/// "0.8,1,1.2" or "0.6..1.2" in `step`s.
Result<std::vector<double>> parse_range(const std::string& option, const std::string& text,
                                        double step) {
  const auto bad = [&] {
    return fail(Code::usage, fmt::format("{} must be numbers such as 1,2,3 or 1..3, found \"{}\"",
                                         option, text));
  };
  std::vector<double> values;
  if (const std::size_t dots = text.find(".."); dots != std::string::npos) {
    const auto from = text::parse_decimal(text.substr(0, dots));
    const auto to = text::parse_decimal(text.substr(dots + 2));
    if (!from || !to || *to < *from || (*to - *from) / step > 10'000) return bad();
    const auto steps = std::llround((*to - *from) / step);
    for (long long at = 0; at <= steps; ++at)
      values.push_back(*from + static_cast<double>(at) * step);
    return values;
  }
  for (const std::string& part : experiment::parse_policies(text)) {
    const auto value = text::parse_decimal(part);
    if (!value) return bad();
    values.push_back(*value);
  }
  if (values.empty()) return bad();
  return values;
}

using Prepare = std::function<Result<experiment::Prepared>(double, std::uint64_t)>;

Result<Prepare> prepare_generated(const experiment::Experiment& experiment) {
  auto workload = trace::load_workload(experiment.trace);
  if (!workload) return tl::unexpected(workload.error());
  std::shared_ptr<const site::Site> site;
  const auto cluster =
      experiment.cluster.empty()
          ? cluster::parse_toml(trace::to_cluster_toml(*workload), experiment.trace)
          : site::read_cluster(experiment.cluster, &site);
  if (!cluster) return tl::unexpected(cluster.error());
  return [experiment, workload = *workload, cluster = *cluster, site](double load,
                                                                      std::uint64_t seed) {
    experiment::Experiment point = experiment;
    point.load = load;
    point.seed = seed;
    return experiment::prepare(point, trace::generate(workload, seed), cluster, site);
  };
}

Prepare prepare_recorded(const experiment::Experiment& experiment) {
  return [experiment](double load, std::uint64_t seed) {
    experiment::Experiment point = experiment;
    point.load = load;
    point.seed = seed;
    return experiment::prepare(point);
  };
}

/// Returns the path of the report next to `csv`: out/sweep.html for out/sweep.csv.
std::string page_beside(const std::string& csv) {
  const std::string page = std::filesystem::path(csv).replace_extension(".html").string();
  return page == csv ? csv + ".html" : page;
}

/// Writes the points as CSV and, if this build has a page, the report next to it.
Result<void> write_points(const SweepOptions& options,
                          const std::vector<experiment::SweepPoint>& points,
                          const figure::Document& document) {
  if (auto written = table::write_file(options.out, experiment::to_csv(points)); !written)
    return written;
  if (!report::has_page()) {
    note(fmt::format("wrote all points to {}", options.out));
    note(std::string(report::kNoPage));
    return {};
  }
  const std::string file = page_beside(options.out);
  if (auto written = table::write_file(file, report::page(figure::to_json(document))); !written) {
    return written;
  }
  note(fmt::format("wrote all points to {}; report: {}", options.out, file));
  return {};
}

/// Prints the notes of the first point; the points differ in load and seed alone. Of a sweep in
/// parts, the part that has this point prints them.
Prepare telling_notes(Prepare prepare, double first_load, std::uint64_t first_seed) {
  return [prepare = std::move(prepare), first_load, first_seed,
          once = std::make_shared<std::once_flag>()](double load, std::uint64_t seed) {
    auto prepared = prepare(load, seed);
    if (prepared && load == first_load && seed == first_seed) {
      std::call_once(*once, [&] {
        for (const std::string& text : prepared->notes) note(text);
      });
    }
    return prepared;
  };
}

bool is_generated(const experiment::Experiment& experiment) {
  return experiment.trace.ends_with(".toml");
}

Result<experiment::SweepPlan> plan_of(const SweepOptions& options,
                                      const experiment::Experiment& experiment) {
  constexpr double kLoadStep = 0.1;
  const auto loads = parse_range("--load", options.loads, kLoadStep);
  if (!loads) return tl::unexpected(loads.error());
  const auto seeds = parse_range("--seeds", options.seeds, 1);
  if (!seeds) return tl::unexpected(seeds.error());
  if (!std::all_of(loads->begin(), loads->end(), [](double load) { return load > 0; })) {
    return fail(Code::usage,
                fmt::format("--load must be numbers above 0, found \"{}\"", options.loads));
  }
  if (!std::all_of(seeds->begin(), seeds->end(),
                   [](double seed) { return seed >= 0 && seed == std::floor(seed); })) {
    return fail(Code::usage, fmt::format("--seeds must be whole numbers of 0 or more, found \"{}\"",
                                         options.seeds));
  }

  experiment::SweepPlan plan{
      .loads = *loads, .seeds = {}, .prepare = {}, .threads = options.threads};
  for (const double seed : *seeds) plan.seeds.push_back(static_cast<std::uint64_t>(seed));
  if (is_generated(experiment)) {
    auto generated = prepare_generated(experiment);
    if (!generated) return tl::unexpected(generated.error());
    plan.prepare = *generated;
  } else {
    plan.prepare = prepare_recorded(experiment);
  }
  return plan;
}

/// The policies that a search starts from: those that are named, or all that have something to do
/// in the log, without those that know true run times. Prints the notes of the first point, and
/// which policies are left out.
Result<std::vector<std::string>> first_policies(const experiment::SweepPlan& plan) {
  const auto prepared = plan.prepare(plan.loads.front(), plan.seeds.front());
  if (!prepared) return tl::unexpected(prepared.error());
  for (const std::string& text : prepared->notes) note(text);
  std::vector<std::string> made;
  std::vector<std::string> oracles;
  for (const experiment::Prepared::Run& run : prepared->runs) {
    const policy::TraitSet traits = policy::registry().traits(run.composition);
    (traits.has(policy::Trait::told_truth) ? oracles : made).push_back(run.composition.name);
  }
  if (made.empty()) {
    return fail(Code::usage, "every policy named knows true run times, which no cluster does", {},
                fmt::format("with predictions: --policy {}+history", oracles.front()));
  }
  if (!oracles.empty()) {
    constexpr std::size_t kNamed = 5;
    note(fmt::format("left out {}: true run times are known to them, and to no cluster",
                     oracles.size() <= kNamed
                         ? fmt::format("{}", fmt::join(oracles, ", "))
                         : text::counted(oracles.size(), "policy", "policies")));
  }
  return made;
}

Result<int> search_front(const SweepOptions& options, experiment::Experiment experiment,
                         const std::vector<std::string>& command) {
  const auto objectives = experiment::parse_objectives(options.pareto);
  if (!objectives) return tl::unexpected(objectives.error());
  const auto plan = plan_of(options, experiment);
  if (!plan) return tl::unexpected(plan.error());
  const auto policies = first_policies(*plan);
  if (!policies) return tl::unexpected(policies.error());
  const auto found =
      find_front(*policies, *objectives, options.budget, [&](std::vector<std::string> some) {
        experiment.policies = std::move(some);
        return plan_of(options, experiment);
      });
  if (!found && interrupted()) return kInterrupted;
  if (!found) return tl::unexpected(found.error());
  const experiment::Front& front = found->front;
  auto play = report::without_options(
      command, {"--pareto", "--budget", "--policy", "--load", "--seeds", "--out", "--threads"});
  play[1] = "simulate";
  play.push_back("--policy=" + front.tried[front.knee.value_or(front.members.front())].policy);
  const figure::Listing rows = report::front_rows(front, *objectives);
  fmt::print("{} tried{}. Pareto front: {}.\n{}\n{}\n{}\n\n{}\n{}",
             text::counted(front.tried.size(), "policy", "policies"),
             front.is_exhausted ? "" : " (--budget N tries more)",
             text::counted(front.members.size(), "policy", "policies"),
             rows.size() == front.members.size()
                 ? ""
                 : fmt::format("Those within {:.0f} % of another are not shown.\n",
                               100 * experiment::kAlike),
             rows.table(table_form()),
             fmt::join(text::wrap(report::knee_in_words(front, *objectives), kLine), "\n"),
             report::shown_command(play),
             rows.size() > 1 ? "Every row is this command with its own policy.\n" : "");
  if (!options.out.empty()) {
    const auto document =
        report::front_document(options.experiment.trace.path, front, *objectives, command);
    if (auto written = write_points(options, found->points, document); !written) {
      return tl::unexpected(written.error());
    }
  }
  return interrupted() ? kInterrupted : kDone;
}

/// Runs all of a sweep on this machine.
Result<std::vector<experiment::SweepPoint>> sweep_here(experiment::SweepPlan plan) {
  const auto pairs = static_cast<double>(plan.pairs());
  std::atomic<std::uint32_t> done{0};
  plan.stop = &interrupted();
  plan.done = &done;
  const ProgressBar bar("sweeping", [&] { return done.load() / pairs; });
  return experiment::sweep(plan);
}

/// Simulates the policies that read run times with increasingly wrong predictions.
Result<int> sweep_noise(const SweepOptions& options, experiment::Experiment experiment,
                        const std::vector<std::string>& command) {
  auto plan = plan_of(options, experiment);
  if (!plan) return tl::unexpected(plan.error());
  const auto prepared = plan->prepare(plan->loads.front(), plan->seeds.front());
  if (!prepared) return tl::unexpected(prepared.error());
  std::vector<std::string> policies;
  for (const std::string& name : prepared->experiment.policies) {
    if (experiment::reads_run_times(name)) policies.push_back(name);
  }
  if (policies.empty()) {
    return fail(Code::usage, "--noise: none of the policies reads predicted run times", {},
                "such as --policy qssf,almanac");
  }
  experiment.policies = experiment::noise_plan(policies);
  plan = plan_of(options, experiment);
  if (!plan) return tl::unexpected(plan.error());
  const auto points = sweep_here(*plan);
  if (!points) return tl::unexpected(points.error());
  if (interrupted()) return kInterrupted;
  const auto rows = experiment::noise_rows(policies, *points);
  const double bar_s = experiment::wait_without_predictions(*points);
  fmt::print(
      "Mean wait by the error of predicted run times (sigma of their logarithm; 0 is exact){}.\n"
      "Under {}, which needs no predictions: {}. The last column is the error from which a policy "
      "is "
      "worse.\n\n{}",
      plan->pairs() == 1
          ? ""
          : fmt::format(", on average over {} and {}", text::counted(plan->loads.size(), "load"),
                        text::counted(plan->seeds.size(), "seed")),
      experiment::kWithoutPredictions, text::human_time(bar_s),
      report::noise_table(rows).table(table_form()));
  if (!options.out.empty()) {
    const auto document = report::sweep_document(options.experiment.trace.path, *points, command);
    if (auto written = write_points(options, *points, document); !written) {
      return tl::unexpected(written.error());
    }
  }
  return kDone;
}

/// This very program with the same arguments, less what says where it runs.
experiment::SweepArray array_of(const SweepOptions& options,
                                const std::vector<std::string>& command) {
  experiment::SweepArray array{
      .command = report::without_options(command, {"--engine", "--sbatch", "--parts", "--threads"}),
      .cores = std::max(1, options.threads)};
  array.command.front() = process::own_program().string();
  array.command.push_back(fmt::format("--threads={}", array.cores));
  std::istringstream words(options.sbatch);
  for (std::string word; words >> word;) array.options.push_back(word);
  return array;
}

/// "3/8" of --part. Fails with usage.
Result<experiment::SweepPart> parse_part(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = text::parse_whole(text.substr(0, slash));
  const auto of = text::parse_whole(text.substr(std::min(slash + 1, text.size())));
  if (!number || !of || *number < 1 || *number > *of) {
    return fail(Code::usage, "--part takes K/N, part K of N, such as 3/8; found " + text);
  }
  return experiment::SweepPart{.number = static_cast<std::size_t>(*number),
                               .of = static_cast<std::size_t>(*of)};
}

/// Runs a part on this machine unless its file exists. Returns the exit status.
Result<int> run_part_here(experiment::SweepPlan plan, const experiment::SweepParts& parts,
                          experiment::SweepPart part) {
  const std::string file = parts.file(part.number);
  if (parts.has(part.number)) {
    note(file + " exists, of the same inputs: skipped");
    return kDone;
  }
  const auto pairs = static_cast<double>((plan.pairs() + part.of - part.number) / part.of);
  std::atomic<std::uint32_t> done{0};
  plan.stop = &interrupted();
  plan.done = &done;
  Result<bool> ran;
  {
    const ProgressBar bar(fmt::format("sweeping part {}/{}", part.number, part.of),
                          [&] { return done.load() / pairs; });
    ran = experiment::run_part(std::move(plan), parts, part);
  }
  if (!ran) return tl::unexpected(ran.error());
  if (!*ran) return kInterrupted;
  note(fmt::format("part {}/{} is in {}", part.number, part.of, file));
  return kDone;
}

/// Runs the parts that are not there, here or by Slurm. Gives the exit status.
Result<int> run_missing(const SweepOptions& options, const experiment::SweepPlan& plan,
                        const experiment::SweepParts& parts,
                        const std::vector<std::string>& command) {
  if (options.on_slurm()) {
    const auto ran = experiment::run_array(parts, array_of(options, command),
                                           {.stop = interrupted(), .say = note});
    if (!ran) return tl::unexpected(ran.error());
    return *ran ? kDone : kInterrupted;
  }
  for (const std::size_t number : parts.missing()) {
    const auto status = run_part_here(plan, parts, {.number = number, .of = parts.of});
    if (!status || *status != kDone) return status;
  }
  return kDone;
}

Result<int> show(const SweepOptions& options, const experiment::SweepPlan& plan,
                 const std::vector<experiment::SweepPoint>& points,
                 const std::vector<std::string>& command) {
  fmt::print("{}", report::sweep_tables(points, plan.seeds.size(), table_form()));
  if (!options.out.empty()) {
    const auto document = report::sweep_document(options.experiment.trace.path, points, command);
    if (auto written = write_points(options, points, document); !written) {
      return tl::unexpected(written.error());
    }
  }
  return interrupted() ? kInterrupted : kDone;
}

Result<int> run_in_parts(const SweepOptions& options, const experiment::SweepPlan& plan,
                         const std::vector<std::string>& command) {
  if (options.out.empty()) {
    return fail(Code::usage,
                "parts are stored next to the file of all points, so --out is required");
  }
  experiment::SweepPart part{.of = options.parts > 0 ? options.parts
                                                     : std::min(plan.pairs(), kMostTasks)};
  if (!options.part.empty()) {
    const auto parsed = parse_part(options.part);
    if (!parsed) return tl::unexpected(parsed.error());
    part = *parsed;
  }
  if (part.of > plan.pairs()) {
    return fail(Code::usage,
                fmt::format("{} parts are too many: the sweep has {} pairs of a load and a seed",
                            part.of, plan.pairs()));
  }
  auto inputs = experiment::inputs_of(plan, options.experiment.trace.path);
  if (!inputs) return tl::unexpected(inputs.error());
  const experiment::SweepParts parts{
      .out = options.out, .inputs = std::move(*inputs), .of = part.of};
  if (!options.part.empty()) return run_part_here(plan, parts, part);
  const auto status = run_missing(options, plan, parts, command);
  if (!status || *status != kDone) return status;
  const auto points = experiment::gather(parts, plan.pairs());
  if (!points) return tl::unexpected(points.error());
  return show(options, plan, *points, command);
}

Result<int> run(const SweepOptions& options, const std::vector<std::string>& command) {
  keep_memory();  // from one run to the next
  // A folder that cannot be written should not show after hours.
  if (!options.out.empty()) {
    if (const auto file = table::OutputFile::create(options.out); !file) {
      return tl::unexpected(file.error());
    }
  }
  const auto experiment = options.experiment.parse();
  if (!experiment) return tl::unexpected(experiment.error());
  if (!options.pareto.empty()) return search_front(options, *experiment, command);
  if (options.noise) return sweep_noise(options, *experiment, command);
  auto plan = plan_of(options, *experiment);
  if (!plan) return tl::unexpected(plan.error());
  if (plan->seeds.size() > 1 && !is_generated(*experiment)) {
    note(
        "a job log is the same for every seed; give a workload file (.toml) to generate one for "
        "each");
  }
  plan->prepare = telling_notes(std::move(plan->prepare), plan->loads.front(), plan->seeds.front());
  if (options.on_slurm() || options.parts > 0 || !options.part.empty()) {
    return run_in_parts(options, *plan, command);
  }
  const auto points = sweep_here(*plan);
  if (!points) return tl::unexpected(points.error());
  return show(options, *plan, *points, command);
}

}  // namespace

void register_sweep(Program& program) {
  CLI::App& command =
      program.command(Purpose::simulate, "sweep", "Simulate policies at many loads and seeds");
  const auto options = std::make_shared<SweepOptions>();
  options->experiment.add_to(command);
  options->experiment.add_signals_to(command);
  command
      .add_option("--load", options->loads,
                  "Factors on the arrival rate: 0.8,1,1.2, or 0.8..1.2 in steps of 0.1")
      ->type_name("LIST")
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command.add_option("--seeds", options->seeds, "Seeds: 1,2,3 or 1..10")
      ->type_name("LIST")
      ->capture_default_str()
      ->group(heading(Group::simulation));
  command
      .add_option("--out", options->out,
                  "CSV file for all points; the report is next to it, as .html")
      ->type_name("FILE")
      ->group(heading(Group::output));
  command
      .add_option(
          "--threads", options->threads,
          "Simulations at once; with --engine slurm, cores of each task (default 0: all cores)")
      ->type_name("N")
      ->check(whole_number(0, kMostThreads))
      ->capture_default_str()
      ->group(heading(Group::simulation));
  CLI::Option* const engine =
      command
          .add_option(
              "--engine", options->engine,
              "Where simulations run. machine: here; slurm: in a job array, whose nodes must see "
              "the directory of --out")
          ->check(one_of({"machine", "slurm"}))
          ->capture_default_str()
          ->group(heading(Group::slurm));
  command
      .add_option("--sbatch", options->sbatch,
                  "Options for sbatch: \"--partition=cpu --time=2:00:00\"")
      ->type_name("OPTIONS")
      ->needs(engine)
      ->group(heading(Group::slurm));
  CLI::Option* const parts =
      command
          .add_option("--parts", options->parts,
                      "Number of parts, stored in FILE.parts; existing parts are not repeated "
                      "(default on Slurm: one per load and seed, at most 1,000)")
          ->check(whole_number(1, kMostParts))
          ->type_name("N")
          ->group(heading(Group::simulation));
  command
      .add_option("--part", options->part,
                  "Run only part K of N; --parts N gathers them when all exist")
      ->type_name("K/N")
      ->excludes(engine)
      ->excludes(parts)
      ->group(heading(Group::simulation));
  add_example(
      command,
      "almanac sweep log.csv --policy easy,las --load 0.8..1.2 --seeds 1..3 --out out/sweep.csv");
  CLI::Option* const pareto =
      command
          .add_option(
              "--pareto", options->pareto,
              "Search for policies that no other policy beats in all of these objectives: wait, "
              "p99_wait, completion, slowdown, worst_user, stops, deadlines, energy, cost, "
              "carbon")
          ->type_name("LIST")
          ->excludes(engine)
          ->excludes(parts)
          ->group(heading(Group::policies));
  command
      .add_option("--budget", options->budget,
                  "Policies that the search may try in addition to those of --policy")
      ->type_name("N")
      ->check(whole_number(0, kMostBudget))
      ->capture_default_str()
      ->needs(pareto)
      ->group(heading(Group::policies));
  command
      .add_flag(
          "--noise", options->noise,
          "Simulate each policy with increasingly wrong predictions, and show the error above "
          "which it is worse than easy")
      ->excludes(engine)
      ->excludes(parts)
      ->excludes(pareto)
      ->group(heading(Group::policies));
  add_example(command, "almanac sweep log.csv --noise --policy qssf,almanac");
  add_example(command, "almanac sweep log.csv --pareto wait,worst_user --policy all");
  add_example(command, "almanac sweep log.csv --seeds 1..100 --out out/sweep.csv --engine slurm");
  program.on(command, [options, &program] { return run(*options, program.command_line); });
}

}  // namespace almanac::cli
