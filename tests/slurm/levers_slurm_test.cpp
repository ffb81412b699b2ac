// SPDX-License-Identifier: Apache-2.0

/// \file
/// Placement, power, preemption and sharing on a real Slurm: jobs start where the policy says,
/// nodes sleep and come back, jobs share GPUs, and a Slurm that is let go has all that it had.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "perf/catalogue_file.h"
#include "slurm/connect.h"
#include "slurm/test_cluster.h"
#include "steer/decider.h"
#include "steer/driver.h"
#include "steer/mark.h"
#include "steer/node_weight.h"
#include "support/lever.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using slurm::eventually;
using slurm::TestCluster;

/// Almanac with one lever at a Slurm.
class Desk {
 public:
  Desk(const std::string& policy, const std::string& lever, Settings settings = {},
       std::shared_ptr<const perf::Catalogue> speeds = nullptr)
      : settings_(std::move(settings)),
        name_(lever),
        decider_(*compose(policy), {}, 0, std::move(speeds)),
        driver_(settings_, *Journal::open(folder_ / "journal.jsonl"), {}) {
    site_ = *link_->site();
    driver_.add(name_, make_lever(name_));
    driver_.set(name_, Switch::on);
  }

  /// A look, a decision, and what follows. `ahead` is added to the controller's clock.
  void step() {
    auto news = link_->news();
    if (!news) return;
    news->at += ahead_;
    mirror_.take(std::move(*news));
    decider_.decide(mirror_, make_world(mirror_, settings_.virtual_clusters), settings_.exempt, {},
                    driver_.in_vain(scene()));
    clock_ += 10s;
    auto slice = driver_.plan(scene(), clock_);
    driver_.carry_out(slice, *link_);
    for (std::size_t at = 0; at < slice.outcomes.size(); ++at) {
      EXPECT_TRUE(slice.outcomes[at])
          << to_words(slice.entries[at]) << ": " << to_string(slice.outcomes[at].why);
    }
    driver_.settle(slice, mirror_);
  }
  void set(Switch how) { driver_.set(name_, how); }
  void skip(Duration time) { ahead_ += time; }
  service::LeverView state() const { return driver_.states().front(); }
  const Mirror& mirror() const { return mirror_; }
  const manager::Site& site() const { return site_; }

 private:
  Scene scene() const {
    return {.settings = settings_,
            .site = site_,
            .can = link_->can(),
            .mirror = mirror_,
            .decision = decider_.last(),
            .policy = decider_.policy()};
  }

  Settings settings_;
  std::string name_;
  TemporaryFolder folder_;
  std::unique_ptr<manager::Link> link_ = *slurm::connect("commands");
  manager::Site site_;
  Mirror mirror_;
  Decider decider_;
  Driver driver_;
  Time clock_{};
  Duration ahead_{};
};

/// As the plugin holds a job that comes.
std::uint32_t submit_held(const TestCluster& cluster, const std::string& arguments) {
  const auto job = cluster.submit("--begin=now+2minutes " + arguments);
  cluster.must(fmt::format(
      "end=$(SLURM_TIME_FORMAT=%s scontrol show job {0} | sed -n 's/.*EligibleTime=//p' | "
      "cut -d' ' -f1); scontrol update jobid={0} AdminComment=\"{1} until $end\"",
      job, kMark));
  return job;
}

std::string comment_of(const TestCluster& cluster, std::uint32_t job) {
  return cluster.must(fmt::format("scontrol show job {} | grep -o 'AdminComment=.*' || true", job));
}

