// SPDX-License-Identifier: Apache-2.0
#include "report/run_input.h"

#include "study/size_bucket.h"
#include "text/datetime.h"
#include "text/human.h"

namespace almanac::report {
namespace {

std::size_t length_of(Duration run) { return run < 15min ? 0 : run <= 6h ? 1 : 2; }

void add(Grouping& grouping, std::size_t at, std::uint32_t group, const trace::Job& job) {
  grouping.of_job[at] = group;
  ++grouping.jobs[group];
  grouping.gpu_s[group] += job.request.gpus * seconds(job.outcome.run);
}

void add_group(Grouping& grouping, std::string name) {
  grouping.names.push_back(std::move(name));
  grouping.jobs.push_back(0);
  grouping.gpu_s.push_back(0);
}

/// Groups by a name of the job's, in order of first mention; no name is a group too.
class ByName {
 public:
  ByName(const trace::Trace& trace, Grouping& grouping)
      : trace_(trace), grouping_(grouping), group_of_name_(trace.names.size(), Grouping::kNone) {}

  void add(std::size_t at, NameId name) {
    std::uint32_t& group = group_of_name_[index(name)];
    if (group == Grouping::kNone) {
      group = static_cast<std::uint32_t>(grouping_.names.size());
      add_group(grouping_, name == kNoName ? "(none)" : std::string(trace_.names[name]));
    }
    report::add(grouping_, at, group, trace_.jobs[at]);
  }

 private:
  const trace::Trace& trace_;
  Grouping& grouping_;
  std::vector<std::uint32_t> group_of_name_;
};

std::vector<VcId> vcs_of_names(const cluster::Cluster& cluster, const trace::Trace& jobs) {
  const Names& names = jobs.names;
  std::vector<VcId> vcs(names.size(), cluster.takes_every_job ? VcId{0} : kNoVc);
  if (cluster.takes_every_job) return vcs;
  for (std::uint32_t vc = 0; vc < cluster.vcs.size(); ++vc) {
    const std::string& name = cluster.vcs[vc].name;
    if (const auto found = names.find(name)) vcs[index(*found)] = VcId{vc};
    if (name == cluster::kUnnamedVc) vcs[index(kNoName)] = VcId{vc};
  }
  std::vector<bool> asked(names.size());
  for (const trace::Job& job : jobs.jobs) {
    const NameId vc = job.request.vc;
    if (vcs[index(vc)] != kNoVc || asked[index(vc)]) continue;
    asked[index(vc)] = true;
    vcs[index(vc)] = cluster.find_vc_of_jobs(names[vc]);
  }
  return vcs;
}

}  // namespace

RunInput::RunInput(const experiment::Prepared& prepared) : prepared_(&prepared) {
  const trace::Trace& jobs = prepared.trace;
  for (Grouping& grouping : groupings_) grouping.of_job.assign(jobs.jobs.size(), Grouping::kNone);
  Grouping& sizes = groupings_[static_cast<std::size_t>(By::size)];
  for (const std::string_view name : study::kSizes) add_group(sizes, std::string(name));
  Grouping& lengths = groupings_[static_cast<std::size_t>(By::length)];
  for (const char* const name : kLengths) add_group(lengths, name);
  ByName users(jobs, groupings_[static_cast<std::size_t>(By::user)]);
  ByName vcs(jobs, groupings_[static_cast<std::size_t>(By::vc)]);
  ByName models(jobs, groupings_[static_cast<std::size_t>(By::model)]);
  const std::vector<VcId> vc_of_name = vcs_of_names(prepared.cluster, jobs);
  vc_of_job_.assign(jobs.jobs.size(), kNoVc);
  for (std::size_t at = 0; at < jobs.jobs.size(); ++at) {
    const trace::Job& job = jobs.jobs[at];
    if (job.request.gpus == 0) {
      cpu_jobs_ += sim::is_simulated(job.request, prepared.cluster) ? 1 : 0;
      continue;
    }
    ++gpu_jobs_;
    vc_of_job_[at] = vc_of_name[index(job.request.vc)];
    users.add(at, job.request.user);
    vcs.add(at, job.request.vc);
    models.add(at, job.request.model);
    add(sizes, at, static_cast<std::uint32_t>(study::size_of(job.request.gpus)), job);
    add(lengths, at, static_cast<std::uint32_t>(length_of(job.outcome.run)), job);
  }
}

std::string moment(Time at) {
  // Times below a year are from the trace's own zero.
  constexpr Time kYear{Duration{31'536'000'000}};
  return at < kYear ? text::human_time(seconds(at)) : text::format_datetime(at).substr(0, 16);
}

}  // namespace almanac::report
