// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever idle against a Slurm in memory whose nodes have agents: users of jobs whose GPUs do
/// not compute hear of it, and after a grace the jobs are requeued.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_link.h"
#include "steer/decider.h"
#include "steer/driver.h"
#include "steer/lever_registry.h"
#include "steer/undo.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using manager::JobNumber;
using manager::State;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Duration kLook = 10s;

/// Of this process.
std::ptrdiff_t threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Almanac with the lever at a Slurm, and an agent on each node.
class IdleSite {
 public:
  explicit IdleSite(bool requeues, Switch how = Switch::on,
                    const std::function<void(Settings&)>& set = {})
      : link_(slurm), slimmer_(compose("fifo")->slimming) {
    settings_.levers["idle"] = how;
    settings_.idle.requeues = requeues;
    settings_.idle.hook = "echo \"$ALMANAC_USER $ALMANAC_JOB_ID $ALMANAC_TEXT\" >>" + letters_;
    if (set) set(settings_);
    slurm.add_partition("v", 2, 8);
    decider_.emplace(*compose("fifo"), trace::Trace{}, 0);
    open();
  }

  /// As a service that begins on the same folder.
  void open() {
    auto kept = open_journal(folder_ / "");
    driver_.emplace(settings_, std::move(kept->first), std::move(kept->second));
    driver_->add("idle", levers().make("idle", {slimmer_, [this] { return present; }}));
    driver_->set("idle", settings_.of("idle"));
  }

  std::uint32_t submit(double use, const std::string& user = "ann") {
    manager::Job& job = slurm.submit(user, 2, 1000h);
    uses[job.number] = use;
    slurm.pass(1s);
    return static_cast<std::uint32_t>(job.number);
  }

  void live(Duration time) {
    for (; time > Duration{0}; time -= kLook) step();
  }

