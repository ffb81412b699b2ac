// SPDX-License-Identifier: Apache-2.0

/// \file
/// Jobs come that were not known when the round began, and users take back jobs that wait: what a
/// live service does and no simulation of a log does.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "conformance/names.h"
#include "experiment/profile.h"
#include "policy/registry.h"
#include "schedule/round.h"
#include "support/play.h"

namespace almanac {
namespace {

using policy::Event;
using policy::EventKind;
using policy::Phase;
using policy::registry;

/// A host without an engine: jobs end when their time has come, nodes boot in five minutes.
class Host final : public schedule::Actuator {
 public:
  Host(const cluster::Cluster& cluster, const std::string& policy) : cluster_(cluster) {
    auto composition = registry().compose(policy);
    composition->estimate = "limit";  // the truth is not known of jobs that are yet to come
    policy_ = *experiment::make_policy(*composition, trace_);
    round_ = std::make_unique<schedule::Round>(cluster_, trace_, *policy_, *this,
                                               schedule::RestartCost{}, 0, policy);
  }

  /// The trace grows here, after the round was made.
  JobId submit(Time now, const JobSpec& spec) {
    const JobId job{static_cast<std::uint32_t>(trace_.jobs.size())};
    JobSpec at_now = spec;
    at_now.submit = now.time_since_epoch();
    add_job(trace_, at_now);
    EXPECT_FALSE(round_->admit(job));
    events_.push_back({EventKind::job_arrived, static_cast<std::uint32_t>(index(job))});
    return job;
  }
  bool withdraw(Time now, JobId job) {
    if (round_->progress(job).phase != Phase::waiting) return false;
    round_->withdraw(now, job);
    events_.push_back({EventKind::job_withdrawn, static_cast<std::uint32_t>(index(job))});
    return true;
  }
  void decide(Time now) {
    now_ = now;
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.kind < b.kind; });
    do {
      std::vector<Event> told = std::exchange(events_, {});
      round_->run(now, told);
      if (curious_) ask_some(now);
      for (const Time wake : round_->wakes()) {
        if (wake > now) wakes_.insert(wake);
        if (wake == now) events_.push_back({EventKind::timer, 0});
      }
    } while (!events_.empty());
  }
  /// Lets everything happen until `until`, and nothing at it.
  void pass(Time until) {
    for (Time next = next_event(); next < until; next = next_event()) {
      now_ = next;
      std::erase_if(ends_, [&](const auto& end) {
        if (end.second != next) return false;
        trace_.jobs[index(end.first)].outcome.state = trace::JobState::completed;
        round_->end(next, end.first);
        events_.push_back({EventKind::job_ended, static_cast<std::uint32_t>(index(end.first))});
        return true;
      });
      std::erase_if(boots_, [&](const auto& boot) {
        if (boot.second != next) return false;
        round_->booted(boot.first);
        const VcId vc = cluster_.nodes[index(boot.first)].vc;
        events_.push_back({EventKind::capacity_changed, static_cast<std::uint32_t>(index(vc))});
        return true;
      });
      if (wakes_.erase(next) > 0) events_.push_back({EventKind::timer, 0});
      decide(next);
    }
  }
  const schedule::Round& round() const { return *round_; }
  const policy::Progress& progress(JobId job) const { return round_->progress(job); }
  std::size_t jobs() const { return trace_.jobs.size(); }
  policy::Reason why(Time now, JobId job) { return round_->why_waiting(now, job); }
  /// Asks after each round why some of the jobs wait, drawn from `seed`.
  void be_curious(std::uint64_t seed) { curious_.emplace(seed); }
  /// Which job was started and stopped when, and on which GPUs, a line each.
  const std::string& log() const { return log_; }

  void start(JobId job) override {
    log_ += fmt::format("{} starts at {}:", index(job), seconds(now_));
    for (const cluster::Grant& grant : round_->grants(job)) {
      log_ += fmt::format(" {}:{:x} {}", index(grant.node), grant.gpus, grant.cpu_milli);
    }
    log_ += '\n';
    const policy::Progress& state = round_->progress(job);
    const Duration work = trace_.jobs[index(job)].outcome.run + state.charged - state.attained;
    ends_[job] = now_ + std::max(Duration{1}, work);
  }
  void stop(JobId job) override {
    log_ += fmt::format("{} stops at {}\n", index(job), seconds(now_));
    ends_.erase(job);
  }
  void resize(JobId) override {}
  void sleep(NodeId) override {}
  void boot(NodeId node) override { boots_[node] = now_ + 5min; }

 private:
  void ask_some(Time now) {
    for (int tries = 0; tries < 8 && jobs() > 0; ++tries) {
      const JobId job{static_cast<std::uint32_t>(curious_->below(jobs()))};
      if (progress(job).phase == Phase::waiting) why(now, job);
    }
  }
  Time next_event() const {
    Time next = kNever;
    for (const auto& [job, end] : ends_) next = std::min(next, end);
    for (const auto& [node, there] : boots_) next = std::min(next, there);
    if (!wakes_.empty() && (!ends_.empty() || round_->load().jobs_waiting > 0)) {
      next = std::min(next, *wakes_.begin());
    }
    return next;
  }

  const cluster::Cluster& cluster_;
  trace::Trace trace_;
  std::unique_ptr<policy::Policy> policy_;
  std::unique_ptr<schedule::Round> round_;
  std::vector<Event> events_;
  std::map<JobId, Time> ends_;
  std::map<NodeId, Time> boots_;
  std::set<Time> wakes_;
  Time now_{};
  std::optional<Rng> curious_;
  std::string log_;
};

