// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the Helios job log, `cluster_log.csv`: as released (job_id, user, vc, gpu_num, cpu_num,
/// node_num, state, submit_time, start_time, end_time, duration, queue) and as rebuilt from public
/// derivations (a log_row, no start, some columns empty, durations clamped at 48 h).
///
/// Logs of other clusters share most of these names. A table with other columns as well is
/// recognized as Helios' only if it has a column that the others lack. Times are UTC: the log names
/// no zone, and the authors' tools use the local one. A row without a job id (CPU jobs of the
/// rebuilt log) is called log-N, by its log_row.
///
/// Source   Hu et al., SC'21; github.com/S-Lab-System-Group/HeliosData.
#include <fmt/format.h>

#include "trace/table_format.h"

namespace almanac::trace {

void register_helios(Formats& registry);

namespace {

enum HeliosExtra { kLogRow, kClamped };

std::string finish_helios(Draft& draft, Intake& intake) {
  if (!draft.has_id && !draft.extras[kLogRow].empty()) {
    draft.job.id = intake.trace().key(fmt::format("log-{}", draft.extras[kLogRow]));
    draft.has_id = true;
    intake.remark("jobs without a job_id (named log-N after their log_row)");
  }
  if (draft.extras[kClamped] == "1") {
    intake.remark("jobs whose duration is only known to be at least 48 h (treated as 48 h)");
  }
  return {};
}

}  // namespace

void register_helios(Formats& registry) {
  TableFormat format;
  format.name = "helios";
  format.summary = "Helios cluster_log.csv (SenseTime, SC'21)";
  format.map.columns = {
      {"job_id", "job_id", true},
      {"submit_s", "submit_time", true},
      {"run_s", "duration", true},
      {"gpus", "gpu_num", true},
      {"user", "user"},
      {"vc", "vc"},
      {"name", "jobname"},
      {"cpus", "cpu_num"},
      {"nodes", "node_num"},
      {"state", "state"},
      {"start_s", "start_time"},
      {"end_s", "end_time"},
      {"wait_s", "queue"},
  };
  format.extras = {"log_row", "clamped_48h"};
  // Others name their columns so too; only Helios has virtual clusters or these.
  format.marks = {"vc", "jobname", "log_row", "clamped_48h"};
  format.is_plain = true;
  format.finish = finish_helios;
  registry.add(as_format(std::move(format)));
}

}  // namespace almanac::trace
