// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the output of `sacct -P` (trace/sacct_rows.h): a header, with any choice and order of
/// columns that has JobID, Submit, Elapsed or ElapsedRaw (or Start and End), and AllocTRES or
/// ReqTRES.
///
/// Lines of job steps (123.batch) are left out; ids of array tasks (123_4) and of parts of
/// heterogeneous jobs (123+0) stay as they are. GPUs, CPUs and memory are those allocated,
/// otherwise those requested. The partition is the VC, or the account if there is none; partitions
/// whose jobs ran on the same nodes are one VC. sacct prints the local time of the cluster without
/// its zone (trace/clock.h). A job may have several rows (trace/sacct_runs.h).
///
/// Source   sacct(1) of Slurm 20.11 to 25.05.
#include <algorithm>

#include <fmt/format.h>

#include "text/duration.h"
#include "text/number.h"
#include "trace/clock.h"
#include "trace/node_list.h"
#include "trace/partitions.h"
#include "trace/sacct_rows.h"
#include "trace/sacct_runs.h"
#include "trace/table_format.h"
#include "trace/tres.h"

namespace almanac::trace {

void register_sacct_text(Formats& registry);

namespace {

constexpr std::string_view kResizing = "RESIZING";

enum SacctExtra {
  kAllocTres,
  kReqTres,
  kAllocGres,
  kReqGres,
  kJobId,
  kState,
  kPartitionExtra,
  kNodes,
  kReservation,
  kConstraints,
  kSubmitLine,
  kFlags,
  kReason,
  kRestarts,
  kPlanned,
  kReserved
};

/// Takes what Slurm tells of how the job was scheduled.
void take_evidence(Draft& draft, Trace& trace) {
  Request& request = draft.job.request;
  Outcome& outcome = draft.job.outcome;
  const auto take = [&](SacctExtra extra, NameId& into) {
    const std::string_view text = draft.extras[extra];
    if (!text.empty() && text != "None" && text != "(null)") into = trace.names.intern(text);
  };
  take(kPartitionExtra, request.partition);
  take(kReservation, request.reservation);
  take(kConstraints, request.constraints);
  take(kSubmitLine, request.submit_line);
  take(kFlags, outcome.flags);
  take(kReason, outcome.reason);
  if (const auto restarts = text::parse_whole(draft.extras[kRestarts]); restarts && *restarts > 0) {
    constexpr std::int64_t kMost = 100'000;
    outcome.attempts = static_cast<std::int32_t>(std::min(*restarts, kMost)) + 1;
  }
  // A log without Eligible has the wait since then, under either name.
  if (draft.eligible != kNoTime || draft.never_eligible || outcome.start == kNoTime) return;
  const std::string_view wait = draft.extras[draft.extras[kPlanned].empty() ? kReserved : kPlanned];
  const auto planned = text::parse_duration(wait);
  if (planned && *planned != text::kUnlimited) draft.eligible = outcome.start - *planned;
}

std::string finish_sacct_text(Draft& draft, Intake& intake, Partitions& partitions,
                              SacctRuns& runs) {
  if (is_step(draft.extras[kJobId])) {
    draft.is_job = false;
    intake.skip("lines of job steps left out");
    return {};
  }
  std::string_view source;
  for (const SacctExtra extra : {kAllocTres, kReqTres, kAllocGres, kReqGres}) {
    if (source.empty()) source = draft.extras[extra];
  }
  const auto tres = parse_tres(source);
  if (!tres) {
    return fmt::format(
        "TRES must be a list like cpu=8,gres/gpu=8 of at most {:.0f} GPUs, found \"{}\"",
        kMostOfTres, source.substr(0, 60));
  }
  Request& request = draft.job.request;
  if (const std::string_view partition = draft.extras[kPartitionExtra]; !partition.empty()) {
    request.vc = partitions.take(partition, draft.extras[kNodes], intake);
  }
  if (is_node_list(draft.extras[kNodes])) {
    draft.job.outcome.node_list = intake.trace().names.intern(draft.extras[kNodes]);
  }
  request.gpus = tres->gpus;
  request.shards = tres->shards;
  request.mps = tres->mps;
  if (tres->nodes > 0) request.nodes = tres->nodes;
  if (!std::isnan(tres->cpus)) request.cpus = tres->cpus;
  request.memory_gb = tres->memory_gb;
  if (!tres->gpu_type.empty()) request.gpu_type = intake.trace().names.intern(tres->gpu_type);
  take_evidence(draft, intake.trace());
  if (draft.extras[kState] == kResizing) runs.resized(draft.job);
  return {};
}

TableFormat sacct_text() {
  TableFormat format;
  format.name = "sacct";
  format.summary = "text of sacct -P (Slurm)";
  format.map.columns = {
      {"job_id", "JobID", true},
      {"submit_s", "Submit", true},
      {"eligible_s", "Eligible"},
      {"run_s", "ElapsedRaw", true},
      {"run_s", "Elapsed", true, Unit::clock},
      {"name", "JobName"},
      {"comment", "Comment"},
      {"user", "User"},
      {"vc", "Partition"},
      {"vc", "Account"},
      {"qos", "QOS"},
      {"account", "Account"},
      {"priority", "Priority"},
      {"start_s", "Start"},
      {"end_s", "End"},
      {"time_limit_s", "TimelimitRaw", false, Unit::min},
      {"time_limit_s", "Timelimit", false, Unit::clock},
      {"state", "State"},
      {"nodes", "NNodes"},
      {"nodes", "AllocNodes"},
      {"cpus", "NCPUS"},
      {"cpus", "AllocCPUS"},
      {"cpus", "ReqCPUS"},
  };
  format.map.states.emplace(kResizing, JobState::unknown);
  // Its run has ended, and the job runs again.
  format.map.states.emplace("REQUEUED", JobState::preempted);
  format.extras = {"AllocTRES", "ReqTRES",  "AllocGRES",   "ReqGRES",     "JobID",      "State",
                   "Partition", "NodeList", "Reservation", "Constraints", "SubmitLine", "Flags",
                   "Reason",    "Restarts", "Planned",     "Reserved"};
  format.needed_extras = 4;
  format.command = kSacctCommand;
  // Slurm does not count the time of a suspended job, nor that between the runs of a requeued one.
  format.run_times = RunTimes::measured;
  return format;
}

/// The columns in which an ambiguous row is refused. Texts of users are no reason to: a row whose
/// delimiters are ambiguous in its comment alone is still a good row.
std::vector<std::string> used_columns(const TableFormat& format) {
  std::vector<std::string> names = format.extras;
  std::erase_if(names, [](const std::string& name) {
    return name == "Constraints" || name == "SubmitLine" || name == "Reason";
  });
  for (const Column& column : format.map.columns) {
    if (column.field != "comment") names.push_back(column.name);
  }
  return names;
}

}  // namespace

void register_sacct_text(Formats& registry) {
  Format made = as_format(sacct_text());
  made.read = [](const std::string& path, Intake& intake) {
    Partitions partitions;
    SacctRuns runs;
    const SacctRows* rows = nullptr;
    TableFormat format = sacct_text();
    format.open = [&](const std::string& file) -> Result<std::unique_ptr<table::Rows>> {
      auto opened = SacctRows::open(file, used_columns(format), false, kSacctCommand);
      if (!opened) return tl::unexpected(std::move(opened.error()));
      rows = opened->get();
      return std::unique_ptr<table::Rows>(std::move(*opened));
    };
    format.finish = [&](Draft& draft, Intake& into) {
      return finish_sacct_text(draft, into, partitions, runs);
    };
    format.conclude = [&](Intake& into) {
      for (std::string& note : rows->notes()) into.trace().notes.push_back(std::move(note));
      settle_sacct_clock(into, into.zone());
      runs.conclude(into);
      partitions.conclude(into);
      note_no_gpus(into);
    };
    intake.expect_clock_changes();
    return read_table(format, path, intake);
  };
  made.likeness = [](const Head& head) {
    const auto header = sacct_header(head.first_line());
    if (!header) return 0.0;
    // What cannot be read as it is may still be another format.
    return header->trouble.empty() ? 1.0 : 0.5;
  };
  registry.add(std::move(made));
}

}  // namespace almanac::trace
