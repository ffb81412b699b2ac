// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads our own CSV (docs/formats.md), and the jobs.csv that a run writes, so that what came out
/// of one simulation can go into the next. All times are seconds.
#include "trace/table_format.h"

namespace almanac::trace {

void register_almanac(Formats& registry);

void register_almanac(Formats& registry) {
  TableFormat format;
  format.name = "almanac";
  format.summary = "our own CSV: job_id, submit_s, run_s, gpus and more";
  format.map.columns = {
      {Field::job_id, "job_id", true},
      {Field::submit_s, "submit_s", true, Unit::s},
      {Field::eligible_s, "eligible_s", false, Unit::s},
      {Field::run_s, "run_s", true, Unit::s},
      {Field::span_s, "span_s", false, Unit::s},
      {Field::gpus, "gpus", true},
      {Field::name, "name"},
      {Field::user, "user"},
      {Field::vc, "vc"},
      {Field::kind, "kind"},
      {Field::gpu_type, "gpu_type"},
      {Field::gpu_share, "gpu_share"},
      {Field::gpu_profile, "gpu_profile"},
      {Field::gpu_memory_gb, "gpu_memory_gb"},
      {Field::cpus, "cpus"},
      {Field::memory_gb, "memory_gb"},
      {Field::nodes, "nodes"},
      {Field::node_list, "node_list"},
      {Field::shards, "shards"},
      {Field::mps, "mps"},
      {Field::time_limit_s, "time_limit_s", false, Unit::s},
      {Field::predicted_s, "predicted_s", false, Unit::s},
      {Field::start_s, "start_s", false, Unit::s},
      {Field::end_s, "end_s", false, Unit::s},
      {Field::state, "state"},
      {Field::attempts, "attempts"},
      {Field::model, "model"},
      {Field::batch, "batch"},
      {Field::steps, "steps"},
      {Field::max_gpus, "max_gpus"},
      {Field::min_gpus, "min_gpus"},
      {Field::alternatives, "alternatives"},
      {Field::group, "group"},
      {Field::metric, "metric"},
      {Field::deadline_s, "deadline_s", false, Unit::s},
      {Field::worthless_at_s, "worthless_at_s", false, Unit::s},
      {Field::value, "value"},
      {Field::restart_s, "restart_s"},
      {Field::checkpoint_s, "checkpoint_s"},
      {Field::qos, "qos"},
      {Field::after, "after"},
      {Field::reference_cpus, "reference_cpus"},
      {Field::reference_memory_gb, "reference_memory_gb"},
      {Field::reference_profile, "reference_profile"},
      {Field::bandwidth_gbs, "bandwidth_gbs"},
      {Field::step_s, "step_s"},
      {Field::network_s, "network_s"},
      {Field::network_gbps, "network_gbps"},
      {Field::data_set, "data_set"},
      {Field::data_gb, "data_gb"},
      {Field::read_gbs, "read_gbs"},
  };
  format.marks = {"submit_s", "run_s"};
  format.run_times = RunTimes::reference;
  TableFormat run = format;
  registry.add(as_format(std::move(format)));

  run.name = "almanac-run";
  run.summary = "the jobs.csv of a run of ours";
  run.run_times = RunTimes::simulated;
  std::erase_if(run.map.columns, [](const Column& column) { return column.field == Field::nodes; });
  run.ignored = {"wait_s",      "jct_s",       "preemptions",    "nodes",  // names machines here
                 "mean_rate",   "rate_gpus",   "rate_type",      "rate_neighbours", "rate_cpus",
                 "rate_memory", "rate_power",  "rate_bandwidth", "gpu_use",         "mean_cpus",
                 "throttled_s", "tardiness_s", "earned"};
  registry.add(as_format(std::move(run)));
}

}  // namespace almanac::trace
