// SPDX-License-Identifier: Apache-2.0

/// \file
/// The lever slimming against a Slurm in memory whose nodes have agents: jobs lose the cores that
/// they do not need, and get them back whatever happens.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_link.h"
#include "steer/agent_orders.h"
#include "steer/decider.h"
#include "steer/driver.h"
#include "steer/guards.h"
#include "steer/lever_registry.h"
#include "steer/undo.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using manager::JobNumber;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Duration kLook = 5s;

Settings settings(Switch how = Switch::on) {
  Settings made;
  made.levers["slimming"] = how;
  return made;
}

/// How a job fares on its node.
struct Nature {
  double cores_needed = 1;    ///< For its GPUs to be as busy as they ever are.
  double gb_s_of_a_core = 0;  ///< That it draws of the memory's bandwidth.
  double busy = 0.8;          ///< How busy that is.
};

/// Almanac with the lever at a Slurm, and an agent on each node.
class Site {
 public:
  explicit Site(const std::string& policy = "fifo+adaptive", Settings wanted = settings())
      : settings_(std::move(wanted)), link_(slurm), slimmer_(compose(policy)->slimming) {
    slurm.add_partition("v", 2, 8);
    decider_.emplace(*compose(policy), trace::Trace{}, 0);
    open();
  }

  /// As a service that begins on the same folder.
  void open() {
    const std::string state = folder_ / "";
    auto kept = open_journal(state);
    driver_.emplace(settings_, std::move(kept->first), std::move(kept->second));
    driver_->add("slimming", levers().make("slimming", {slimmer_, [this] { return present; }}));
    driver_->set("slimming", settings_.of("slimming"));
  }
  void begin_anew(const std::string& policy) {
    slimmer_.decide_by(compose(policy)->slimming);
    open();
  }

  std::uint32_t submit(int gpus, double cores, Nature nature, const std::string& user = "ann") {
    manager::Job& job = slurm.submit(user, gpus, 1000h);
    job.cpus = cores;
    natures[job.number] = nature;
    slurm.pass(1s);
    return static_cast<std::uint32_t>(job.number);
  }

  /// Lets time pass, with a look of agents and service every five seconds.
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
    driver_->settle(slice, mirror_);
  }

  /// Cores that the agents hold a job to; all that Slurm gave where they do not.
  double cores(std::uint32_t job) {
    const manager::Held& held = slurm.job(job).holds.front();
    return limit(JobNumber{job}, held.node).value_or(held.cpus);
  }
  void set(Switch how) { driver_->set("slimming", how); }
  service::LeverView state() const { return driver_->states().front(); }
  Driver& driver() { return *driver_; }
  Slimmer& slimmer() { return slimmer_; }
  const TemporaryFolder& folder() const { return folder_; }

  FakeSlurm slurm;
  std::map<JobNumber, Nature> natures;
  std::set<std::string> present{"v001", "v002"};  ///< Nodes with an agent.
  std::string trouble;                            ///< Of all agents.

 private:
  std::optional<double> limit(JobNumber job, const std::string& node) const {
    if (!present.contains(node) || !trouble.empty()) return std::nullopt;
    Agents::Orders orders = orders_of(driver_->claims());
    for (const agent::Limit& each : orders[node]) {
      if (each.job == job) return each.cores;
    }
    return std::nullopt;
  }

  std::vector<Agents::Told> reports() const {
    std::vector<Agents::Told> made;
    for (const std::string& node : present) {
      agent::Report report{.length = kLook, .gpu_use = std::vector<std::optional<double>>(8, 0.0)};
      double drawn = 0;
      for (const auto& [number, one] : slurm.jobs) {
        if (one.job.state != manager::State::running) continue;
        const manager::Held& held = one.job.holds.front();
        if (held.node != node) continue;
        const Nature& nature = natures.at(number);
        const auto limited = limit(number, node);
        const double has = limited.value_or(held.cpus);
        report.jobs.push_back({.job = number,
                               .limit = limited,
                               .bandwidth_gbs = has * nature.gb_s_of_a_core,
                               .trouble = trouble});
        drawn += has * nature.gb_s_of_a_core;
        for (std::size_t gpu = 0; gpu < 8; ++gpu) {
          if ((held.gpus >> gpu & 1U) == 0) continue;
          report.gpu_use[gpu] = nature.busy * std::min(1.0, has / nature.cores_needed);
        }
      }
      report.bandwidth_gbs = drawn;
      made.push_back({node, std::move(report)});
    }
    return made;
  }

  Settings settings_;
  FakeLink link_;
  TemporaryFolder folder_;
  Mirror mirror_;
  std::shared_ptr<const World> world_;
  std::optional<Decider> decider_;
  Slimmer slimmer_;
  std::optional<Driver> driver_;
  Time clock_{};
};

