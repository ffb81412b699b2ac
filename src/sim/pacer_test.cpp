// SPDX-License-Identifier: Apache-2.0
#include "sim/pacer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "energy/power_file.h"
#include "perf/catalogue_file.h"
#include "schedule/speed_book.h"

namespace almanac::sim {
namespace {

constexpr int kNodes = 3;

cluster::Cluster machines() {
  cluster::Cluster made;
  made.takes_every_job = true;
  made.add_vc("all");
  cluster::NodeClass node{.gpus = 8, .cpus = 64, .bandwidth_gbs = 100, .uplink_gbps = 10};
  made.add_nodes(node, kNodes - 1);
  node.gpu_power_limit_w = 150;
  made.add_nodes(node, 1);
  made.storage = {.remote_gbs = 1, .cache_gb = 30};
  return made;
}

policy::PowerLimits limits_of(const cluster::Cluster& cluster) {
  return policy::PowerLimits::of(cluster, energy::read_power("dgx1").value()).value();
}

/// The history of a job, computed without the pacer: rate times time, period by period.
struct Seen {
  std::vector<cluster::Grant> held{};
  double integral_ms = 0;
  double ran_ms = 0;
  bool runs = false;
};

/// A job of one GPU, or none; one that sends has as much on another node.
trace::Job some_job(Names& names) {
  trace::Job job;
  job.request.gpus = *rc::gen::inRange(0, 2);
  job.request.cpus = static_cast<float>(*rc::gen::inRange(1, 12));
  job.request.model = names.intern(*rc::gen::element<std::string>("alexnet", "m5", "lstm", ""));
  job.outcome.run = Duration{*rc::gen::inRange(0, 100'000)};
  job.outcome.bandwidth_gbs = static_cast<float>(*rc::gen::inRange(0, 60));
  job.outcome.step_s = 4;
  job.outcome.network_s = static_cast<float>(*rc::gen::inRange(0, 5));
  job.outcome.network_gbps = static_cast<float>(*rc::gen::inRange(0, 12));
  job.request.data_set = names.intern(*rc::gen::element<std::string>("", "small", "large"));
  job.request.data_gb = names[job.request.data_set] == "small" ? 20 : 80;
  job.outcome.read_gbs = static_cast<float>(*rc::gen::inRange(0, 3));
  return job;
}

RC_GTEST_PROP(Pacer, DoesTheWorkWhateverTheRatesWere, ()) {
  const cluster::Cluster cluster = machines();
  trace::Trace trace;
  const int jobs = *rc::gen::inRange(1, 12);
  for (int at = 0; at < jobs; ++at) trace.jobs.push_back(some_job(trace.names));
  const schedule::SpeedBook speeds(cluster, trace, *perf::read_catalogue("public"),
                                   limits_of(cluster));
  EndQueue ends(trace.jobs.size());
  Pacer pacer(cluster, trace, speeds, ends);
  // All on the first GPU of their node: with parts they slow each other.
  const std::vector<int> parts = *rc::gen::elementOf(
      std::vector<std::vector<int>>{{cluster::kWholeGpu}, {cluster::kWholeGpu, 500, 250, 100}});
  std::vector<Seen> seen(trace.jobs.size());
  Time now{};

  const auto pass_time = [&](Time until) {
    for (std::uint32_t at = 0; at < seen.size(); ++at) {
      if (!seen[at].runs) continue;
      const double rate = pacer.explain(JobId{at}, seen[at].held, now).rate;
      seen[at].integral_ms += rate * static_cast<double>((until - now).count());
      seen[at].ran_ms += static_cast<double>((until - now).count());
    }
    now = until;
  };
  // Half a millisecond may be rounded either way.
  const auto check_worked = [&](JobId job) {
    const double integral_ms = seen[index(job)].integral_ms;
    RC_ASSERT(std::abs(static_cast<double>(pacer.worked(job, now)->count()) - integral_ms) <=
              0.5 + 1e-9 * integral_ms);
  };
  const auto end_one = [&] {
    const JobId job = ends.job();
    pass_time(ends.next());
    ends.pop();
    Seen& own = seen[index(job)];
    const double work = static_cast<double>(trace.jobs[index(job)].outcome.run.count());
    const double rate = pacer.explain(job, own.held, now).rate;
    // Ends are whole milliseconds: no earlier than done, and less than one of them late.
    const double error = 1e-9 * std::max(1.0, work);
    RC_ASSERT(own.integral_ms >= work - error);
    RC_ASSERT(own.integral_ms < work + rate + error);
    pacer.end(job, now);
    check_worked(job);
    own.runs = false;
  };

  std::uint32_t next = 0;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 20'000)));
  for (const auto& [step, number] : steps) {
    const Time until = now + Duration{number};
    while (!ends.empty() && ends.next() <= until) end_one();
    pass_time(until);
    const JobId job{static_cast<std::uint32_t>(number) % static_cast<std::uint32_t>(jobs)};
    Seen& own = seen[index(job)];
    if (step == 0 && next < seen.size()) {
      const JobId fresh{next++};
      Seen& started = seen[index(fresh)];
      const trace::Request& wanted = trace.jobs[index(fresh)].request;
      started.held = {{.node = NodeId{static_cast<std::uint32_t>(number % kNodes)},
                       .gpu_milli = parts[static_cast<std::size_t>(number) % parts.size()],
                       .gpus = static_cast<cluster::GpuMask>(wanted.gpus),
                       .cpu_milli = cluster::cpu_milli(wanted.cpus)}};
      if (trace.jobs[index(fresh)].outcome.network_s > 0) {
        started.held.push_back(started.held[0]);
        started.held[1].node = NodeId{static_cast<std::uint32_t>((number + 1) % kNodes)};
      }
      started.runs = true;
      pacer.start(fresh, started.held, trace.jobs[index(fresh)].outcome.run, now);
    } else if (step == 1 && own.runs) {
      own.held[0].cpu_milli = 500 * (1 + number % 20);
      for (cluster::Grant& grant : own.held) {
        grant.gpu_milli = parts[static_cast<std::size_t>(number) % parts.size()];
      }
      pacer.resize(job, own.held, now);
    } else if (step == 2 && own.runs) {
      pacer.stop(job, now);
      check_worked(job);
      own.runs = false;
    } else if (step == 3 && !own.runs && !own.held.empty() &&
               *pacer.worked(job, now) < trace.jobs[index(job)].outcome.run) {
      own.runs = true;
      pacer.start(job, own.held, trace.jobs[index(job)].outcome.run, now);
    }
  }
  while (!ends.empty()) end_one();
  const PaceLog log = pacer.take_log(now);
  for (std::uint32_t at = 0; at < seen.size(); ++at) {
    const MeanPace mean = log[at];
    RC_ASSERT(std::llround(mean.ran_s * 1e3) == std::llround(seen[at].ran_ms));
    if (seen[at].ran_ms == 0) continue;
    RC_ASSERT(std::abs(mean.rate * seen[at].ran_ms - seen[at].integral_ms) <=
              1e-9 * std::max(1.0, seen[at].integral_ms));
    RC_ASSERT(std::abs(mean.parts.rate() * mean.bandwidth - mean.rate) <= 1e-4 * mean.rate);
    RC_ASSERT(mean.bandwidth > 0 && mean.bandwidth < 1 + 1e-4);
  }
  RC_ASSERT(pacer.computing_gpus() == 0);
  RC_ASSERT(pacer.spared_gpus() == 0);
  for (std::uint32_t node = 0; node < kNodes; ++node) {
    RC_ASSERT(pacer.bandwidth_gbs(NodeId{node}) == 0);
  }
}

/// A pacer of jobs without a model that request a whole GPU or a part of one: a neighbor halves
/// their speed, whatever else they hold.
struct Shared {
  explicit Shared(const std::vector<std::pair<float, Duration>>& jobs) {
    for (const auto& [share, run] : jobs) {
      trace::Job job;
      job.request.gpus = 1;
      job.request.gpu_share = share;
      job.outcome.run = run;
      trace.jobs.push_back(job);
    }
    speeds.emplace(cluster, trace, perf::Catalogue{});
    ends.emplace(trace.jobs.size());
    pacer.emplace(cluster, trace, *speeds, *ends);
  }
  static std::vector<cluster::Grant> part(int gpu_milli, cluster::GpuMask gpus = 0b1) {
    return {{.node = NodeId{0}, .gpu_milli = gpu_milli, .gpus = gpus, .cpu_milli = 4000}};
  }
  void start(std::uint32_t job, std::int64_t at_s, int gpu_milli) {
    pacer->start(JobId{job}, part(gpu_milli), trace.jobs[job].outcome.run, Time{at_s * 1s});
  }
  /// The next end, in seconds; it has come then.
  double end() {
    const Time at = ends->next();
    const JobId job = ends->job();
    ends->pop();
    pacer->end(job, at);
    return seconds(at - Time{});
  }

  cluster::Cluster cluster = machines();
  trace::Trace trace{};
  std::optional<schedule::SpeedBook> speeds{};
  std::optional<EndQueue> ends{};
  std::optional<Pacer> pacer{};
};

TEST(Pacer, HalvesTheSpeedOfTwoThatFillAGpuEach) {
  Shared shared({{1, 100s}, {1, 30s}});
  shared.start(0, 0, 500);
  EXPECT_EQ(shared.pacer->computing_gpus(), 1) << "half of a GPU is slow for no job alone";
  shared.start(1, 10, 500);
  EXPECT_EQ(shared.pacer->gpu_use(JobId{0}), 0.5);
  EXPECT_EQ(shared.pacer->computing_gpus(), 1) << "half of it for each";
  EXPECT_EQ(to_string(shared.pacer->explain(JobId{0}, Shared::part(500), Time{10s})),
            "runs at 0.50: neighbours 0.50");
  EXPECT_EQ(shared.end(), 70) << "30 s of work at half speed from 10 s on";
  EXPECT_EQ(shared.pacer->computing_gpus(), 1);
  EXPECT_EQ(shared.end(), 130) << "10 s and half of 60 s were done at 70 s";
  EXPECT_EQ(shared.pacer->computing_gpus(), 0);
}

TEST(Pacer, TellsAllWhoShareWhenATenantLeaves) {
  // Three on a GPU run at a third, two at half.
  Shared shared({{1, 100s}, {1, 100s}, {1, 10s}});
  for (std::uint32_t job = 0; job < 3; ++job) shared.start(job, 0, 333);
  EXPECT_EQ(shared.end(), 30);
  EXPECT_EQ(shared.pacer->gpu_use(JobId{0}), 0.5);
  shared.pacer->resize(JobId{0}, Shared::part(500, 0b10), Time{50s});
  EXPECT_EQ(shared.pacer->gpu_use(JobId{0}), 1) << "it is told of another GPU";
  EXPECT_EQ(shared.pacer->gpu_use(JobId{1}), 1);
  // 10 s at a third each until 30 s, 10 s at half until 50 s, 80 s alone.
  EXPECT_EQ(shared.end(), 130);
  EXPECT_EQ(shared.end(), 130);
}

TEST(Pacer, CountsTheGpusThatAJobHoldsNotThoseThatItAsks) {
  Shared alone({{1, 100s}});
  const auto holding = [](cluster::GpuMask gpus) { return Shared::part(cluster::kWholeGpu, gpus); };
  alone.pacer->start(JobId{0}, holding(0b1), 100s, Time{});
  EXPECT_EQ(alone.pacer->computing_gpus(), 1);
  alone.pacer->resize(JobId{0}, holding(0b11), Time{10s});
  EXPECT_EQ(alone.pacer->computing_gpus(), 2);
  alone.end();
  EXPECT_EQ(alone.pacer->computing_gpus(), 0);
}

TEST(Pacer, LeavesJobsAloneThatAskNoMoreThanTheRest) {
  Shared shared({{0.5F, 100s}, {0.5F, 100s}});
  shared.start(0, 0, 500);
  EXPECT_EQ(shared.pacer->computing_gpus(), 0.5);
  shared.start(1, 0, 500);
  EXPECT_EQ(shared.pacer->computing_gpus(), 1);
  EXPECT_EQ(shared.end(), 100) << "each was recorded with half of a GPU";
  EXPECT_EQ(shared.end(), 100);
}

TEST(Pacer, CountsWhatPowerLimitsSpare) {
  const cluster::Cluster cluster = machines();
  trace::Trace trace;
  for (int at = 0; at < 2; ++at) {
    trace::Job job;
    job.request.gpus = 2;
    job.outcome.run = 100s;
    trace.jobs.push_back(job);
  }
  const schedule::SpeedBook speeds(cluster, trace, perf::Catalogue{}, limits_of(cluster));
  EndQueue ends(trace.jobs.size());
  Pacer pacer(cluster, trace, speeds, ends);
  pacer.start(JobId{0}, std::vector{cluster::Grant{.node = NodeId{0}, .gpus = 0b11}}, 100s, Time{});
  EXPECT_EQ(pacer.spared_gpus(), 0) << "its node has no limit";
  pacer.start(JobId{1}, std::vector{cluster::Grant{.node = NodeId{kNodes - 1}, .gpus = 0b11}}, 100s,
              Time{});
  const energy::PowerModel power = energy::read_power("dgx1").value();
  const double use = limits_of(cluster).usual_use();
  const double spared_w = 2 * (power.gpu_w(use) - power.gpu_w(use, 150));
  EXPECT_NEAR(pacer.spared_gpus() * power.gpu_w(), spared_w, 1e-3);
  pacer.stop(JobId{1}, Time{10s});
  EXPECT_EQ(pacer.spared_gpus(), 0);
}

TEST(Pacer, HoldsAJobToThePowerLimitThatItIsGiven) {
  cluster::Cluster cluster;
  cluster.add_vc("all");
  cluster.add_nodes({.gpus = 2}, 1);
  const energy::PowerModel power = energy::read_power("dgx1").value();
  const auto limits = policy::PowerLimits::of_jobs_too(cluster, power).value();
  ASSERT_TRUE(limits.may_be_set());
  trace::Trace trace;
  trace::Job job;
  job.request.gpus = 1;
  job.request.model = trace.names.intern("bert");
  job.outcome.run = 100s;
  trace.jobs = {job, job};
  const schedule::SpeedBook speeds(cluster, trace, perf::Catalogue{}, limits);
  const double use = limits.use_of("bert").value();
  EndQueue ends(trace.jobs.size());
  Pacer pacer(cluster, trace, speeds, ends);
  const std::vector one{cluster::Grant{.node = NodeId{0}, .gpus = 0b01}};
  const std::vector other{cluster::Grant{.node = NodeId{0}, .gpus = 0b10}};
  pacer.start(JobId{0}, one, 100s, Time{}, {.power_w = 150});
  pacer.start(JobId{1}, other, 100s, Time{}, {.power_w = 1});
  const double slow = power.gpu_speed(use, 150);
  const auto spared = [&](double watts) { return power.gpu_w(use) - power.gpu_w(use, watts); };
  EXPECT_NEAR(pacer.explain(JobId{0}, one, Time{}).rate, slow, 1e-9);
  EXPECT_NEAR(pacer.spared_gpus() * power.gpu_w(), spared(150) + spared(power.gpu_least_limit_w),
              1e-3)
      << "no board takes a limit below its least";
  pacer.resize(JobId{1}, other, Time{10s});
  EXPECT_NEAR(pacer.spared_gpus() * power.gpu_w(), spared(150), 1e-3);
  EXPECT_EQ(pacer.explain(JobId{1}, other, Time{10s}).rate, 1);
  pacer.resize(JobId{0}, one, Time{10s});
  EXPECT_EQ(pacer.spared_gpus(), 0);
  EXPECT_NEAR(seconds(*pacer.worked(JobId{0}, Time{20s})), 10 * slow + 10, 1e-2);
}

TEST(Pacer, SaysWhyAJobIsSlow) {
  EXPECT_EQ(to_string(PaceChange{.rate = 1}), "runs at 1.00");
  EXPECT_EQ(to_string(PaceChange{.rate = 0.61, .parts = {.cpus = 0.66, .power = 0.93}}),
            "runs at 0.61: cores 0.66, power 0.93");
  EXPECT_EQ(to_string(PaceChange{.rate = 0.5, .bandwidth = 0.5}), "runs at 0.50: bandwidth 0.50");
}

}  // namespace
}  // namespace almanac::sim