TEST(LeversSlurmTest, PlacesJobsWhereThePolicySaysAndGivesThemBack) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 4});
  const auto blocker = cluster.submit("-N 3 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(blocker, "RUNNING"));
  // None of those to come starts while it is released and not yet held again.
  const auto stopper = cluster.submit("-N 1 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(stopper, "RUNNING"));
  const auto own = cluster.submit("-H -N 1 --gres=gpu:8 -t 1 --wrap 'sleep 600'");
  // They wait for Almanac as if the plugin had held them.
  const auto submit = [&](int minutes) {
    return submit_held(cluster, fmt::format("-N 1 --gres=gpu:8 -t {} --wrap 'sleep 600'", minutes));
  };
  const auto longer = submit(90);
  const auto shorter = submit(30);
  cluster.must(fmt::format("scancel {}", stopper));
  Desk desk("sjf+limit", "placement");
  EXPECT_TRUE(eventually([&] {
    desk.step();
    return cluster.of_job(shorter, "state") == "RUNNING";
  }));
  EXPECT_EQ(cluster.of_job(longer, "reason"), "BeginTime");
  EXPECT_EQ(cluster.of_job(own, "reason"), "JobHeldUser");
  cluster.must(fmt::format("scancel {}", blocker));
  EXPECT_TRUE(eventually([&] {
    desk.step();
    return cluster.of_job(longer, "state") == "RUNNING";
  }));
  EXPECT_NE(cluster.must(fmt::format("scontrol show job {} | grep ' ReqNodeList='", longer))
                .find("ReqNodeList=n"),
            std::string::npos);
  EXPECT_EQ(cluster.of_job(own, "reason"), "JobHeldUser");

  const auto gang = cluster.submit("-N 4 --gres=gpu:8 --wrap 'sleep 600'");
  EXPECT_TRUE(eventually([&] {
    desk.step();
    return cluster.of_job(gang, "reason") == "BeginTime";
  })) << "one that came past the plugin is held too";
  desk.set(Switch::off);
  desk.step();
  EXPECT_NE(cluster.of_job(gang, "reason"), "BeginTime");
  EXPECT_EQ(comment_of(cluster, gang).find(kMark), std::string::npos);
  EXPECT_EQ(cluster.of_job(own, "reason"), "JobHeldUser");
}

TEST(LeversSlurmTest, LetsNoJobWaitForOneWhoseNodesCannotTakeIt) {
  SKIP_WITHOUT_SLURM();
  for (const std::string choosy : {"-w n002", "-x n001"}) {
    const TestCluster cluster({.nodes = 4});
    cluster.must("scontrol update nodename=n002 state=drain reason=broken");
    const auto blocker = cluster.submit("-w n003,n004 -N 2 --gres=gpu:8 --wrap 'sleep 600'");
    ASSERT_TRUE(cluster.becomes(blocker, "RUNNING"));
    Desk desk("qssf", "placement");
    const auto stopper = cluster.submit("-w n001 -N 1 --gres=gpu:8 --wrap 'sleep 600'");
    ASSERT_TRUE(cluster.becomes(stopper, "RUNNING"));
    const auto first =
        cluster.submit(fmt::format("{} -N 1 --gres=gpu:4 -t 10 --wrap 'sleep 600'", choosy));
    std::vector<std::uint32_t> others;
    for (int more = 0; more < 3; ++more) {
      others.push_back(cluster.submit("-N 1 --gres=gpu:8 -t 20 --wrap 'sleep 600'"));
    }
    EXPECT_TRUE(eventually([&] {
      desk.step();
      return cluster.of_job(others.back(), "reason") == "BeginTime";
    }));
    cluster.must(fmt::format("scancel {}", stopper));
    EXPECT_TRUE(eventually([&] {
      desk.step();
      return std::any_of(others.begin(), others.end(), [&](std::uint32_t job) {
        return cluster.of_job(job, "state") == "RUNNING";
      });
    })) << choosy
        << ": n001 stands idle";
    EXPECT_EQ(cluster.of_job(first, "state"), "PENDING");
    cluster.must("scontrol update nodename=n002 state=resume");
    EXPECT_TRUE(eventually([&] {
      desk.step();
      return cluster.of_job(first, "state") == "RUNNING";
    })) << choosy;
  }
}

TEST(LeversSlurmTest, PutsIdleNodesToSleepAndWakesThemAll) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 4, .power = true});
  const auto job = cluster.submit("-N 1 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(job, "RUNNING"));
  Desk desk("fifo+follow_load", "power");
  EXPECT_EQ(desk.site().facts.power_cycle, 3s + 60s + 2min);
  const auto count = [&](manager::Power power) {
    int made = 0;
    for (const auto& [name, node] : desk.mirror().nodes()) made += node.power == power ? 1 : 0;
    return made;
  };
  EXPECT_TRUE(eventually([&] {
    if (desk.state().done == 0) desk.skip(10min);
    desk.step();
    return count(manager::Power::off) > 0;
  })) << desk.state().rests
      << "; wanted " << desk.state().wanted << ", done " << desk.state().done << ", failed "
      << desk.state().failed << "; on " << count(manager::Power::on) << ", going down "
      << count(manager::Power::to_power_down) + count(manager::Power::powering_down);
  EXPECT_EQ(cluster.of_job(job, "state"), "RUNNING");
  const auto weigh_right = [&] {
    desk.step();
    const auto& nodes = desk.mirror().nodes();
    return std::all_of(nodes.begin(), nodes.end(), [](const auto& each) {
      const bool is_on = each.second.power == manager::Power::on;
      return each.second.weight == (is_on ? 1 : 1 | kSleeps);
    });
  };
  EXPECT_TRUE(eventually(weigh_right));
  // The commands to wake those that are still on the way down would be lost.
  desk.set(Switch::off);
  EXPECT_TRUE(eventually([&] {
    desk.step();
    return count(manager::Power::on) == 4;
  }));
  EXPECT_TRUE(eventually(weigh_right));
}

