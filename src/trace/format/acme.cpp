// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the job logs of Acme, `trace_seren.csv` and `trace_kalos.csv`.
///
/// Kalos' durations count from submission. Run times are end minus start in both logs, if they have
/// these (trace/reconcile.h). Memory is that of a pod; a job has one pod per node. `gpu_time` is
/// the duration times the GPUs, and is not used.
///
/// Source   Hu et al., NSDI'24; github.com/InternLM/AcmeTrace.
#include "trace/table_format.h"

namespace almanac::trace {

void register_acme(Formats& registry);

void register_acme(Formats& registry) {
  TableFormat format;
  format.name = "acme";
  format.summary = "Acme trace_seren.csv and trace_kalos.csv (Shanghai AI Laboratory, NSDI'24)";
  format.map.columns = {
      {"job_id", "job_id", true},
      {"submit_s", "submit_time", true},
      {"run_s", "duration", true},
      {"gpus", "gpu_num", true},
      {"user", "user"},
      {"kind", "type"},
      {"cpus", "cpu_num"},
      {"nodes", "node_num"},
      {.field = "memory_gb", .name = "mem_per_pod_GB", .times = {"node_num"}},
      {"state", "state"},
      {"start_s", "start_time"},
      {"end_s", "end_time"},
      {"wait_s", "queue"},
  };
  format.ignored = {"shared_mem_per_pod", "fail_time", "stop_time", "gpu_time"};
  format.marks = {"gpu_time", "mem_per_pod_GB", "shared_mem_per_pod", "fail_time", "stop_time"};
  registry.add(as_format(std::move(format)));
}

}  // namespace almanac::trace