TEST(Slimming, FindsTheFewestCoresThatKeepGpusAsBusy) {
  Site site;
  const auto greedy = site.submit(2, 16, {.cores_needed = 6});
  const auto modest = site.submit(1, 4, {.cores_needed = 4});
  site.live(20min);
  EXPECT_EQ(site.cores(greedy), 6);
  EXPECT_EQ(site.cores(modest), 4);
  EXPECT_EQ(site.slurm.job(greedy).holds.front().cpus, 16) << "Slurm knows nothing of it";
  EXPECT_EQ(site.slurm.changes, 0);
}

TEST(Slimming, NeverGivesMoreThanSlurm) {
  Site site;
  const auto starving = site.submit(2, 3, {.cores_needed = 12});
  const auto greedy = site.submit(1, 16, {.cores_needed = 2});
  site.live(30min);
  EXPECT_EQ(site.cores(starving), 3);
  EXPECT_EQ(site.cores(greedy), 2);
  EXPECT_EQ(site.state().refused, 0U) << "it is not even wanted";
}

TEST(Slimming, BeginsWithWhatSlurmGaveWhateverOthersOfItsNameNeed) {
  Site site;
  const auto first = site.submit(1, 16, {.cores_needed = 8});
  site.slurm.job(first).name = "train";
  site.live(20min);
  ASSERT_EQ(site.cores(first), 8);
  const auto second = site.submit(1, 4, {.cores_needed = 8});
  site.slurm.job(second).name = "train";
  site.live(20min);
  EXPECT_EQ(site.cores(second), 4);
}

TEST(Slimming, SaysWhyInItsJournal) {
  Site site;
  site.submit(2, 16, {.cores_needed = 6});
  site.live(20min);
  std::vector<std::string> said;
  ASSERT_TRUE(Journal::read(site.folder() / "journal.jsonl",
                            [&](const Entry& entry, const std::optional<std::string>& failed) {
                              EXPECT_EQ(failed, "");
                              said.push_back(to_words(entry));
                            }));
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.front(),
            "job 1: at most 8 cores on v001; tests whether its GPUs stay as busy with fewer cores");
}

TEST(Slimming, DryStaysAtTheFirstTrialAndHoldsNoJob) {
  Site site("fifo+adaptive", settings(Switch::dry));
  const auto job = site.submit(2, 16, {.cores_needed = 2});
  site.live(30min);
  EXPECT_EQ(site.cores(job), 16);
  EXPECT_EQ(site.state().done, 0U);
  ASSERT_EQ(site.state().next.size(), 1U);
  EXPECT_THAT(site.state().next.front(), HasSubstr("at most 8 cores"));
}

TEST(Slimming, LetsAllGoWhenItIsTurnedOff) {
  for (const Switch how : {Switch::off, Switch::dry}) {
    Site site;
    const auto job = site.submit(2, 16, {.cores_needed = 6});
    site.live(20min);
    ASSERT_EQ(site.cores(job), 6);
    site.set(how);
    site.step();
    EXPECT_EQ(site.cores(job), 16);
    EXPECT_TRUE(site.driver().claims().of<CoresChange>().jobs().empty());
  }
}

TEST(Slimming, LetsAllGoUnderAPolicyThatLeavesCoresAlone) {
  Site site;
  const auto job = site.submit(2, 16, {.cores_needed = 6});
  site.live(20min);
  ASSERT_EQ(site.cores(job), 6);
  site.slimmer().decide_by(compose("fifo")->slimming);
  site.step();
  EXPECT_EQ(site.cores(job), 16);
  EXPECT_THAT(site.state().rests, HasSubstr("does not change the cores of running jobs"));
}

