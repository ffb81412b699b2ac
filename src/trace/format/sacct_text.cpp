// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads what `sacct -P` prints: '|' between fields, a header, any choice and order of columns that
/// has JobID, Submit, Elapsed or ElapsedRaw (or Start and End), and AllocTRES or ReqTRES.
///
/// Lines of job steps (123.batch) are left out; ids of array tasks (123_4) and of parts of
/// heterogeneous jobs (123+0) stay as they are. GPUs, CPUs and memory are those given, else those
/// asked for. The partition is the VC, without one the account; partitions whose jobs ran on the
/// same nodes are one VC. Times are read as UTC: sacct prints the local time of the cluster and
/// does not say which. A job that was resized has a row for each size; those before the last,
/// RESIZING, are left out.
///
/// Source   sacct(1) of Slurm 22.05.
#include "trace/node_list.h"
#include "trace/partitions.h"
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
  kNodes
};

std::string finish_sacct_text(Draft& draft, Intake& intake, Partitions& partitions) {
  if (draft.extras[kJobId].find('.') != std::string_view::npos) {
    draft.is_job = false;
    intake.skip("lines of job steps left out");
    return {};
  }
  if (draft.extras[kState] == kResizing) {
    draft.is_job = false;
    intake.skip("rows of jobs before they were resized left out");
    return {};
  }
  std::string_view source;
  for (const SacctExtra extra : {kAllocTres, kReqTres, kAllocGres, kReqGres}) {
    if (source.empty()) source = draft.extras[extra];
  }
  const auto tres = parse_tres(source);
  if (!tres) {
    return "TRES must be a list like cpu=8,gres/gpu=8: \"" + std::string(source.substr(0, 60)) +
           "\"";
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
  if (draft.job.outcome.state == JobState::running) {
    intake.remark("jobs still running, taken to run for as long as they had");
  } else if (draft.job.outcome.state == JobState::pending) {
    intake.remark("jobs still pending, taken as a run of 0 s");
  }
  return {};
}

TableFormat sacct_text() {
  TableFormat format;
  format.name = "sacct";
  format.summary = "text of sacct -P (Slurm)";
  format.map.delimiter = '|';
  format.map.columns = {
      {Field::job_id, "JobID", true},
      {Field::submit_s, "Submit", true},
      {Field::eligible_s, "Eligible"},
      {Field::run_s, "ElapsedRaw", true},
      {Field::run_s, "Elapsed", true, Unit::clock},
      {Field::name, "JobName"},
      {Field::user, "User"},
      {Field::vc, "Partition"},
      {Field::vc, "Account"},
      {Field::qos, "QOS"},
      {Field::start_s, "Start"},
      {Field::end_s, "End"},
      {Field::time_limit_s, "TimelimitRaw", false, Unit::min},
      {Field::time_limit_s, "Timelimit", false, Unit::clock},
      {Field::state, "State"},
      {Field::nodes, "NNodes"},
      {Field::nodes, "AllocNodes"},
      {Field::cpus, "NCPUS"},
      {Field::cpus, "AllocCPUS"},
      {Field::cpus, "ReqCPUS"},
  };
  format.map.states.emplace(kResizing, JobState::unknown);
  format.extras = {"AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES",
                   "JobID",     "State",   "Partition", "NodeList"};
  format.needed_extras = 4;
  format.free_text = "JobName";
  format.command = kSacctCommand;
  return format;
}

}  // namespace

void register_sacct_text(Formats& registry) {
  Format made = as_format(sacct_text());
  made.read = [](const std::string& path, Intake& intake) {
    Partitions partitions;
    TableFormat format = sacct_text();
    format.finish = [&](Draft& draft, Intake& into) {
      return finish_sacct_text(draft, into, partitions);
    };
    format.conclude = [&](Intake& into) {
      partitions.conclude(into);
      note_no_gpus(into);
    };
    return read_table(format, path, intake);
  };
  made.likeness = [](const Head& head) {
    for (const std::string_view column : head.columns('|')) {
      if (column == "JobID" || column == "JobIDRaw") return 1.0;
    }
    return 0.0;
  };
  registry.add(std::move(made));
}

}  // namespace almanac::trace
