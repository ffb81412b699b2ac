// SPDX-License-Identifier: Apache-2.0
#include "slurmctld/main_loop/controller.h"

#include <gtest/gtest.h>

#include "slurmctld/eight_nodes_test.h"

namespace almanac::slurmctld {
namespace {

/// A controller and a clock: jobs end when their limits are over.
class Clock {
 public:
  explicit Clock(site::Site site = eight_nodes(), bool plan_all = true)
      : site_(std::move(site)), controller_(site_, {0, 0, 0}, plan_all) {}

  JobNumber submit(const std::string& options, const std::string& user = "ann",
                   const std::string& program = "sbatch", int nvlink_gpus = 0) {
    auto parsed =
        parse_command_line(program + " " + options + " --wrap x", controller_.state().table);
    EXPECT_TRUE(parsed) << options;
    Job job{.number = ++last_, .ask = *std::move(parsed)};
    job.ask.user = user;
    job.ask.request.nvlink_gpus = nvlink_gpus;
    for (PartitionAt at = 0; at < site_.partitions.size(); ++at) {
      const auto& asked = job.ask.partitions;
      const std::string& name = site_.partitions[at].name;
      if (asked.empty() ? at == 0 : std::find(asked.begin(), asked.end(), name) != asked.end()) {
        job.partitions.push_back(at);
      }
    }
    for (std::uint32_t at = 0; at < site_.qos.size(); ++at) {
      if (site_.qos[at].name == job.ask.qos) job.qos = at;
    }
    apply_defaults(job.ask, site_.partitions[job.partitions.front()], site_.config);
    controller_.submit(std::move(job), now_);
    return last_;
  }

  void run_until(Seconds until) {
    for (; now_ <= until; ++now_) {
      while (!state().running().empty() && state().running().front().end <= now_) {
        controller_.end(state().running().front().job, now_, false);
      }
      if (controller_.next(now_) == now_) controller_.run(now_);
      for (const Start& each : controller_.take_starts()) starts[each.number] = each;
    }
    --now_;
  }
  /// Returns when a job started; -1 = it has not.
  Seconds start_of(JobNumber job) const {
    const auto found = starts.find(job);
    return found == starts.end() ? -1 : found->second.at;
  }
  Controller& controller() { return controller_; }
  const State& state() { return controller_.state(); }

  std::map<JobNumber, Start> starts;