TEST(Slimming, IsUndone) {
  Site site;
  const auto job = site.submit(2, 16, {.cores_needed = 6});
  site.live(20min);
  ASSERT_EQ(site.cores(job), 6);
  site.set(Switch::off);
  Mirror mirror;
  FakeLink link(site.slurm);
  mirror.take(std::move(*link.news()));
  std::mutex mutex;
  const auto act = [&](Slice& slice) { site.driver().carry_out(slice, link); };
  EXPECT_EQ(take_back(site.driver(), mirror, mutex, act).value().changes, 1);
  EXPECT_EQ(site.cores(job), 16);
}

TEST(Slimming, BeginsAnewWithTheService) {
  Site site;
  const auto job = site.submit(2, 16, {.cores_needed = 6});
  site.live(20min);
  ASSERT_EQ(site.cores(job), 6);
  site.begin_anew("fifo+adaptive");
  EXPECT_EQ(site.driver().claims().of<CoresChange>().jobs().size(), 1U)
      << "the journal knows of it";
  site.step();
  EXPECT_EQ(site.cores(job), 16);
  site.live(20min);
  EXPECT_EQ(site.cores(job), 6);
}

TEST(Slimming, SearchesAnewWhenAJobComesToNeedMore) {
  Site site;
  const auto job = site.submit(2, 16, {.cores_needed = 4});
  site.live(20min);
  ASSERT_EQ(site.cores(job), 4);
  site.natures[JobNumber{job}].cores_needed = 12;
  site.live(20min);
  EXPECT_EQ(site.cores(job), 12);
}

TEST(Slimming, GivesAllBackToAJobThatIsHurtAndLeavesItAlone) {
  Site site;
  const auto job = site.submit(2, 16, {.cores_needed = 4});
  site.live(20min);
  ASSERT_EQ(site.cores(job), 4);
  // Whatever cores it has: that they are not the cause cannot be known.
  site.natures[JobNumber{job}].busy = 0.4;
  site.live(8min);
  EXPECT_EQ(site.cores(job), 16);
  const auto done = site.state().done;
  site.live(30min);
  EXPECT_EQ(site.cores(job), 16);
  EXPECT_EQ(site.state().done, done);
}

TEST(Slimming, LeavesExemptUsersAlone) {
  Settings with_exempt = settings();
  with_exempt.exempt.users = {"bob"};
  Site site("fifo+adaptive", with_exempt);
  const auto exempt = site.submit(2, 16, {.cores_needed = 2}, "bob");
  const auto other = site.submit(2, 16, {.cores_needed = 2});
  site.live(20min);
  EXPECT_EQ(site.cores(exempt), 16);
  EXPECT_EQ(site.cores(other), 2);
}

TEST(Slimming, IsForJobsOfAllAccountsWhateverTheseAreCalled) {
  for (const std::string account : {"lab", "w"}) {
    Settings by_account = settings();
    by_account.virtual_clusters = Grouping::accounts;
    Site site("fifo+adaptive", by_account);
    site.slurm.add_partition("w", 1, 8);
    const auto job = site.submit(2, 16, {.cores_needed = 2});
    site.slurm.job(job).account = account;
    site.live(20min);
    EXPECT_EQ(site.cores(job), 2) << account;
  }
}

TEST(Slimming, RestsWhereNoAgentReports) {
  Site site;
  site.present.clear();
  site.submit(2, 16, {.cores_needed = 2});
  site.live(10min);
  EXPECT_THAT(site.state().rests, HasSubstr("no node agent reports"));
  EXPECT_EQ(site.state().done, 0U);
}

TEST(Slimming, LeavesJobsOnNodesWithoutAnAgentAlone) {
  Site site;
  site.present = {"v002"};
  const auto job = site.submit(8, 32, {.cores_needed = 8});
  const auto other = site.submit(8, 32, {.cores_needed = 8});
  site.live(20min);
  ASSERT_EQ(site.slurm.job(job).holds.front().node, "v001");
  EXPECT_EQ(site.cores(job), 32);
  EXPECT_EQ(site.cores(other), 8);
}

TEST(Slimming, SaysWhichJobsAreNotHeldAndTriesNoFurther) {
  Site site;
  const auto job = site.submit(2, 16, {.cores_needed = 2});
  site.trouble = "no control group";
  site.live(20min);
  EXPECT_EQ(site.cores(job), 16);
  EXPECT_EQ(site.state().done, 1U);
  ASSERT_EQ(site.driver().warnings().size(), 1U);
  EXPECT_EQ(site.driver().warnings().front(),
            "job 1 could not be limited to fewer cores on v001: no control group");
}

