// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the reference's section 2.9 asks of CODA's parts, each watched at work in a simulation. C1,
/// C2 and C6 are measurements: docs/guide/resources.md.
#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "coda/recorded.h"
#include "experiment/profile.h"
#include "perf/catalogue_file.h"
#include "policy/registry.h"
#include "schedule/speed_book.h"
#include "sim/simulation.h"
#include "support/play.h"

namespace almanac {
namespace {

using policy::Phase;
using policy::Plan;
using policy::View;

/// Plays `input` with the public models and lets `before` and `after` look.
sim::Schedule watch(Case input, const Watched::Look& before, const Watched::Look& after) {
  const auto composition = policy::registry().compose(input.policy);
  auto catalogue = perf::read_catalogue("public");
  EXPECT_TRUE(composition && catalogue);
  const schedule::SpeedBook speeds(input.cluster, input.trace, std::move(*catalogue));
  input.options.truth.speeds = &speeds;
  auto made = experiment::make_policy(*composition, input.trace);
  EXPECT_TRUE(made);
  Watched watched(**made, before, after);
  return sim::simulate(input.trace, input.cluster, watched, input.options);
}

void nothing(const View&, const Plan&) {}

double cores(const View& view, JobId job) {
  double sum = 0;
  for (const cluster::Grant& grant : view.grants(job)) sum += grant.cpu_milli / 1e3;
  return sum;
}

/// C3, in the simulator, from the start of jobs that nothing is known of, 3 cores.
TEST(Coda, GivesEachModelWhatItCanUse) {
  for (const char* name : {"alexnet", "shufflenet", "resnet-18", "mobilenet", "m5", "resnet-50",
                           "deepspeech2", "gnmt", "transformer", "lm"}) {
    Case input;
    input.policy = "coda";
    input.cluster.add_vc("all");
    input.cluster.takes_every_job = true;
    input.cluster.add_nodes({.gpus = 1, .cpus = 28}, 1);
    add_job(input.trace, {.id = "A", .gpus = 1, .run = 2h, .model = name, .cpus = 1});
    std::size_t resizes = 0;
    std::vector<cluster::Grant> held;
    double use = 0;
    double use_with_less = 0;
    watch(std::move(input), nothing, [&](const View& view, const Plan& plan) {
      for (const Plan::Change& change : plan.changes()) {
        const auto given = plan.grants(change);
        if (!given.empty()) held.assign(given.begin(), given.end());
        resizes += change.action == Plan::Action::resize ? 1 : 0;
      }
      std::vector<cluster::Grant> less = held;
      less[0].cpu_milli -= 2000;
      use = view.speeds->pace(JobId{0}, held).computing;
      use_with_less = less[0].cpu_milli > 0 ? view.speeds->pace(JobId{0}, less).computing : 0;
    });
    const double settled = held[0].cpu_milli / 1e3;
    EXPECT_LE(resizes, 12U) << name;
    EXPECT_GE(use, 0.98) << name << " has too few with " << settled;
    EXPECT_LT(use_with_less, 0.98) << name << " has two too many with " << settled;
  }
}

/// C4: a hog that asks 1.5 times what the node's memory can give at most.
TEST(Coda, SlowsAHogAndLetsItGoAgain) {
  Case input;
  input.policy = "fifo+halve";
  input.cluster.add_vc("all");
  input.cluster.takes_every_job = true;
  input.cluster.add_nodes({.gpus = 1, .cpus = 28, .bandwidth_gbs = 100}, 1);
  add_job(input.trace, {.id = "H", .gpus = 0, .run = 1h, .cpus = 16, .bandwidth_gbs = 150});
  add_job(input.trace,
          {.id = "A", .submit = 60s, .gpus = 1, .run = 10min, .cpus = 4, .bandwidth_gbs = 6});
  const JobId hog{0};
  const JobId job{1};
  Time restored = kNever;
  Time last_halved = kNever;
  Time end = kNever;
  watch(
      std::move(input),
      [&](const View& view, const Plan&) {
        if (view.progress(job).phase != Phase::ended) return;
        end = view.progress(job).end;
        if (restored == kNever && cores(view, hog) == 16) restored = view.now;
      },
      [&](const View& view, const Plan& plan) {
        const auto changes = plan.changes();
        const bool resizes = std::any_of(
            changes.begin(), changes.end(),
            [](const Plan::Change& change) { return change.action == Plan::Action::resize; });
        if (!resizes || view.progress(job).phase != Phase::running) return;
        last_halved = view.now;
      });
  ASSERT_NE(end, kNever);
  EXPECT_LE(last_halved, Time{60s + 15s});
  // 600 s of work, at 0.95 of its speed or better but for the first 15 s.
  EXPECT_LE(seconds(end) - 60, 15 + 600 / 0.95);
  EXPECT_LE(restored, end + 11s) << "10 periods, and the decision that sees it";
}

/// A small crowd of GPU jobs and CPU jobs of three users.
Case crowd(std::uint64_t seed) {
  Case made;
  made.policy = "coda";
  made.cluster.add_vc("all");
  made.cluster.takes_every_job = true;
  made.cluster.add_nodes({.gpus = 4, .cpus = 20, .bandwidth_gbs = 60}, 3);
  made.cluster.add_nodes({.gpus = 0, .cpus = 8}, 1);
  const char* const models[] = {"alexnet", "resnet-50", "lm", "m5"};
  const char* const users[] = {"ann", "bob", "eve"};
  Rng rng(seed);
  std::int64_t now = 0;
  for (int job = 0; job < 150; ++job) {
    now += static_cast<std::int64_t>(rng.below(120));
    const bool cpu = rng.below(2) == 0;
    const int gpus = cpu ? 0 : 1 << rng.below(4);
    add_job(made.trace, {.id = std::to_string(job),
                         .submit = now * 1s,
                         .gpus = gpus,
                         .run = static_cast<std::int64_t>(1 + rng.below(1500)) * 1s,
                         .user = users[rng.below(3)],
                         .model = cpu ? "" : models[rng.below(4)],
                         .cpus = static_cast<float>(cpu ? 1 + rng.below(8) : 1 + rng.below(20)),
                         .bandwidth_gbs = static_cast<float>(rng.below(30))});
  }
  return made;
}

/// C5, at every instant instead of every minute: no GPU job waits that would fit its GPUs and one
/// core for each on a node, were CPU jobs stopped that hold more than the CPU array's part there.
TEST(Coda, LeavesNoGpuIdleForCoresOnLoan) {
  for (const char* policy : {"coda", "fifo+arrays", "fifo+arrays+adaptive"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Case input = crowd(seed);
      input.policy = policy;
      std::size_t stops = 0;
      const std::vector<cluster::Node> nodes = input.cluster.nodes;
      const bool adaptive = std::string(policy) != "fifo+arrays";
      watch(std::move(input), nothing, [&](const View& view, const Plan& plan) {
        stops += plan.num_stops();
        // One more decision comes at this instant.
        if (std::find(plan.wakes.begin(), plan.wakes.end(), view.now) != plan.wakes.end()) return;
        std::map<JobId, bool> starts;
        for (const Plan::Change& change : plan.changes()) {
          if (change.action == Plan::Action::start || change.action == Plan::Action::move) {
            starts[change.job] = true;
          }
        }
        for (std::uint32_t node = 0; node < nodes.size(); ++node) {
          const cluster::Amount room = plan.ledger.room(NodeId{node});
          if (room.gpus == 0) continue;
          std::int32_t held = 0;
          for (std::uint32_t job = 0; job < view.num_jobs(); ++job) {
            if (view.request(JobId{job}).gpus > 0 || starts.contains(JobId{job})) continue;
            if (view.progress(JobId{job}).phase != Phase::running) continue;
            for (const cluster::Grant& grant : view.grants(JobId{job})) {
              if (grant.node == NodeId{node}) held += grant.cpu_milli;
            }
          }
          const std::int32_t lent = std::max(0, held - (20'000 - 3'000 * 4));
          for (std::uint32_t job = 0; job < view.num_jobs(); ++job) {
            const trace::Request& asked = view.request(JobId{job});
            if (asked.gpus == 0 || asked.gpus > room.gpus || starts.contains(JobId{job})) continue;
            if (view.progress(JobId{job}).phase != Phase::waiting) continue;
            const std::int32_t least =
                adaptive ? asked.gpus * 1000 : cluster::cpu_milli(asked.cpus);
            EXPECT_LT(room.cpu_milli + lent, least) << policy << " seed " << seed << ": job " << job
                                                    << " waits at " << seconds(view.now);
          }
        }
      });
      if (adaptive) continue;
      EXPECT_GT(stops, 0U) << "nothing was on loan, seed " << seed;
    }
  }
}

}  // namespace
}  // namespace almanac
