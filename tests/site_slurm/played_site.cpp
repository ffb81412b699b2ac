// SPDX-License-Identifier: Apache-2.0
#include "site_slurm/played_site.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "text/datetime.h"

namespace almanac {
namespace {

constexpr double kMinute_s = 60;

constexpr auto kMidnight_s = static_cast<double>(PlayedSite::kMidnight_s);

std::string moment(double minutes) {
  return text::format_datetime(
      Time{Duration{static_cast<std::int64_t>((kMidnight_s + minutes * kMinute_s) * 1000)}});
}

double minutes_of(Time time) {
  return time == kNoTime ? -1 : (seconds(time) - kMidnight_s) / kMinute_s;
}

}  // namespace

PlayedSite::PlayedSite(const std::string& conf) {
  files_["slurm.conf"] =
      "ClusterName=little\n"
      "GresTypes=gpu\n"
      "SelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_Core_Memory\n"
      "NodeName=g[1-2] CPUs=16 RealMemory=64000 Gres=gpu:a100:4 State=UNKNOWN\n" +
      conf;
}

void PlayedSite::fail_node(const std::string& node, double from_min, double to_min) {
  incidents_ +=
      fmt::format("{},down,{},\n{},up,{},\n", moment(from_min), node, moment(to_min), node);
}

void PlayedSite::play(const std::string& policy) {
  const TemporaryFolder folder;
  for (const auto& [name, text] : files_) folder.write("site/" + name, text);
  std::string log =
      "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|"
      "Reservation|AllocTRES|NNodes\n";
  for (const Job& job : jobs_) {
    const std::string submit = moment(job.submit_min);
    log += fmt::format(
        "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|COMPLETED|{}|cpu={},mem={}M,node=1,gres/gpu={}|1\n",
        job.id, job.user, job.account, job.partition, job.qos, submit, submit, submit,
        moment(job.submit_min + job.run_min), job.run_min * kMinute_s, job.run_min + 1,
        job.reservation, job.gpus, job.gpus * 1000, job.gpus);
  }
  experiment::Experiment experiment;
  experiment.trace = folder.write("log.txt", log);
  experiment.cluster = folder / "site";
  experiment.policies = {policy};
  experiment.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  if (!incidents_.empty()) {
    experiment.incidents = folder.write("incidents.csv", "time,event,subject,value\n" + incidents_);
  }
  auto prepared = experiment::prepare(experiment);
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  prepared_ = std::move(*prepared);
  auto played = experiment::simulate_run(*prepared_, 0, nullptr, nullptr, kNoJob, true);
  ASSERT_TRUE(played) << to_string(played.error());
  schedule_ = std::move(*played);
}

std::size_t PlayedSite::find(const std::string& job) const {
  const auto& jobs = prepared_->trace.jobs;
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const trace::Job& each) {
    return prepared_->trace.id(each.id) == job;
  });
  EXPECT_NE(found, jobs.end()) << job;
  return static_cast<std::size_t>(found - jobs.begin());
}

double PlayedSite::start_of(const std::string& job) const {
  return minutes_of(schedule_.jobs[find(job)].start);
}

double PlayedSite::end_of(const std::string& job) const {
  return minutes_of(schedule_.jobs[find(job)].end);
}

int PlayedSite::preemptions_of(const std::string& job) const {
  return static_cast<int>(schedule_.jobs[find(job)].preemptions);
}

std::vector<std::string> PlayedSite::reasons_of(const std::string& job) const {
  std::vector<std::string> reasons;
  const auto id = static_cast<std::uint32_t>(find(job));
  for (const sim::JobWait& each : schedule_.job_waits) {
    const std::string name(policy::name(each.wait.reason.slurm));
    const bool is_new = std::find(reasons.begin(), reasons.end(), name) == reasons.end();
    if (index(each.job) == id && is_new) reasons.push_back(name);
  }
  return reasons;
}

std::vector<std::string> PlayedSite::nodes_of(const std::string& job) const {
  std::vector<std::string> names;
  const sim::JobResult record = schedule_.jobs[find(job)];
  for (std::uint16_t at = 0; at < record.num_grants; ++at) {
    const cluster::Grant& grant = schedule_.grants[record.first_grant + at];
    names.push_back(prepared_->cluster.nodes[index(grant.node)].name);
  }
  return names;
}

}  // namespace almanac