  void step() {
    slurm.pass(kLook);
    mirror_.take(std::move(*link_.news()));
    if (world_ == nullptr) world_ = make_world(mirror_, settings_.virtual_clusters);
    decider_->decide(mirror_, world_, settings_.exempt);
    slimmer_.look(mirror_, world_, reports(), settings_);
    const Scene scene{.settings = settings_,
                      .site = slurm.site,
                      .can = link_.can(),
                      .mirror = mirror_,
                      .decision = decider_->last(),
                      .policy = decider_->policy()};
    auto slice = driver_->plan(scene, clock_ += kLook);
    driver_->carry_out(slice, link_);
    const std::ptrdiff_t before = threads();
    driver_->settle(slice, mirror_);
    // A hook is a process, with a thread that waits for it, and time here is not that of its clock.
    while (threads() > before) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  std::vector<std::string> letters() const {
    std::ifstream file(letters_);
    std::vector<std::string> made;
    for (std::string line; std::getline(file, line);) made.push_back(line);
    return made;
  }
  service::LeverView state() const { return driver_->states().front(); }
  Driver& driver() { return *driver_; }
  const TemporaryFolder& folder() const { return folder_; }

  FakeSlurm slurm;
  std::map<JobNumber, double> uses;               ///< How busy the GPUs of each job are.
  std::set<std::string> present{"v001", "v002"};  ///< Nodes with an agent.

 private:
  std::vector<Agents::Told> reports() const {
    std::vector<Agents::Told> made;
    for (const std::string& node : present) {
      agent::Report report{.length = kLook, .gpu_use = std::vector<std::optional<double>>(8, 0.0)};
      for (const auto& [number, one] : slurm.jobs) {
        if (one.job.state != State::running || one.job.holds.front().node != node) continue;
        report.jobs.push_back({.job = number});
        for (std::size_t gpu = 0; gpu < 8; ++gpu) {
          if ((one.job.holds.front().gpus >> gpu & 1U) == 0) continue;
          report.gpu_use[gpu] = uses.at(number);
        }
      }
      made.push_back({node, std::move(report)});
    }
    return made;
  }

  Settings settings_;
  FakeLink link_;
  TemporaryFolder folder_;
  std::string letters_ = folder_ / "letters";
  Mirror mirror_;
  std::shared_ptr<const World> world_;
  std::optional<Decider> decider_;
  Slimmer slimmer_;
  std::optional<Driver> driver_;
  Time clock_{};
};

TEST(IdleLever, TellsAUserOnceAndRequeuesAfterTheGrace) {
  IdleSite site(true);
  const auto idle = site.submit(0);
  const auto busy = site.submit(0.5, "bob");
  site.live(29min);
  EXPECT_THAT(site.letters(), IsEmpty());
  site.live(2min);
  ASSERT_EQ(site.letters().size(), 1U);
  EXPECT_THAT(site.letters().front(), HasSubstr("ann 1 Job 1: its GPUs have been idle for 00:30:"));
  EXPECT_THAT(site.letters().front(),
              HasSubstr("The job will be requeued in 00:10:00 if its GPUs stay idle."));
  site.live(8min);
  EXPECT_EQ(site.slurm.job(idle).restarts, 0);
  site.live(3min);
  EXPECT_EQ(site.slurm.job(idle).restarts, 1);
  EXPECT_EQ(site.slurm.job(busy).restarts, 0);
  EXPECT_EQ(site.letters().size(), 1U);
}

TEST(IdleLever, LeavesAJobAloneThatComputesAgain) {
  IdleSite site(true);
  const auto job = site.submit(0);
  site.live(35min);
  ASSERT_EQ(site.letters().size(), 1U);
  site.uses[JobNumber{job}] = 0.3;
  site.live(20min);
  EXPECT_EQ(site.slurm.job(job).restarts, 0);
  site.uses[JobNumber{job}] = 0;
  site.live(31min);
  EXPECT_EQ(site.letters().size(), 2U) << "it begins anew";
  EXPECT_EQ(site.slurm.job(job).restarts, 0);
}

TEST(IdleLever, OnlyTellsWhereItIsToTellOrTheJobMayNotBeRequeued) {
  IdleSite tells(false);
  const auto job = tells.submit(0);
  tells.live(2h);
  EXPECT_EQ(tells.letters().size(), 1U);
  EXPECT_THAT(tells.letters().front(), testing::Not(HasSubstr("requeued")));
  EXPECT_EQ(tells.slurm.job(job).restarts, 0);

  IdleSite requeues(true);
  const auto stays = requeues.submit(0);
  requeues.slurm.job(stays).requeueable = false;
  requeues.live(2h);
  EXPECT_EQ(requeues.letters().size(), 1U);
  EXPECT_EQ(requeues.slurm.job(stays).restarts, 0);
  EXPECT_EQ(requeues.state().refused, 0U) << "it is not even wanted";
}

TEST(IdleLever, DryTellsNobodyAndSaysWhatItWould) {
  IdleSite site(true, Switch::dry);
  const auto job = site.submit(0);
  site.live(2h);
  EXPECT_THAT(site.letters(), IsEmpty());
  EXPECT_EQ(site.slurm.job(job).restarts, 0);
  ASSERT_EQ(site.state().next.size(), 1U);
  EXPECT_THAT(site.state().next.front(),
              HasSubstr("job 1: notify ann; its GPUs have been idle for"));
}

TEST(IdleLever, CountsNothingThatNoAgentTells) {
  IdleSite site(true);
  site.submit(0);
  site.live(20min);
  site.present.erase("v001");
  site.live(5min);
  site.present.insert("v001");
  site.live(20min);
  EXPECT_THAT(site.letters(), IsEmpty()) << "five minutes are not known";
  site.present.clear();
  site.live(1h);
  EXPECT_THAT(site.letters(), IsEmpty());
  EXPECT_THAT(site.state().rests, HasSubstr("no node agent reports"));
}

TEST(IdleLever, RequeuesNobodyWhomTheHookDidNotReach) {
  IdleSite site(true, Switch::on, [](Settings& made) { made.idle.hook = "exit 3"; });
  const auto job = site.submit(0);
  site.live(1h);
  EXPECT_EQ(site.slurm.job(job).restarts, 0);
  ASSERT_EQ(site.driver().warnings().size(), 1U);
  EXPECT_THAT(site.driver().warnings().front(), HasSubstr("lever idle: the hook fails"));
}

TEST(IdleLever, LeavesExemptUsersAndOtherPartitionsThanTheCanarysAlone) {
  IdleSite exempt(true, Switch::on, [](Settings& made) { made.exempt.users = {"ann"}; });
  exempt.submit(0);
  exempt.live(1h);
  EXPECT_THAT(exempt.letters(), IsEmpty());
  IdleSite canary(true, Switch::on, [](Settings& made) { made.canary.partitions = {"w"}; });
  canary.submit(0);
  canary.live(1h);
  EXPECT_THAT(canary.letters(), IsEmpty());
}

TEST(IdleLever, StandsInTheJournalAndLeavesNothingToUndo) {
  IdleSite site(true);
  site.submit(0);
  site.live(45min);
  std::vector<std::string> said;
  ASSERT_TRUE(Journal::read(site.folder() / "journal.jsonl",
                            [&](const Entry& entry, const std::optional<std::string>& failed) {
                              EXPECT_EQ(failed, "");
                              said.push_back(to_words(entry));
                            }));
  ASSERT_EQ(said.size(), 2U);
  EXPECT_THAT(said[0], HasSubstr("job 1: notify ann; its GPUs have been idle for 00:30:"));
  EXPECT_THAT(said[1], HasSubstr("job 1: requeue; its GPUs have been idle for 00:40:"));
  EXPECT_THAT(site.driver().claims().undoing(Mirror{}, "test"), IsEmpty());
}

TEST(IdleLever, BeginsToCountAnewWithTheService) {
  IdleSite site(true);
  const auto job = site.submit(0);
  site.live(35min);
  ASSERT_EQ(site.letters().size(), 1U);
  site.open();
  site.live(25min);
  EXPECT_EQ(site.slurm.job(job).restarts, 0);
  site.live(20min);
  EXPECT_EQ(site.letters().size(), 2U);
  EXPECT_EQ(site.slurm.job(job).restarts, 1);
}

TEST(IdleLever, RestsWhereItIsToRequeueAndCannot) {
  IdleSite site(true);
  site.slurm.requeues = false;
  site.submit(0);
  site.live(1h);
  EXPECT_THAT(site.state().rests, HasSubstr("cannot requeue"));
  EXPECT_THAT(site.letters(), IsEmpty());
}

}  // namespace
}  // namespace almanac::steer
