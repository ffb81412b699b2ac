// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "experiment/summary.h"
#include "faults/model.h"
#include "table/csv_writer.h"
#include "table/output_file.h"
#include "trace/value.h"

namespace almanac::experiment {
namespace {

std::string_view state_of(const trace::Job& job, const sim::JobResult& record) {
  switch (record.phase) {
    case policy::Phase::withdrawn:
      return trace::to_string(job.outcome.state == trace::JobState::pending
                                  ? trace::JobState::pending
                                  : trace::JobState::cancelled);
    case policy::Phase::never:
      return "NEVER";
    case policy::Phase::declined:
      return "DECLINED";
    case policy::Phase::cut_off:
      return "CUT_OFF";
    case policy::Phase::waiting:
      return "PENDING";
    case policy::Phase::running:
      return "RUNNING";
    case policy::Phase::ended:
    case policy::Phase::unknown:
      break;
  }
  // The log's own outcome; a job that ended without one completed.
  const std::string_view recorded = trace::to_string(job.outcome.state);
  return recorded.empty() || job.outcome.state == trace::JobState::running ||
                 job.outcome.state == trace::JobState::pending
             ? "COMPLETED"
             : recorded;
}

constexpr auto kPaceColumns = std::to_array<std::string_view>(
    {"model", "mean_rate", "rate_gpus", "rate_type", "rate_neighbours", "rate_cpus", "rate_memory",
     "rate_power", "rate_bandwidth", "gpu_use", "mean_cpus", "throttled_s"});

/// All of kPaceColumns but the model.
void write_pace(table::CsvWriter& csv, const sim::MeanPace& pace, bool has_gpus) {
  const bool ran = pace.ran_s > 0;
  const auto add = [&](double value, bool known) { known ? csv.rounded(value, 4) : csv.missing(); };
  add(pace.rate, ran);
  add(pace.parts.gpus, ran && has_gpus);
  add(pace.parts.type, ran && has_gpus);
  add(pace.parts.neighbours, ran && has_gpus);
  add(pace.parts.cpus, ran);
  add(pace.parts.memory, ran && has_gpus);
  add(pace.parts.power, ran && has_gpus);
  add(pace.bandwidth, ran);
  add(pace.parts.computing, ran && has_gpus);
  add(pace.cpus, ran);
  add(pace.throttled_s, ran && !has_gpus);
}

void write_deadline(table::CsvWriter& csv, std::string_view qos, const trace::Request& request,
                    const sim::JobResult& record) {
  csv.text(qos).time(request.deadline);
  if (request.deadline == kNoTime || record.end == kNoTime) {
    csv.missing().missing();
    return;
  }
  csv.duration(trace::tardiness(request, record.end))
      .rounded(trace::value_at(request, record.end), 6);
}

}  // namespace

Result<void> write_jobs(const std::string& path, const Prepared& prepared,
                        const sim::Schedule& schedule) {
  auto file = table::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  table::CsvWriter csv(*file);
  const bool has_cores = prepared.cluster.counts_cpus();
  const bool has_deadlines =
      std::any_of(prepared.trace.jobs.begin(), prepared.trace.jobs.end(),
                  [](const trace::Job& job) { return job.request.deadline != kNoTime; });
  const bool has_paces = !schedule.pace_log.empty();
  bool has_eligible = false;
  for (std::size_t at = 0; at < prepared.trace.jobs.size() && !has_eligible; ++at) {
    has_eligible =
        prepared.trace.jobs[at].request.submitted != kNoTime || schedule.jobs[at].joined != kNoTime;
  }
  std::vector<std::string_view> columns = {"job_id",   "name",        "user",  "vc",     "gpus",
                                           "submit_s", "start_s",     "end_s", "wait_s", "run_s",
                                           "jct_s",    "preemptions", "state", "nodes"};
  if (has_deadlines) columns.insert(columns.end(), {"qos", "deadline_s", "tardiness_s", "earned"});
  if (has_cores) columns.insert(columns.end(), {"cpus"});
  if (has_paces) columns.insert(columns.end(), kPaceColumns.begin(), kPaceColumns.end());
  if (has_eligible) columns.insert(columns.end(), {"eligible_s"});
  csv.header(columns);
  std::vector<std::string> labels;
  for (std::uint32_t node = 0; node < prepared.cluster.nodes.size(); ++node) {
    labels.push_back(prepared.cluster.node_label(NodeId{node}));
  }
  std::string nodes;
  const trace::Trace& trace = prepared.trace;
  for (std::size_t at = 0; at < trace.jobs.size(); ++at) {
    const sim::JobResult& record = schedule.jobs[at];
    if (record.phase == policy::Phase::unknown) continue;
    const trace::Job& job = trace.jobs[at];
    nodes.clear();
    for (std::uint32_t piece = 0; piece < record.num_grants; ++piece) {
      const cluster::Grant& grant = schedule.grants[record.first_grant + piece];
      if (!nodes.empty()) nodes += ';';
      nodes += labels[index(grant.node)];
      nodes += ':';
      nodes += std::to_string(grant.count());
      if (grant.profile != slices::kNoProfile) {
        nodes += fmt::format("x{}@{}", slices::profile_name(grant.profile), grant.slice);
      } else if (grant.gpus != 0 && grant.gpu_milli != cluster::kWholeGpu) {
        nodes += fmt::format("x{}", grant.gpu_milli / 1e3);
      }
    }
    const bool ended = record.end != kNoTime && record.phase != policy::Phase::withdrawn;
    const Duration completion = ended ? record.end - sim::joined(job.request, record) : kNoDuration;
    csv.text(trace.id(job.id))
        .text(trace.names[job.request.name])
        .text(trace.names[job.request.user])
        .text(trace.names[job.request.vc])
        .whole(job.request.gpus)
        .time(job.request.submitted != kNoTime ? job.request.submitted : job.request.submit)
        .time(record.start)
        .time(record.end)
        .duration(ended ? completion - record.ran : kNoDuration)
        .duration(job.outcome.run)
        .duration(completion)
        .whole(record.preemptions)
        .text(state_of(job, record))
        .text(nodes);
    if (has_deadlines) write_deadline(csv, trace.names[job.request.qos], job.request, record);
    if (has_cores) csv.decimal(job.request.cpus);
    if (has_paces) {
      csv.text(trace.names[job.request.model]);
      write_pace(csv, schedule.pace_log[at], job.request.gpus > 0);
    }
    if (has_eligible) csv.time(sim::joined(job.request, record));
    csv.end_row();
  }
  csv.flush();
  return file->commit();
}

Result<void> write_waits(const std::string& path, const Prepared& prepared,
                         const sim::Schedule& schedule) {
  auto file = table::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  table::CsvWriter csv(*file);
  const auto asks_instance = [](const policy::Reason& reason) {
    return reason.profile != slices::kNoProfile;
  };
  const bool has_instances =
      std::any_of(schedule.job_waits.begin(), schedule.job_waits.end(),
                  [&](const sim::JobWait& each) { return asks_instance(each.wait.reason); }) ||
      std::any_of(schedule.never.begin(), schedule.never.end(),
                  [&](const auto& each) { return asks_instance(each.second); });
  std::vector<std::string_view> header{"job_id", "from_s",    "until_s",     "reason",
                                       "wanted", "available", "other_job_id"};
  const bool has_terms = std::any_of(
      schedule.job_waits.begin(), schedule.job_waits.end(), [](const sim::JobWait& each) {
        const policy::Reason& reason = each.wait.reason;
        return reason.precedence.term != policy::Term::none || reason.stop_gpu_s > 0;
      });
  const bool has_slurm = std::any_of(
      schedule.job_waits.begin(), schedule.job_waits.end(),
      [](const sim::JobWait& each) { return each.wait.reason.slurm != policy::SlurmReason::none; });
  if (has_slurm) header.emplace_back("slurm_reason");
  if (has_instances) header.insert(header.end(), {"gpu_profile", "board"});
  if (has_terms) {
    header.insert(header.end(), {"precedence", "own_value", "other_value", "stop_gpu_s"});
  }
  csv.header(header);
  const auto end_row = [&](const policy::Reason& reason) {
    if (has_slurm) csv.text(policy::name(reason.slurm));
    if (has_instances) {
      csv.text(slices::profile_name(reason.profile));
      csv.text(reason.board == nullptr ? "" : reason.board->name);
    }
    if (has_terms) {
      const auto& [term, own, others] = reason.precedence;
      csv.text(policy::name(term));
      term == policy::Term::none ? csv.missing().missing() : csv.decimal(own).decimal(others);
      reason.stop_gpu_s > 0 ? csv.decimal(reason.stop_gpu_s) : csv.missing();
    }
    csv.end_row();
  };
  const auto name = [&](JobId job) {
    return job == kNoJob ? "" : prepared.trace.id(prepared.trace.jobs[index(job)].id);
  };
  for (const auto& [job, wait] : schedule.job_waits) {
    csv.text(name(job))
        .time(wait.from)
        .time(wait.until)
        .text(policy::name(wait.reason.kind))
        .whole(wait.reason.wanted)
        .whole(wait.reason.available)
        .text(name(wait.reason.other));
    end_row(wait.reason);
  }
  for (const auto& [job, reason] : schedule.never) {
    csv.text(name(job))
        .time(prepared.trace.jobs[index(job)].request.submit)
        .missing()
        .text(policy::name(reason.kind))
        .whole(reason.wanted)
        .whole(reason.available)
        .missing();
    end_row(reason);
  }
  csv.flush();
  return file->commit();
}

Result<void> write_failures(const std::string& path, const Prepared& prepared,
                            const sim::Schedule& schedule) {
  auto file = table::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  table::CsvWriter csv(*file);
  csv.header({"job_id", "at_s", "cause", "node", "gpus", "lost_s", "restart_s", "resumed_s"});
  for (const faults::Interruption& each : schedule.failures.interruptions) {
    csv.text(prepared.trace.id(prepared.trace.jobs[index(each.job)].id))
        .time(each.at)
        .text(prepared.failures->causes[each.cause].name)
        .text(each.node == kNoNode ? "" : prepared.cluster.node_label(each.node))
        .whole(each.gpus)
        .duration(each.lost)
        .duration(each.restart)
        .time(each.resumed);
    csv.end_row();
  }
  csv.flush();
  return file->commit();
}

Result<void> write_timeline(const std::string& path, const Prepared& prepared,
                            const sim::Schedule& schedule) {
  auto file = table::OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  table::CsvWriter csv(*file);
  csv.header({"time_s", "gpus_total", "gpus_busy", "gpus_waiting", "jobs_running", "jobs_waiting",
              "nodes_on", "nodes_asleep", "power_w", "gpus_computing", "cpus_total", "cpus_busy"});
  const bool counts_cpus = prepared.cluster.counts_cpus();
  for (const sim::Sample& sample : schedule.timeline) {
    csv.time(sample.at)
        .whole(sample.gpus_total)
        .whole(sample.gpus_busy)
        .whole(sample.gpus_waiting)
        .whole(sample.jobs_running)
        .whole(sample.jobs_waiting)
        .whole(sample.nodes_on)
        .whole(sample.nodes_asleep)
        .rounded(power_w(sample, prepared.power), 0)
        .rounded(sample.gpus_computing, 3)
        .rounded(counts_cpus ? sample.cpus_total : std::nan(""), 3)
        .rounded(counts_cpus ? sample.cpus_busy : std::nan(""), 3)
        .end_row();
  }
  csv.flush();
  return file->commit();
}

}  // namespace almanac::experiment