cluster::Cluster two_clusters() {
  cluster::Cluster made;
  made.add_vc("red");
  made.add_nodes({.gpus = 8, .cpus = 32, .memory_gb = 64}, 3);
  made.add_vc("blue");
  made.add_nodes({.gpus = 4, .cpus = 16, .memory_gb = 64}, 4);
  return made;
}

class EveryPolicyLetsGo : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicyLetsGo, OfJobsThatWait) {
  const cluster::Cluster cluster = two_clusters();
  int withdrawn = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Host host(cluster, GetParam());
    Rng rng(seed);
    std::set<JobId> gone;
    Time now{};
    for (int at = 0; at < 150; ++at) {
      now += Duration{static_cast<std::int64_t>(1 + rng.below(100'000))};
      host.pass(now);
      const bool red = rng.below(2) == 0;
      const int gpus = static_cast<int>(rng.below(red ? 17 : 9));
      const auto run_ms = static_cast<std::int64_t>(1 + rng.below(900'000));
      const std::string name = std::to_string(at);
      const JobSpec spec{.id = name,
                         .gpus = gpus,
                         .run = Duration{run_ms},
                         .vc = red ? "red" : "blue",
                         .user = rng.below(2) == 0 ? "ann" : "bob",
                         .limit = Duration{run_ms + 60'000},
                         .predicted = Duration{run_ms},
                         .cpus = static_cast<float>(std::max(1, gpus)),
                         .memory_gb = static_cast<float>(std::max(1, gpus))};
      host.submit(now, spec);
      for (int tries = 0; tries < 2; ++tries) {
        const JobId some{static_cast<std::uint32_t>(rng.below(host.jobs()))};
        if (some != JobId{static_cast<std::uint32_t>(host.jobs() - 1)} &&
            host.withdraw(now, some)) {
          gone.insert(some);
        }
      }
      host.decide(now);
    }
    host.pass(kNever);
    for (std::uint32_t job = 0; job < host.jobs(); ++job) {
      const Phase expected = gone.contains(JobId{job}) ? Phase::withdrawn : Phase::ended;
      EXPECT_EQ(host.progress(JobId{job}).phase, expected) << "seed " << seed << " job " << job;
    }
    EXPECT_EQ(host.round().ledger().busy_gpu_milli(), 0);
    EXPECT_EQ(host.round().load().jobs_waiting, 0U);
    EXPECT_EQ(host.round().load().gpus_waiting, 0);
    withdrawn += static_cast<int>(gone.size());
  }
  EXPECT_GT(withdrawn, 20);
}

// In whole minutes, so that much begins and ends in the same instant.
TEST_P(EveryPolicyLetsGo, OfNothingWhenItIsAskedWhyJobsWait) {
  const cluster::Cluster cluster = two_clusters();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Host alone(cluster, GetParam());
    Host asked(cluster, GetParam());
    asked.be_curious(seed);
    for (Host* const host : {&alone, &asked}) {
      Rng rng(seed);
      Time now{};
      for (int at = 0; at < 150; ++at) {
        now += rng.below(3) == 0 ? 1min : 0min;
        host->pass(now);
        const std::string name = std::to_string(at);
        const bool red = rng.below(2) == 0;
        const Duration run = static_cast<std::int64_t>(1 + rng.below(6)) * 1min;
        const JobSpec spec{.id = name,
                           .gpus = static_cast<int>(1 + rng.below(rng.below(4) == 0 ? 8 : 3)),
                           .run = run,
                           .vc = red ? "red" : "blue",
                           .user = rng.below(2) == 0 ? "ann" : "bob",
                           .limit = run + static_cast<std::int64_t>(rng.below(2)) * 1min,
                           .predicted = run,
                           .deadline = now.time_since_epoch() + 10min};
        host->submit(now, spec);
        host->decide(now);
      }
      host->pass(kNever);
    }
    EXPECT_EQ(alone.log(), asked.log()) << "seed " << seed;
  }
}

std::vector<std::string> every_policy() {
  std::vector<std::string> names = named_policies();
  for (const char* composed : {"srtf+helios_count", "fifo+arrays+adaptive+halve", "qssf+easy:3",
                               "fifo+models", "conservative+sjf"}) {
    if (registry().compose(composed)) names.emplace_back(composed);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPolicyLetsGo, testing::ValuesIn(every_policy()), test_name);

/// One node of 4 GPUs, 3 taken for an hour. A job of 4 waits, and holds a reservation at 1 h; one
/// of 1 GPU and two hours would delay it.
class HeadOfQueue : public testing::TestWithParam<std::string> {};

TEST_P(HeadOfQueue, TakesItsReservationWithIt) {
  const cluster::Cluster cluster = cluster::uniform(1, 4);
  Host host(cluster, GetParam());
  const auto job = [](int gpus, Duration run) {
    return JobSpec{.gpus = gpus, .run = run, .limit = run, .predicted = run};
  };
  host.submit(Time{0s}, job(3, 1h));
  const JobId head = host.submit(Time{0s}, job(4, 1h));
  const JobId behind = host.submit(Time{0s}, job(1, 2h));
  host.decide(Time{0s});
  EXPECT_EQ(host.progress(behind).phase, Phase::waiting);
  EXPECT_EQ(host.why(Time{0s}, behind).other, head);
  host.withdraw(Time{1min}, head);
  host.decide(Time{1min});
  EXPECT_EQ(host.progress(behind).phase, Phase::running);
  EXPECT_EQ(host.progress(behind).start, Time{1min});
}

INSTANTIATE_TEST_SUITE_P(Reservations, HeadOfQueue, testing::Values("easy", "conservative", "fifo"),
                         test_name);

}  // namespace
}  // namespace almanac
