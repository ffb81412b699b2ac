// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_notes.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "perf/shared_in_time.h"
#include "sim/gpu_rent.h"
#include "text/human.h"
#include "text/moment.h"
#include "trace/eligible.h"

namespace almanac::experiment {
namespace {

/// What stands in for a signal before its first value.
std::string before_signal(const std::string& name) {
  if (name == sim::kPriceSignal || name == sim::kCarbonSignal) {
    return "the constant of the power model holds";
  }
  return sim::is_gpu_rent(name) ? "gpu_cost leaves out its GPUs" : "it has no value";
}

/// Notes the GPU types that have no price although others do.
void note_unpriced(const cluster::Incidents& incidents, const cluster::Cluster& cluster,
                   std::vector<std::string>& notes) {
  std::set<std::string> priced, unpriced;
  for (const std::string& name : incidents.signals) {
    if (sim::is_gpu_rent(name)) priced.insert(name.substr(name.find('/') + 1));
  }
  if (priced.empty()) return;
  for (const cluster::Node& node : cluster.nodes) {
    const cluster::NodeClass& each = cluster.classes[node.node_class];
    if (each.gpus > 0 && !priced.contains(each.gpu_type)) unpriced.insert(each.gpu_type);
  }
  for (const std::string& type : unpriced) {
    notes.push_back(type.empty()
                        ? std::string("gpu_cost leaves out GPUs without a type in the cluster file")
                        : fmt::format("gpu_cost leaves out {0} GPUs: there is no signal price/{0} "
                                      "or reserved/{0}",
                                      type));
  }
}

/// Notes which part of the time of submissions each signal leaves out, and what fills it. A value
/// is taken to last as long as the one before it.
void note_signal_coverage(const cluster::Incidents& incidents, const trace::Trace& trace,
                          std::vector<std::string>& notes) {
  if (trace.jobs.empty()) return;
  const Time begin = trace.jobs.front().request.submit;
  const Time end = trace.jobs.back().request.submit;
  for (std::size_t number = 0; number < incidents.signals.size(); ++number) {
    std::vector<Time> times;
    for (const cluster::Incident& each : incidents.all) {
      if (each.kind == cluster::Incident::Kind::signal && each.subject == number)
        times.push_back(each.at);
    }
    if (times.empty()) continue;
    const std::string& name = incidents.signals[number];
    const Time first = times.front();
    const Time last = times.back();
    const Duration lasts = times.size() > 1 ? last - times[times.size() - 2] : Duration{0};
    if (first > begin) {
      notes.push_back(fmt::format("signal {} begins {}{}; until then {}", name, text::moment(first),
                                  first > end ? ", after the last submission"
                                              : ", " + text::human_time(seconds(first - begin)) +
                                                    " after the first submission",
                                  before_signal(name)));
    }
    if (last + lasts < end) {
      notes.push_back(fmt::format(
          "signal {} has its last value {}{}; that value holds from then on", name,
          text::moment(last),
          last < begin
              ? ", before the first submission"
              : ", " + text::human_time(seconds(end - last)) + " before the last submission"));
    }
  }
}

}  // namespace

void note_assumptions(const cluster::Incidents& incidents, const cluster::Cluster& cluster,
                      const trace::Trace& trace, std::vector<std::string>& notes) {
  using Kind = cluster::Incident::Kind;
  const bool any_fails = std::any_of(incidents.all.begin(), incidents.all.end(),
                                     [](const auto& each) { return each.kind == Kind::down; });
  const auto silent =
      std::count_if(trace.jobs.begin(), trace.jobs.end(),
                    [](const trace::Job& job) { return std::isnan(job.request.checkpoint_s); });
  if (any_fails && silent > 0) {
    notes.push_back(fmt::format(
        "{} of {} jobs do not say how often they write a checkpoint (column checkpoint_s): if "
        "their nodes fail, they are assumed to lose the work since the last full hour",
        silent, trace.jobs.size()));
  }
  for (const std::string& name : incidents.signals) {
    if (name == sim::kPriceSignal || name == sim::kCarbonSignal || sim::is_gpu_rent(name)) continue;
    notes.push_back(fmt::format(
        "signal {} is not in cost or kg_co2: only the signals {}, {}, price/TYPE and reserved/TYPE "
        "are",
        name, sim::kPriceSignal, sim::kCarbonSignal));
  }
  note_signal_coverage(incidents, trace, notes);
  note_unpriced(incidents, cluster, notes);
}

namespace {

/// Whether the job that `job` waited for is a task of the same array ("12_1" and "12_4"): the limit
/// on tasks that run at once is no dependency.
bool is_of_its_array(const trace::Trace& trace, const trace::Job& job) {
  const std::string own = trace.id(job.id);
  const std::string other = trace.id(job.request.after);
  const auto at = own.find('_');
  return at != std::string::npos && other.starts_with(std::string_view(own).substr(0, at + 1));
}

/// Jobs that do not wait for the job that they name, for one reason.
struct Unheld {
  std::string_view why;
  std::size_t jobs = 0;
  std::string first{};
};

/// Notes the dependencies that the simulation does not follow (sim::Dependencies). Returns those
/// that it does. Cost: a lookup per job, nothing where no job depends on another.
std::vector<const trace::Job*> note_dependencies(const trace::Trace& trace,
                                                 const cluster::Cluster& cluster,
                                                 std::vector<std::string>& notes) {
  const auto depends = [&](const trace::Job& job) {
    return job.request.after != trace::kNoJobKey && sim::is_simulated(job.request, cluster);
  };
  std::vector<const trace::Job*> followed;
  if (std::none_of(trace.jobs.begin(), trace.jobs.end(), depends)) return followed;
  std::unordered_map<trace::JobKey, const trace::Job*> in_log;
  for (const trace::Job& job : trace.jobs) in_log.emplace(job.id, &job);
  Unheld absent{"it is not in the log"};
  Unheld later{"it is submitted later, or the jobs wait for each other in a cycle"};
  Unheld unsimulated{"it is not simulated"};
  for (const trace::Job& job : trace.jobs) {
    if (!depends(job)) continue;
    const auto other = in_log.find(job.request.after);
    Unheld* unheld = nullptr;
    if (other == in_log.end()) {
      unheld = &absent;
    } else if (other->second >= &job) {
      unheld = &later;
    } else if (!sim::is_simulated(other->second->request, cluster)) {
      unheld = &unsimulated;
    } else {
      followed.push_back(&job);
      continue;
    }
    if (unheld->jobs++ == 0) unheld->first = trace.id(job.id);
  }
  for (const Unheld* const each : {&absent, &later, &unsimulated}) {
    if (each->jobs == 0) continue;
    notes.push_back(
        fmt::format("{}: {} not wait for the job in column after, because {} (first: job {})",
                    trace.path.empty() ? "the log" : trace.path,
                    text::counted(each->jobs, "job does", "jobs do"), each->why, each->first));
  }
  return followed;
}

}  // namespace

void note_what_is_left_out(const trace::Trace& trace, const cluster::Cluster& cluster,
                           std::vector<std::string>& notes) {
  std::size_t cpu = 0;
  std::size_t shared = 0;
  std::size_t dependent = 0;
  std::size_t tasks = 0;
  std::size_t never = 0;
  std::size_t pending = 0;
  for (const trace::Job& job : trace.jobs) {
    cpu += sim::is_simulated(job.request, cluster) ? 0 : 1;
    shared += job.request.gpus > 1 && job.request.gpu_share < 1 ? 1 : 0;
    if (!sim::is_simulated(job.request, cluster) || !trace::never_ran(job)) continue;
    ++(job.outcome.state == trace::JobState::pending ? pending : never);
  }
  if (cpu > 0) {
    notes.push_back(fmt::format(
        "not simulated: {}, because the cluster does not say how many cores its nodes have",
        text::counted(cpu, "CPU-only job")));
  }
  if (shared > 0) {
    notes.push_back(
        fmt::format("treated as using whole GPUs: {} requesting fractions of several GPUs",
                    text::counted(shared, "job")));
  }
  for (const trace::Job* const job : note_dependencies(trace, cluster, notes)) {
    ++(is_of_its_array(trace, *job) ? tasks : dependent);
  }
  if (dependent > 0) {
    notes.push_back(
        fmt::format("{} on another: each joins the queue when it was eligible, but not before the "
                    "other has ended",
                    text::counted(dependent, "job depends", "jobs depend")));
  }
  if (tasks > 0) {
    notes.push_back(fmt::format(
        "{} for a place in {}: each joins the queue when it was eligible, but not before another "
        "task of its array has ended",
        text::counted(tasks, "array task waits", "array tasks wait"),
        tasks == 1 ? "its array" : "their arrays"));
  }
  if (never > 0) {
    notes.push_back(
        fmt::format("{} never ran: each waits until it was cancelled, ends at once if a policy "
                    "starts it earlier, and counts in no average",
                    text::counted(never, "job")));
  }
  if (pending > 0) {
    notes.push_back(
        fmt::format("{} pending when the log was taken: each ends at once when a policy starts "
                    "it, because its run time is unknown, and counts in no average",
                    text::counted(pending, "job was", "jobs were")));
  }
}

void note_capacity_changes(const Prepared& prepared, std::vector<std::string>& notes) {
  const std::vector<cluster::CapacityChange>& changes = prepared.cluster.changes;
  const auto dated = std::find_if(changes.begin(), changes.end(),
                                  [](const auto& change) { return change.at != Time::min(); });
  if (dated == changes.end() || prepared.trace.jobs.empty()) return;
  const Time first = prepared.trace.jobs.front().request.submit;
  const Time last = prepared.trace.jobs.back().request.submit;
  if (changes.back().at < first || dated->at > last) {
    notes.emplace_back("none of the cluster's capacity changes falls within the trace");
  }
}

void note_sharing(Prepared& made) {
  const auto has = [&](cluster::Sharing sharing) {
    return std::any_of(made.cluster.classes.begin(), made.cluster.classes.end(),
                       [&](const auto& make) { return make.sharing == sharing; });
  };
  if (has(cluster::Sharing::mps)) {
    made.notes.push_back(
        fmt::format("under MPS every job is assumed to slow each other job on its GPU by {:.1f} %, "
                    "the median of pairs measured on a V100, whatever its share",
                    100 * (perf::kMpsSlowdown - 1)));
  }
  if (has(cluster::Sharing::time)) {
    made.notes.emplace_back(
        "on time-shared GPUs each of n jobs is assumed to run at 1/n of its speed");
  }
  std::size_t as_asked = 0;
  for (const trace::Job& job : made.trace.jobs) {
    const bool asks = job.request.gpu_profile != kNoName;
    as_asked += asks && job.outcome.reference_profile == kNoName ? 1 : 0;
  }
  if (as_asked > 0) {
    made.notes.push_back(fmt::format(
        "assumed to have been recorded on the requested instance: {} without reference_profile",
        text::counted(as_asked, "job")));
  }
}

}  // namespace almanac::experiment