 private:
  site::Site site_;
  Controller controller_;
  Seconds now_ = 0;
  JobNumber last_ = 0;
};

TEST(Controller, StartsAJobWithinThreeSecondsOfItsSubmission) {
  Clock clock;
  const JobNumber first = clock.submit("-n1");
  clock.run_until(1);
  const JobNumber second = clock.submit("-n1");
  clock.run_until(10);
  EXPECT_EQ(clock.start_of(first), 0);
  EXPECT_EQ(clock.start_of(second), 3);
}

// The loop called passes at 0 s and 60 s. The one at 60 s had nothing to do, but counts.
TEST(Controller, WaitsForTheDelayAfterAPassThatHadNothingToDo) {
  site::Site site = eight_nodes();
  site.config.scheduler.type = site::SchedulerType::builtin;
  Clock clock(std::move(site));
  clock.submit("-n1");
  clock.run_until(61);
  const JobNumber second = clock.submit("-n1");
  clock.run_until(100);
  const JobNumber third = clock.submit("-n1");
  clock.run_until(110);
  EXPECT_EQ(clock.start_of(second), 63);
  EXPECT_EQ(clock.start_of(third), 100);
}

// Passes at other times look at two records, those of the jobs that can never start. Passes over
// the full queue are due at 60 s, when nothing has changed, and at 120 s.
TEST(Controller, RunsAFullPassAtItsTimesOnly) {
  site::Site site = eight_nodes();
  site.partitions.push_back({.name = "urgent", .nodes = {0, 1}, .priority_tier = 10});
  site.config.scheduler.type = site::SchedulerType::builtin;
  site.config.scheduler.default_queue_depth = 1;
  Clock clock(std::move(site));
  clock.submit("-n1");
  clock.run_until(100);
  clock.submit("-p urgent -N3 -n3");
  clock.submit("-p urgent -N3 -n3");
  const JobNumber behind = clock.submit("-n1");
  clock.run_until(130);
  EXPECT_EQ(clock.start_of(behind), 120);
}

TEST(Controller, TriesAnInteractiveJobAtItsSubmission) {
  Clock clock;
  clock.submit("-n1");
  clock.run_until(1);
  const JobNumber at_once = clock.submit("-n1", "ann", "/usr/bin/srun");
  const JobNumber batch = clock.submit("-n1");
  clock.run_until(10);
  EXPECT_EQ(clock.start_of(at_once), 1);
  EXPECT_EQ(clock.start_of(batch), 3);
}

// The batch job of higher priority has not been looked at yet when the allocation comes. It blocks
// the allocation, although both fit.
TEST(Controller, TriesNoInteractiveJobBeforeOneOfHigherPriority) {
  Clock clock;
  clock.submit("-n1");
  clock.run_until(1);
  clock.submit("-n1");
  const JobNumber later = clock.submit("-n1", "ann", "salloc");
  clock.run_until(10);
  EXPECT_EQ(clock.start_of(later), 3);
}

TEST(Controller, BackfillsWhatDelaysNoPlannedStart) {
  Clock clock;
  clock.submit("-N6 -n6 --exclusive -t 10");
  clock.run_until(1);
  const JobNumber wide = clock.submit("-N8 -n8 -t 10");
  const JobNumber brief = clock.submit("-n1 -t 5");
  const JobNumber lengthy = clock.submit("-n1 -t 30");
  clock.run_until(120);
  EXPECT_EQ(clock.start_of(wide), -1);
  EXPECT_EQ(clock.start_of(brief), 30);
  EXPECT_TRUE(clock.starts[brief].by_backfill);
  EXPECT_EQ(clock.start_of(lengthy), -1);
  EXPECT_EQ(clock.controller().reason(wide), "Resources");
  EXPECT_EQ(clock.controller().reason(lengthy), "Priority");
  EXPECT_EQ(clock.state().find(wide)->planned_start, 600);
  clock.run_until(700);
  EXPECT_EQ(clock.start_of(wide), 600);
}

// The wide job can start at 600 s on n01 to n04, and at 1200 s on n05 to n08. A reservation there,
// too, would keep n08 from the lengthy job, which would run until 1830 s.
TEST(Controller, ReservesInOnePartitionOnlyIfTheSiteSaysSo) {
  for (const bool only_one : {false, true}) {
    site::Site site = eight_nodes();
    site.partitions = {{.name = "one", .nodes = {0, 1, 2, 3}, .is_default = true},
                       {.name = "two", .nodes = {4, 5, 6, 7}}};
    site.config.scheduler.bf_one_resv_per_job = only_one;
    Clock clock(std::move(site));
    clock.submit("-p one -N4 -n4 --exclusive -t 10");
    clock.submit("-p two -N3 -n3 -w n[05-07] --exclusive -t 20");
    clock.run_until(1);
    const JobNumber wide = clock.submit("-p one,two -N4 -n4 --exclusive -t 10");
    const JobNumber lengthy = clock.submit("-p two -N1 -n1 -t 30");
    clock.run_until(120);
    EXPECT_EQ(clock.state().find(wide)->planned_start, 600);
    EXPECT_EQ(clock.start_of(lengthy), only_one ? 30 : -1);
  }
}

// Two nodes are free, in two domains. The node that shares one with n06 is free at 600 s, the one
// that shares one with n07 at 1200 s.
TEST(Controller, PlansStartsWithinNvlinkDomains) {
  Clock clock;
  clock.controller().state().table.nvlink_domains = {0, 0, 0, 0, 1, 1, 2, 2};
  clock.submit("-N1 -n1 -w n05 --gres=gpu:8 -t 10");
  clock.submit("-N1 -n1 -w n08 --gres=gpu:8 -t 20");
  clock.run_until(1);
  const JobNumber linked = clock.submit("-N2 -n2 --gres=gpu:8 -t 10", "ann", "sbatch", 16);
  const JobNumber other = clock.submit("-N1 -n1 -w n07 -t 30");
  const JobNumber behind = clock.submit("-N1 -n1 -w n06 -t 30");
  clock.run_until(120);
  EXPECT_EQ(clock.state().find(linked)->planned_start, 600);
  EXPECT_EQ(clock.start_of(other), 30);
  EXPECT_EQ(clock.start_of(behind), -1);
  clock.run_until(700);
  EXPECT_EQ(clock.start_of(linked), 600);
}

// The first job starts and changes the job table, so there are cycles at 0 s and at 30 s, the
// latter without a pending job. After it the wide job blocks the brief one until the cycle at 60 s.
// If nothing has changed since 30 s, there is none before the change.
TEST(Controller, ACycleWithoutPendingJobsCountsToo) {
  Clock clock;
  clock.submit("-N6 -n6 --exclusive -t 10");
  clock.run_until(5);
  clock.submit("-n1 -t 1 -w n07");
  clock.run_until(45);
  clock.submit("-N8 -n8 -t 10");
  const JobNumber brief = clock.submit("-n1 -t 5");
  clock.run_until(120);
  EXPECT_EQ(clock.start_of(brief), 60);
}

TEST(Controller, ACycleWithoutContinueEndsWhereItWouldYield) {
  for (const bool continues : {false, true}) {
    site::Site site = eight_nodes();
    // A test takes 1 s, so the locks are yielded after two.
    site.diagnostics = {.backfill_mean_us = 10e6, .backfill_mean_try_depth = 10};
    site.config.scheduler.bf_continue = continues;
    Clock clock(std::move(site));
    clock.submit("-N6 -n6 --exclusive -t 10");
    clock.run_until(1);
    clock.submit("-N8 -n8 -t 10");
    clock.submit("-N8 -n8 -t 10");
    const JobNumber brief = clock.submit("-n1 -t 5");
    clock.run_until(120);
    EXPECT_EQ(clock.start_of(brief), continues ? 30 : -1);
  }
}

TEST(Controller, IsDoneWithAJobThatCanNeverStart) {
  site::Site site = eight_nodes();
  site.config.priority.type = site::PriorityType::multifactor;
  site.partitions.front().max_time = 10min;
  Clock clock(std::move(site));
  const JobNumber never = clock.submit("-n1 -t 60");
  clock.run_until(700);
  EXPECT_EQ(clock.start_of(never), -1);
  EXPECT_EQ(clock.controller().next(701), Controller::kNothingDue)
      << "a new priority would not start it either";
}

TEST(Controller, AJobOfAHigherTierTakesTheNodesOfAllPartitions) {
  site::Site site = eight_nodes();
  site.partitions.push_back({.name = "urgent", .nodes = {0, 1, 2, 3}, .priority_tier = 10});
  Clock clock(std::move(site));
  clock.submit("-n16 -w n01");
  clock.run_until(5);
  const JobNumber urgent = clock.submit("-p urgent -N4 -n64 -t 5");
  const JobNumber other = clock.submit("-C a100 -n1 -t 60");
  clock.run_until(20);
  EXPECT_EQ(clock.start_of(urgent), -1);
  EXPECT_EQ(clock.start_of(other), -1);
}

/// Two partitions that share no nodes: n01 to n04 and n05 to n08.
site::Site two_partitions() {
  site::Site site = eight_nodes();
  site.partitions.front().nodes = {0, 1, 2, 3};
  site.partitions.push_back({.name = "big", .nodes = {4, 5, 6, 7}, .default_time = 5min});
  return site;
}

// Its submission is tested in the first partition only, so the weights of the other one remain.
TEST(Controller, ACpuJobInTwoPartitionsSeesWeightsLeftBeforeItCame) {
  Clock clock(two_partitions());
  clock.submit("-n1 --gres=gpu:2");
  clock.submit("-p big -n1 --gres=gpu:8");
  clock.submit("-p main,big -n1");
  EXPECT_EQ(clock.state().stale, StaleWeights({0, 0, 0, 0, 8, 8, 8, 8}));
}

TEST(Controller, DefersWeightsUntilTheFirstCpuJob) {
  Clock clock(two_partitions());
  clock.controller().state().defer_weights();
  clock.submit("-n1 --gres=gpu:2");
  EXPECT_EQ(clock.state().stale, StaleWeights(8));
  clock.submit("-p big -n1");
  clock.submit("-n1 --gres=gpu:2");
  EXPECT_EQ(clock.state().stale, StaleWeights({2, 2, 2, 2, 0, 0, 0, 0}));
}

TEST(Controller, SplitsTasksOffArrays) {
  Clock clock;
  const JobNumber array = clock.submit("-a 0-5%2 -n1 -t 1");
  clock.run_until(5);
  EXPECT_EQ(clock.state().running().size(), 2U);
  EXPECT_EQ(clock.controller().reason(array), "JobArrayTaskLimit");
  clock.run_until(65);
  EXPECT_EQ(clock.starts.size(), 4U);
}

TEST(Controller, WaitsForDependenciesAndBeginTimes) {
  Clock clock;
  const JobNumber first = clock.submit("-n1 -t 1");
  const JobNumber after = clock.submit(fmt::format("-n1 -d afterok:{}", first));
  const JobNumber failed = clock.submit(fmt::format("-n1 -d afternotok:{}", first));
  const JobNumber later = clock.submit("-n1 --begin=now+90");
  clock.run_until(30);
  EXPECT_EQ(clock.controller().reason(after), "Dependency");
  EXPECT_EQ(clock.controller().reason(later), "BeginTime");
  clock.run_until(200);
  EXPECT_EQ(clock.start_of(after), 60);
  EXPECT_GE(clock.start_of(later), 90);
  EXPECT_EQ(clock.controller().reason(failed), "DependencyNeverSatisfied");
}

TEST(Controller, AnArrayFailsWithAnyOfItsTasks) {
  Clock clock;
  const JobNumber array = clock.submit("-a 0-1 -n1 -t 5");
  const JobNumber after = clock.submit(fmt::format("-n1 -d afterok:{}", array));
  clock.run_until(5);
  const JobNumber first = clock.state().running().front().job;
  clock.controller().end(first, 5, true);
  clock.run_until(400);
  EXPECT_EQ(clock.start_of(after), -1);
  EXPECT_EQ(clock.controller().reason(after), "DependencyNeverSatisfied");
}

TEST(Controller, AnArrayFailsEvenIfItsFailedTaskIsForgottenBeforeTheOthersEnd) {
  Clock clock;
  const JobNumber array = clock.submit("-a 0-1 -n1 -t 20");
  const JobNumber after = clock.submit(fmt::format("-n1 -d afterok:{}", array));
  clock.run_until(5);
  clock.controller().end(clock.state().running().front().job, 5, true);
  clock.run_until(600);  // MinJobAge is 300 s
  clock.submit("-n1 -t 1");
  clock.run_until(1300);
  EXPECT_EQ(clock.start_of(after), -1);
  EXPECT_EQ(clock.controller().reason(after), "DependencyNeverSatisfied");
}

TEST(Controller, AnArrayFailsIfATaskIsCancelled) {
  for (const char* const tasks : {"0-2", "0-1"}) {
    Clock clock;
    const JobNumber array = clock.submit(fmt::format("-a {} -n1 -t 5", tasks));
    const JobNumber after = clock.submit(fmt::format("-n1 -d afterok:{}", array));
    clock.controller().cancel_task(array, 1, 0);
    clock.run_until(400);
    EXPECT_EQ(clock.start_of(after), -1) << tasks;
    EXPECT_EQ(clock.controller().reason(after), "DependencyNeverSatisfied") << tasks;
  }
}

TEST(Controller, TestsJobsBehindThoseThatALimitOnTestsSkips) {
  site::Site site = eight_nodes();
  site.config.scheduler.bf_max_job_test = 2;
  site.config.scheduler.bf_max_job_user = 1;
  site.config.scheduler.default_queue_depth = 1;
  Clock clock(std::move(site), false);
  clock.submit("-N6 -n6 --exclusive -t 10");
  clock.run_until(1);
  for (int job = 0; job < 4; ++job) clock.submit("-N8 -n8 -t 10");
  const JobNumber other = clock.submit("-n1 -t 5", "bob");
  clock.run_until(120);
  EXPECT_EQ(clock.start_of(other), 30);
}

TEST(Controller, AJobTooWideForItsPartitionBlocksNobody) {
  site::Site site = eight_nodes();
  site.partitions.push_back({.name = "urgent", .nodes = {0, 1}, .priority_tier = 10});
  Clock clock(std::move(site));
  const JobNumber wide = clock.submit("-p urgent -N3 -n3 -t 5");
  const JobNumber huge = clock.submit("-p urgent -n33 -t 5");
  const JobNumber other = clock.submit("-p urgent -N2 -n2 -t 5");
  clock.run_until(20);
  EXPECT_EQ(clock.controller().reason(wide), "PartitionNodeLimit");
  EXPECT_EQ(clock.controller().reason(huge), "PartitionConfig");
  EXPECT_EQ(clock.start_of(other), 0);
}

TEST(Controller, KeepsReservedNodesFree) {
  Clock clock;
  NodeBits nodes(8);
  for (NodeAt node = 4; node < 8; ++node) nodes.insert(node);
  clock.controller().reserve({.name = "maint", .nodes = nodes, .start = 100, .end = 400}, 0);
  const JobNumber brief = clock.submit("-n32 -N1 -t 1");
  const JobNumber lengthy = clock.submit("-n32 -N1 -t 10");
  clock.run_until(50);
  EXPECT_EQ(clock.start_of(brief), 0);
  EXPECT_EQ(clock.start_of(lengthy), -1);
  EXPECT_EQ(clock.controller().reason(lengthy), "ReqNodeNotAvail, May be reserved for other job");
  clock.run_until(460);
  EXPECT_GE(clock.start_of(lengthy), 400);
}

TEST(Controller, HoldsLimitsOfAQosAndSaysWhich) {
  site::Site site = eight_nodes();
  site.config.enforced = {.associations = true, .limits = true};
  site.qos.push_back({.name = "small"});
  site.qos.back().per_user.tres = {{8, 6}};  // gres/gpu
  site.qos.back().per_user.jobs = 2;
  Clock clock(std::move(site));
  clock.submit("--qos=small -n1 --gres=gpu:4 -t 5");
  const JobNumber second = clock.submit("--qos=small -n1 --gres=gpu:4 -t 5");
  const JobNumber other = clock.submit("--qos=small -n1 --gres=gpu:4 -t 5", "bob");
  clock.run_until(60);
  EXPECT_EQ(clock.start_of(second), -1);
  EXPECT_EQ(clock.controller().reason(second), "QOSMaxGRESPerUser");
  EXPECT_GE(clock.start_of(other), 0);
  clock.submit("--qos=small -n1 -t 5");
  const JobNumber fourth = clock.submit("--qos=small -n1 -t 5");
  clock.run_until(120);
  EXPECT_EQ(clock.controller().reason(fourth), "QOSMaxJobsPerUserLimit");
}

// Nodes for the wide job are missing, and it requests 9 GPUs of the 8 that its QOS allows. The
// limit counts, so it does not block the partition.
TEST(Controller, AJobAboveALimitBlocksNoOthersEvenWithoutNodes) {
  site::Site site = eight_nodes();
  site.config.enforced = {.associations = true, .limits = true};
  site.config.scheduler.type = site::SchedulerType::builtin;
  site.qos.push_back({.name = "small"});
  site.qos.back().group.tres = {{8, 8}};  // gres/gpu
  Clock clock(std::move(site));
  clock.submit("-N8 -n8 --gres=gpu:4 -t 60");
  const JobNumber wide = clock.submit("--qos=small -N3 -n3 --gres=gpu:a100:3 -t 5");
  const JobNumber other = clock.submit("-n1 -t 5", "bob");
  clock.run_until(10);
  EXPECT_EQ(clock.start_of(wide), -1);
  EXPECT_EQ(clock.controller().reason(wide), "QOSGrpGRES");
  EXPECT_EQ(clock.start_of(other), 0);
}

TEST(Controller, PreemptsJobsOfALowerQos) {
  site::Site site = eight_nodes();
  site.config.preempt.type = site::PreemptType::qos;
  site.config.preempt.mode = site::PreemptMode::requeue;
  site.config.preempt.youngest_first = true;
  site.qos.push_back({.name = "low"});
  site.qos.push_back({.name = "top", .preempts = {"low"}});
  Clock clock(std::move(site));
  clock.submit("--qos=low -N4 -n64 -w n[01-04] -t 60");
  clock.run_until(5);
  const JobNumber young = clock.submit("--qos=low -N4 -n128 -w n[05-08] -t 60");
  clock.run_until(10);
  clock.submit("--qos=top -N1 -n32 -t 5");
  clock.run_until(20);
  const auto victims = clock.controller().take_preemptions();
  ASSERT_FALSE(victims.empty());
  EXPECT_EQ(victims.front().victim, young);
}

TEST(Controller, SparesAVictimThatIsNotNeeded) {
  site::Site site = eight_nodes();
  site.config.preempt.type = site::PreemptType::qos;
  site.config.preempt.mode = site::PreemptMode::requeue;
  site.config.preempt.youngest_first = true;
  site.qos.push_back({.name = "low"});
  site.qos.push_back({.name = "top", .preempts = {"low"}});
  Clock clock(std::move(site));
  // Nodes n05 and n06 are full, and 8 of 32 CPUs of n07 are free.
  const JobNumber first = clock.submit("--qos=low -N1 -n16 -w n04 -t 60");
  clock.submit("-N6 -n144 -w n[01-03,05-06,08] -t 60");
  clock.submit("-N1 -n8 -w n07 -t 60");
  clock.run_until(5);
  const JobNumber spared = clock.submit("--qos=low -N1 -n16 -w n07 -t 60");
  clock.run_until(10);
  // Without both jobs it fits. The second reordering finds that the older one is enough.
  clock.submit("--qos=top -N2 -n20 -t 5");
  clock.run_until(20);
  const auto victims = clock.controller().take_preemptions();
  ASSERT_EQ(victims.size(), 1U);
  EXPECT_EQ(victims.front().victim, first);
  EXPECT_TRUE(clock.state().find(spared)->is_running);
}

}  // namespace
}  // namespace almanac::slurmctld