TEST(Slimming, ForgetsJobsThatHaveEnded) {
  Site site;
  const auto job = site.submit(2, 16, {.cores_needed = 6});
  site.live(20min);
  FakeLink(site.slurm).end(JobNumber{job}, manager::Fate::cancel);
  site.step();
  site.step();
  EXPECT_TRUE(site.driver().claims().of<CoresChange>().jobs().empty());
  EXPECT_THAT(site.slimmer().wanted(), IsEmpty());
}

TEST(Slimming, SlowsACpuJobThatTakesTheMemoryFromGpuJobs) {
  Settings with_bandwidth = settings();
  with_bandwidth.slimming.bandwidth_gbs = 100;
  Site site("fifo+halve", with_bandwidth);
  const auto gpu = site.submit(2, 8, {.cores_needed = 1, .gb_s_of_a_core = 2});
  const auto hog = site.submit(0, 16, {.gb_s_of_a_core = 5});
  ASSERT_EQ(site.slurm.job(hog).holds.front().node, "v001");
  site.live(5min);
  EXPECT_EQ(site.cores(hog), 8);
  EXPECT_EQ(site.cores(gpu), 8);
  FakeLink(site.slurm).end(JobNumber{gpu}, manager::Fate::cancel);
  site.live(1min);
  EXPECT_EQ(site.cores(hog), 16);
}

TEST(Slimming, SlowsNoJobWhereTheNodesBandwidthIsNotSaid) {
  Site site("fifo+halve");
  site.submit(2, 8, {.gb_s_of_a_core = 2});
  const auto hog = site.submit(0, 16, {.gb_s_of_a_core = 5});
  site.live(5min);
  EXPECT_EQ(site.cores(hog), 16);
}

TEST(Slimming, MayNotDoWhatItShouldNeverWant) {
  FakeSlurm slurm;
  slurm.add_partition("v", 1, 8);
  slurm.submit("ann", 2, 1h).cpus = 8;
  slurm.submit("bob", 2, 1h).cpus = 8;
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  Settings with_exempt = settings();
  with_exempt.exempt.users = {"bob"};
  Mirror mirror;
  FakeLink link(slurm);
  mirror.take(std::move(*link.news()));
  const auto policy = compose("coda");
  const Decision decision;
  const Scene scene{.settings = with_exempt,
                    .site = slurm.site,
                    .can = link.can(),
                    .mirror = mirror,
                    .decision = decision,
                    .policy = *policy};
  const auto why = [&](std::uint32_t job, const Cores& cores) {
    return CoresChange{JobNumber{job}, cores}.forbidden(scene).value_or("");
  };
  EXPECT_EQ(why(1, {{"v001", 4}}), "");
  EXPECT_EQ(why(1, {{"v001", 8}}), "Slurm allocated 8 cores on v001");
  EXPECT_EQ(why(1, {{"v002", 1}}), "Slurm allocated 0 cores on v002");
  EXPECT_EQ(why(1, {{"v001", 0.5}}), "a job keeps at least one core on each node");
  EXPECT_EQ(why(2, {{"v001", 4}}), "it is exempt");
  EXPECT_EQ(why(3, {{"v001", 4}}), "it does not run");
  EXPECT_EQ(why(9, {{"v001", 4}}), "the job is gone");
  EXPECT_EQ(why(2, {}), "") << "any job may have all back";
}

TEST(Slimming, OfCodaIsApartFromWhichJobIsNext) {
  const auto coda = compose("coda");
  ASSERT_TRUE(coda);
  EXPECT_TRUE(coda->slimming.slims());
  EXPECT_EQ(coda->composition.size, "asked");
  EXPECT_EQ(coda->composition.throttle, "none");
  EXPECT_EQ(coda->composition.pass, "arrays");
  EXPECT_FALSE(compose("qssf")->slimming.slims());
  for (const char* const policy : {"synergy_tune", "fifo+proportional", "fifo+greedy"}) {
    EXPECT_EQ(compose(policy).error().code, Code::unsupported) << policy;
  }
}

TEST(Slimming, RunsWithCodaAsTheWholePolicy) {
  Site site("coda");
  const auto job = site.submit(2, 16, {.cores_needed = 6});
  site.live(20min);
  EXPECT_EQ(site.cores(job), 6);
}

}  // namespace
}  // namespace almanac::steer
