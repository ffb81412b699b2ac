// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads Almanac's own CSV (docs/reference/formats.md), and the jobs.csv of a run, so that the
/// output of one simulation can be the input of the next. All times are seconds.
#include <variant>

#include "trace/table_format.h"

namespace almanac::trace {

void register_almanac(Formats& registry);

void register_almanac(Formats& registry) {
  TableFormat format;
  format.name = "almanac";
  format.summary = "Almanac's own CSV: job_id, submit_s, run_s, gpus and more";
  for (const FieldSpec& field : kFields) {
    if (field.written == Written::never) continue;
    const bool is_time = std::holds_alternative<Member<Time>>(field.member);
    format.map.columns.push_back({.field = Field(field),
                                  .name = std::string(field.name),
                                  .required = field.written == Written::always,
                                  .unit = is_time ? Unit::s : Unit::any});
  }
  format.marks = {"submit_s", "run_s"};
  format.run_times = RunTimes::measured;
  TableFormat run = format;
  registry.add(as_format(std::move(format)));

  run.name = "almanac-run";
  run.summary = "jobs.csv of an Almanac run";
  run.run_times = RunTimes::simulated;
  std::erase_if(run.map.columns, [](const Column& column) { return column.field == "nodes"; });
  run.ignored = {"wait_s",      "jct_s",       "preemptions",    "nodes",  // names machines here
                 "mean_rate",   "rate_gpus",   "rate_type",      "rate_neighbours", "rate_cpus",
                 "rate_memory", "rate_power",  "rate_bandwidth", "gpu_use",         "mean_cpus",
                 "throttled_s", "tardiness_s", "earned"};
  registry.add(as_format(std::move(run)));
}

}  // namespace almanac::trace
