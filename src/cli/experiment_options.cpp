// SPDX-License-Identifier: Apache-2.0
#include "cli/experiment_options.h"

#include <cmath>

#include <fmt/format.h>

#include "text/duration.h"
#include "text/number.h"

namespace almanac::cli {
namespace {

Result<Duration> duration(const std::string& option, const std::string& text) {
  if (const auto bare = text::parse_decimal(text); bare && *bare >= 0) {
    return Duration{std::llround(*bare * 1e3)};
  }
  if (const auto parsed = text::parse_duration(text); parsed && *parsed >= Duration{0})
    return *parsed;
  return fail(Code::usage,
              fmt::format("{} must be a time like 30, 30s or 00:00:30: {}", option, text));
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
        fmt::format("--restart takes one time, or three for 1, 2 to 8 and more GPUs: {}", text));
  }
  return schedule::RestartCost{.one_gpu = costs.front(),
                               .up_to_8_gpus = costs[costs.size() / 2],
                               .more_gpus = costs.back(),
                               .launch = Duration{0}};
}

}  // namespace

void ExperimentOptions::add_to(CLI::App& command) {
  trace.add_to(command);
  command
      .add_option("--cluster", experiment.cluster,
                  "Cluster: a TOML or CSV file, slurm.conf, what scontrol show nodes or sinfo "
                  "printed, or NxG for N nodes of G GPUs; default: inferred "
                  "from the trace")
      ->option_text("FILE|NxG");
  command
      .add_option("--policy", policies,
                  "Policies, by comma; quick = fifo, easy, las and srtf; all = every named one to "
                  "which the log gives something to do; see policy list")
      ->type_name("POLICIES")
      ->capture_default_str();
  command
      .add_option("--profile", experiment.profile, "slurm: treat nodes that sleep as Slurm does")
      ->type_name("NAME");
  command
      .add_option("--power", experiment.power,
                  "What nodes draw: a name or a TOML file; see energy power")
      ->option_text("NAME|FILE")
      ->capture_default_str();
  command
      .add_option("--speed", experiment.speed,
                  "How fast jobs run with what they get: models of perf show, a name or a TOML "
                  "file; log = on types of GPUs as jobs alike ran in TRACE; default: as recorded, "
                  "whatever they get")
      ->option_text("NAME|FILE");
  command
      .add_option("--believed-speed", experiment.believed_speed,
                  "What policies believe of --speed, where that is wrong: models likewise; learned "
                  "= nothing at first, then what they see of types of GPUs")
      ->option_text("NAME|FILE");
  command
      .add_option("--elastic", experiment.elastic,
                  "How jobs whose model it names train on more or fewer GPUs: a TOML file of "
                  "applications, or a folder of the published data; policies hear what jobs report")
      ->option_text("FILE|FOLDER");
  command
      .add_option("--restart", restart,
                  "Work added to a job by a preemption, for 1, 2 to 8 and more GPUs")
      ->type_name("TIMES")
      ->capture_default_str();
  command
      .add_option("--warm-up", warm_up, "Leave the first so long out of averages and utilisation")
      ->type_name("TIME");
  command.add_option("--seed", experiment.seed, "Seed of what is random in a policy")
      ->type_name("N")
      ->capture_default_str();
}

void ExperimentOptions::add_single_run_to(CLI::App& command) {
  command
      .add_option("--model", experiment.model,
                  "A model of predict train that learned estimates begin with; must have been "
                  "learned from what ended before TRACE begins")
      ->type_name("MODEL");
  command
      .add_option("--incidents", experiment.incidents,
                  "What happens to nodes and signals: CSV of time, event (down, up, notice, "
                  "signal), subject and value")
      ->type_name("FILE");
  command.add_option("--load", experiment.load, "Jobs arrive this many times as fast")
      ->type_name("FACTOR")
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  command
      .add_option("--timeline", timeline,
                  "Interval of the samples in timeline.csv; default: 1 min, "
                  "or longer if that were more than 100,000")
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
