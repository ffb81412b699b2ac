// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the Philly job list as a table, rebuilt from public derivations of the trace: one row per
/// job, with run_seconds. It has no start times; e2e_seconds is the time from the first start of a
/// job to its last end.
///
/// Pass is COMPLETED, Killed is CANCELLED, Failed is FAILED. Unsuccessful means killed or failed,
/// in rows that say no more; it is read as FAILED, with a note.
///
/// Source   Jeon et al., ATC'19; github.com/msr-fiddle/philly-traces.
#include "trace/table_format.h"

namespace almanac::trace {

void register_philly_csv(Formats& registry);

namespace {

enum PhillyExtra { kWrittenStatus, kRunSource };

std::string finish_philly_csv(Draft& draft, Intake& intake) {
  if (draft.extras[kWrittenStatus] == "Unsuccessful") {
    ++intake.trace().unsuccessful;
    intake.remark(
        "jobs that are Unsuccessful (killed or failed, unknown which; treated as FAILED)");
  }
  if (draft.extras[kRunSource] == "e2e") {
    intake.remark("jobs whose run_seconds is the time from the first start to the last end");
  }
  return {};
}

}  // namespace

void register_philly_csv(Formats& registry) {
  TableFormat format;
  format.name = "philly-csv";
  format.summary = "Philly job list as a table with run_seconds";
  format.map.columns = {
      {"job_id", "job_id", true},
      {"submit_s", "submit_time", true},
      {"run_s", "run_seconds", true},
      {"span_s", "e2e_seconds"},
      {"gpus", "gpu_num", true},
      {"vc", "vc"},
      {"user", "user"},
      {"state", "status"},
      {"attempts", "attempts"},
      {"nodes", "node_num"},
  };
  format.map.states = {{"Unsuccessful", JobState::failed}};
  format.extras = {"status", "run_source"};
  format.marks = {"run_seconds"};
  format.finish = finish_philly_csv;
  registry.add(as_format(std::move(format)));
}

}  // namespace almanac::trace
