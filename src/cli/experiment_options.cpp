// SPDX-License-Identifier: Apache-2.0
#include "cli/experiment_options.h"

#include <cmath>

#include <fmt/format.h>

#include "cli/cluster_option.h"
#include "cli/option_group.h"
#include "cli/value_check.h"
#include "text/duration.h"
#include "text/number.h"

namespace almanac::cli {
namespace {

Result<Duration> duration(const std::string& option, const std::string& text) {
  constexpr Duration kLongest = 24h * 36'500;
  if (const auto bare = text::parse_decimal(text); bare && *bare >= 0) {
    if (*bare <= seconds(kLongest)) return Duration{std::llround(*bare * 1e3)};
  } else if (const auto parsed = text::parse_duration(text);
             parsed && *parsed >= Duration{0} && *parsed <= kLongest) {
    return *parsed;
  }
  return fail(Code::usage, fmt::format("{} must be a time such as 30, 30s or 00:00:30, and at most "
                                       "36,500 days, found \"{}\"",
                                       option, text));
}

Result<schedule::RestartCost> restart_cost(const std::string& text) {
  std::vector<Duration> costs;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const Result<Duration> cost = duration("--restart", text.substr(from, comma - from));
    if (!cost) return tl::unexpected(cost.error());
    costs.push_back(*cost);
    from = comma + 1;
  }
  if (costs.size() != 1 && costs.size() != 3) {
    return fail(
        Code::usage,
        fmt::format(
            "--restart takes one time, or three (for 1, 2 to 8 and more GPUs), found \"{}\"",
            text));
  }
  return schedule::RestartCost{.one_gpu = costs.front(),
                               .up_to_8_gpus = costs[costs.size() / 2],
                               .more_gpus = costs.back(),
                               .launch = Duration{0}};
}

}  // namespace

void ExperimentOptions::add_to(CLI::App& command) {
  trace.add_to(command);
  const InGroup group(command, Group::cluster);
  add_cluster_option(command, experiment.cluster, "inferred from the log");
  command
      .add_option("--queues", experiment.queues,
                  "Queues of Kueue for policy kueue: output of kubectl get "
                  "clusterqueues,cohorts,resourceflavors -o json (default: a queue per virtual "
                  "cluster)")
      ->type_name("FILE");
  begin_group(command, Group::policies);
  command
      .add_option("--policy", policies, "Policies, separated by commas; see almanac help policies")
      ->type_name("POLICIES")
      ->check(policy_names())
      ->capture_default_str();
  begin_group(command, Group::cluster);
  command
      .add_option("--profile", experiment.profile,
                  "Power management: slurm for nodes that Slurm powers down while they are idle")
      ->type_name("NAME");
  command
      .add_option("--power", experiment.power,
                  "Power model: a name (see almanac energy power) or a TOML file")
      ->option_text("NAME|FILE")
      ->capture_default_str();
  begin_group(command, Group::simulation);
  command
      .add_option("--speed", experiment.speed,
                  "Speed models: a name or a TOML file, or log to learn the speed of each GPU type "
                  "from the log (default: run times as recorded)")
      ->option_text("NAME|FILE");
  command
      .add_option("--believed-speed", experiment.believed_speed,
                  "Speed models that policies use, if not those of --speed; with learned, policies "
                  "start without any and learn")
      ->option_text("NAME|FILE");
  command
      .add_option("--elastic", experiment.elastic,
                  "Scaling of jobs on more or fewer GPUs: a TOML file of applications, or a "
                  "directory of published data")
      ->option_text("FILE|FOLDER");
  command
      .add_option("--restart", restart,
                  "Time that a preemption costs a job with 1, 2 to 8 and more GPUs")
      ->type_name("TIMES")
      ->capture_default_str();
  command
      .add_option("--warm-up", warm_up,
                  "Time at the start to leave out of averages and utilization")
      ->type_name("TIME");
  command.add_option("--seed", experiment.seed, "Random seed")
      ->check(seed_number())
      ->type_name("N")
      ->capture_default_str();
}

void ExperimentOptions::add_signals_to(CLI::App& command) {
  const InGroup group(command, Group::simulation);
  command
      .add_option("--signal", experiment.signals,
                  "Signals over time, such as carbon (g/kWh), price (per kWh) or price/A100 (per "
                  "GPU-hour): CSV files with the columns time and value")
      ->delimiter(',')
      ->type_name("NAME=FILE,...");
}

void ExperimentOptions::add_single_run_to(CLI::App& command) {
  const InGroup group(command, Group::simulation);
  command
      .add_option("--model", experiment.model,
                  "Model of almanac predict train for learned estimates; trained only on jobs that "
                  "ended before the log begins")
      ->type_name("MODEL");
  command
      .add_option("--incidents", experiment.incidents,
                  "Node failures and signals: a CSV file of time, event (down, up, notice, "
                  "signal), subject and value")
      ->type_name("FILE");
  add_signals_to(command);
  command
      .add_option(
          "--failures", experiment.failures,
          "Failures to draw: a preset (llama3, acme, rsc1, rsc2, infinitehbd), \"fitted\" to the "
          "log, or a TOML file of rates, repairs, checkpoints and spare nodes "
          "(docs/guide/failures.md)")
      ->option_text("NAME|FILE");
  command.add_option("--load", experiment.load, "Factor on the arrival rate")
      ->type_name("FACTOR")
      ->check(number(0.001, 1000.0))
      ->capture_default_str();
  command
      .add_option("--timeline", timeline,
                  "Interval of samples in timeline.csv (default 1 min; longer if that gives more "
                  "than 100,000 samples)")
      ->type_name("TIME");
}

Result<experiment::Experiment> ExperimentOptions::parse() const {
  experiment::Experiment made = experiment;
  made.trace = trace.path;
  made.reading = trace.read;
  made.policies = experiment::parse_policies(policies);
  const auto cost = restart_cost(restart);
  if (!cost) return tl::unexpected(cost.error());
  made.restart = *cost;
  if (!warm_up.empty()) {
    const Result<Duration> span = duration("--warm-up", warm_up);
    if (!span) return tl::unexpected(span.error());
    made.warm_up = *span;
  }
  if (!timeline.empty()) {
    const Result<Duration> interval = duration("--timeline", timeline);
    if (!interval) return tl::unexpected(interval.error());
    if (*interval < Duration{1}) return fail(Code::usage, "--timeline must be more than 0");
    made.timeline_interval = *interval;
  }
  return made;
}

}  // namespace almanac::cli