// Slurm would give it the node that was told to boot.
TEST(LeversSlurmTest, LetsNoJobWaitForANodeThatBootsBesideOneThatIsOn) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 8, .power = true});
  const auto job = cluster.submit("-N 1 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(job, "RUNNING"));
  Desk desk("fifo+ces_venus", "power");
  std::set<std::string> off;
  ASSERT_TRUE(eventually([&] {
    if (desk.state().done == 0) desk.skip(10min);
    desk.step();
    off.clear();
    for (const auto& [name, node] : desk.mirror().nodes()) {
      if (node.power == manager::Power::off) off.insert(name);
    }
    return off.size() == 2;
  }));
  const auto wide = cluster.submit("-N 5 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(wide, "RUNNING"));
  cluster.submit("-N 1 --gres=gpu:8 --wrap 'sleep 600'");
  ASSERT_TRUE(eventually([&] {
    desk.step();
    const auto& nodes = desk.mirror().nodes();
    return std::all_of(off.begin(), off.end(), [&](const std::string& each) {
      return nodes.at(each).power == manager::Power::powering_up;
    });
  })) << "one for the job, and a spare one";
  cluster.must(fmt::format("scancel {}", wide));
  ASSERT_TRUE(
      eventually([&] { return cluster.must("squeue -h -o %t").find("CG") == std::string::npos; }));
  const auto next = cluster.submit("-N 1 --gres=gpu:8 --wrap 'sleep 600'");
  std::string node;
  EXPECT_TRUE(eventually([&] { return !(node = cluster.of_job(next, "nodelist")).empty(); }));
  EXPECT_FALSE(off.contains(node)) << node;
}

TEST(LeversSlurmTest, RequeuesAJobThatIsStopped) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const auto first = cluster.submit("--requeue --gres=gpu:8 -t 600 --wrap 'sleep 600'");
  const auto firm = cluster.submit("--no-requeue -t 600 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(first, "RUNNING"));
  ASSERT_TRUE(cluster.becomes(firm, "RUNNING"));
  cluster.submit("--gres=gpu:8 -t 1 --wrap 'sleep 1'");
  Settings settings;
  settings.preemption.once_in = 0s;
  Desk desk("srtf+limit", "preemption", settings);
  EXPECT_TRUE(eventually([&] {
    desk.step();
    return cluster.of_job(first, "state") == "PENDING";
  }));
  EXPECT_EQ(cluster.of_job(firm, "state"), "RUNNING");
}

TEST(LeversSlurmTest, RequeuesWhatAWholePolicyStops) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const auto first = cluster.submit("--requeue --gres=gpu:8 -t 600 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(first, "RUNNING"));
  const auto second = cluster.submit("--requeue --gres=gpu:8 -t 600 --wrap 'sleep 600'");
  Settings settings;
  settings.preemption.once_in = 0s;
  // It leaves the first queue with its first second on eight GPUs, where the second is.
  Desk desk("tiresias:8", "preemption", settings);
  EXPECT_TRUE(eventually([&] {
    desk.step();
    return cluster.of_job(first, "state") == "PENDING";
  }));
  EXPECT_TRUE(cluster.becomes(second, "RUNNING"));
}

TEST(LeversSlurmTest, MovesAJobAsideForOneThatFindsNoNode) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 2});
  const auto fill = cluster.submit("-w n001 --gres=gpu:4 -t 600 --wrap 'sleep 600'");
  const auto beside = cluster.submit("-w n001 --gres=gpu:4 -t 600 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(beside, "RUNNING"));
  const auto moved = cluster.submit("--requeue --gres=gpu:4 -t 600 --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(moved, "RUNNING"));
  ASSERT_EQ(cluster.of_job(moved, "nodelist"), "n002");
  cluster.must(fmt::format("scancel {}", beside));
  const auto wide = cluster.submit("-N 1 --gres=gpu:8 -t 600 --wrap 'sleep 600'");
  Desk desk("fifo+defragment", "preemption");
  ASSERT_TRUE(eventually([&] {
    desk.step();
    return cluster.of_job(wide, "state") == "RUNNING";
  }));
  EXPECT_EQ(cluster.of_job(wide, "nodelist"), "n002");
  EXPECT_EQ(cluster.of_job(fill, "state"), "RUNNING");
  ASSERT_TRUE(cluster.becomes(moved, "RUNNING"));
  EXPECT_EQ(cluster.of_job(moved, "nodelist"), "n001");
}

/// The GPU of a job that runs, as Slurm tells it; "" = it has none.
std::string gpu_of(const TestCluster& cluster, std::uint32_t job) {
  return cluster.must(fmt::format(
      "scontrol show job -d {} | sed -n 's/.*GRES=shard:[0-9]*(IDX:\\([0-9]*\\)).*/\\1/p'", job));
}

TEST(LeversSlurmTest, BringsHarmlessJobsTogetherAndNoOthers) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1, .shards = 16});
  const auto submit = [&](const char* name, int shards) {
    return submit_held(cluster,
                       fmt::format("-J {} --gres=shard:{} --wrap 'sleep 600'", name, shards));
  };
  const std::string source = std::getenv("ALMANAC_SOURCE_DIR");
  Desk desk("fifo+harmless", "sharing", {},
            std::make_shared<const perf::Catalogue>(
                perf::read_catalogue(source + "/tests/support/linear.toml").value()));
  const auto runs = [&](std::uint32_t job) {
    return eventually([&] {
      desk.step();
      return cluster.of_job(job, "state") == "RUNNING";
    });
  };
  const auto open = submit("quiet", 1);
  ASSERT_TRUE(runs(open));
  std::uint32_t closed = 0;
  for (int gpu = 1; gpu < 8; ++gpu) closed = submit("quiet", 1);
  ASSERT_TRUE(runs(closed)) << desk.state().rests;
  EXPECT_NE(gpu_of(cluster, closed), gpu_of(cluster, open));
  const auto loud = submit("loud", 1);
  const auto guest = submit("quiet", 1);
  for (int times = 0; times < 3; ++times) desk.step();
  EXPECT_EQ(cluster.of_job(loud, "state"), "PENDING") << "the head of the line harms all that run";
  EXPECT_EQ(cluster.of_job(guest, "state"), "PENDING") << "and it is first come, first served";
  cluster.must(fmt::format("scancel {}", loud));
  ASSERT_TRUE(runs(guest));
  EXPECT_EQ(gpu_of(cluster, guest), gpu_of(cluster, open));

  // The job that is left can be joined again.
  cluster.must(fmt::format("scancel {}", open));
  const auto next = submit("quiet", 1);
  ASSERT_TRUE(runs(next));
  EXPECT_EQ(gpu_of(cluster, next), gpu_of(cluster, guest));

  const auto waits = submit("quiet", 1);
  for (int times = 0; times < 3; ++times) desk.step();
  ASSERT_EQ(cluster.of_job(waits, "state"), "PENDING");
  desk.set(Switch::off);
  desk.step();
  EXPECT_NE(cluster.of_job(waits, "reason"), "BeginTime");
  EXPECT_EQ(comment_of(cluster, waits).find(kMark), std::string::npos);
}

}  // namespace
}  // namespace almanac::steer
