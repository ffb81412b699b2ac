// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service of a Slurm in memory: what it answers, what it may be told, and that it leaves Slurm
/// alone where it cannot be sure.
#include "steer_slurm/slurm_service.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "fake_link.h"
#include "steer/control.h"
#include "steer/node_weight.h"
#include "steer/undo.h"
#include "support/temporary_folder.h"

namespace almanac::steer {
namespace {

using store::JobNumber;
using testing::AllOf;
using testing::HasSubstr;
using Numbers = std::vector<std::uint32_t>;

constexpr service::Caller kRoot{.uid = 0, .may_all = true};
constexpr service::Caller kAnn{.uid = 1000};
constexpr service::Caller kBob{.uid = 1001};

/// Two nodes, one of them full; behind it jobs of 9, 8, ... 1 minutes of all GPUs of both.
FakeSlurm crowded(const std::string& cluster) {
  FakeSlurm slurm;
  slurm.site.cluster = cluster;  // that no two tests mean the same one
  slurm.add_partition("v", 2, 8);
  slurm.submit("ann", 8, 1h);
  slurm.submit("ann", 8, 1h);
  slurm.pass(1s);
  for (int minutes = 9; minutes > 0; --minutes) {
    slurm.submit("ann", 8, minutes * 1min);
    slurm.now += 1s;
  }
  return slurm;
}

class SlurmServiceTest : public testing::Test {
 protected:
  Config config(Switch order = Switch::on) const {
    Config made{.state = folder_ / "state", .policy = "sjf+limit", .policy_is_told = true};
    made.settings.levers["order"] = order;
    return made;
  }
  void open(Switch order = Switch::on) { open(config(order)); }
  void open(const Config& config) {
    auto made = steer_slurm::SlurmService::open(config, std::make_unique<FakeLink>(slurm_));
    ASSERT_TRUE(made) << to_string(made.error());
    service_ = std::move(*made);
  }
  /// What the shadow fifo makes of a service that finds this past in its store.
  service::Comparison compare_with_fifo(const store::Store::Batch& past) {
    Config plan = config();
    plan.shadow = "fifo";
    std::filesystem::create_directories(plan.state);
    EXPECT_TRUE(store::Store::open(plan.state + "/almanac.db")->commit(past));
    open(plan);
    for (int time = 0; time < 6000 && !service_->shadow(); ++time) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return service_->shadow().value_or(service::Comparison{});
  }
  /// Looks until there is no more to do.
  void settle() {
    while (service_->step()) {
    }
  }
  /// Does `change`, which waits for the thread that looks.
  Result<void> while_it_looks(const std::function<Result<void>()>& change) {
    Result<void> done = fail(Code::unavailable, "");
    std::atomic<bool> is_done = false;
    std::thread user([&] {
      done = change();
      is_done = true;
    });
    while (!is_done) service_->step();
    user.join();
    return done;
  }

  FakeSlurm slurm_ = crowded(testing::UnitTest::GetInstance()->current_test_info()->name());
  TemporaryFolder folder_;
  std::unique_ptr<steer_slurm::SlurmService> service_;
};

/// Its accounting answers when it is told to, and no earlier.
class SlowAccounting final : public FakeLink {
 public:
  SlowAccounting(FakeSlurm& slurm, std::atomic<bool>& is_asked, std::atomic<bool>& may_answer)
      : FakeLink(slurm), is_asked_(is_asked), may_answer_(may_answer) {}
  Result<void> ended(Time, Time, const manager::TakeEnded&) override {
    is_asked_ = true;
    while (!may_answer_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return fail(Code::unavailable, "the database is slow");
  }

 private:
  std::atomic<bool>& is_asked_;
  std::atomic<bool>& may_answer_;
};

TEST_F(SlurmServiceTest, GoesOnDecidingWhileAccountingTakesItsTime) {
  slurm_.site.parameters["AccountingStorageType"] = "accounting_storage/slurmdbd";
  std::atomic<bool> is_asked = false;
  std::atomic<bool> may_answer = false;
  Config plan = config();
  plan.connect = [&]() -> Result<std::unique_ptr<manager::Link>> {
    return std::make_unique<SlowAccounting>(slurm_, is_asked, may_answer);
  };
  open(plan);
  while (!is_asked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  settle();
  EXPECT_EQ(slurm_.queue().front(), 11U) << "the shortest is the first";
  const auto warnings = [&] { return service_->overview().warnings; };
  EXPECT_THAT(warnings(), testing::Not(testing::Contains(HasSubstr("accounting"))));
  may_answer = true;
  while (warnings().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_THAT(warnings(), testing::Contains(HasSubstr("the database is slow")));
}

TEST_F(SlurmServiceTest, SaysWhatThereIsAndWhy) {
  open();
  settle();
  const service::Overview seen = service_->overview();
  EXPECT_EQ(seen.running, 2);
  EXPECT_EQ(seen.waiting, 9);
  EXPECT_EQ(seen.gpus, 16);
  EXPECT_EQ(seen.gpus_busy, 16);
  EXPECT_TRUE(seen.warnings.empty());
  ASSERT_EQ(service_->nodes().size(), 2U);
  EXPECT_EQ(service_->nodes()[1].gpus[0].jobs, std::vector{JobNumber{2}});
  const auto first = service_->job(JobNumber{11});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->place, 1);
  EXPECT_EQ(first->believed, 1min);
  EXPECT_EQ(first->job.asked->vc, "v");
  EXPECT_EQ(service_->jobs({})->size(), 11U);
  slurm_.job(11).reason = "Priority";
  settle();
  const auto lines = service_->explain(JobNumber{11}, service::Eyes::owner);
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ(
      (*lines)[0],
      "job 11 waits under sjf+limit: not enough GPUs: needs 8, 0 free on the nodes it can use");
  EXPECT_EQ((*lines)[1], "position 1 of 9 in v, expected run time 1m 00s");
  EXPECT_TRUE((*lines)[2].starts_with("Slurm says: Priority, priority 1, site factor "));
}

TEST_F(SlurmServiceTest, KeepsFewOfManyJobsInMemory) {
  constexpr std::size_t kMostEnded = 50;
  constexpr int kBatches = 20;
  constexpr int kBatch = 16;
  Config few = config();
  few.most_ended = kMostEnded;
  slurm_.jobs.clear();
  open(few);
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int job = 0; job < kBatch; ++job) slurm_.submit("ann", 1, 1s);
    slurm_.pass(1s);
    settle();
    slurm_.pass(2s);
    settle();
    std::erase_if(slurm_.jobs,
                  [](const auto& each) { return each.second.job.state == manager::State::ended; });
    const auto is_small = [&] { return service_->counters().records < kMostEnded + kBatch; };
    for (int tries = 0; tries < 60'000 && !is_small(); ++tries) {
      settle();
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(is_small());
  }
  EXPECT_EQ(service_->counters().ended.at(trace::JobState::completed), kBatches * kBatch);
  EXPECT_EQ(service_->store().jobs({}).value().size(), kBatches * kBatch);
  // It decides as before.
  for (int minutes = 3; minutes > 0; --minutes) slurm_.submit("ann", 8, minutes * 1min);
  settle();
  EXPECT_EQ(service_->overview().waiting, 3);
  EXPECT_EQ(service_->job(JobNumber{slurm_.last})->believed, 1min);
}

TEST_F(SlurmServiceTest, BeginsAnewAsItIsThoughItsFileIsAnotherByNow) {
  Config few = config();
  few.most_ended = 10;
  few.policy = folder_.write("own.toml", "base = \"sjf+limit\"\n");
  slurm_.jobs.clear();
  open(few);
  folder_.write("own.toml", "base = \"fifo\"\n");
  for (int job = 0; job < 16; ++job) slurm_.submit("ann", 1, 1s);
  slurm_.pass(1s);
  settle();
  slurm_.pass(2s);
  settle();
  for (int tries = 0; tries < 60'000 && service_->counters().records > 0; ++tries) {
    settle();
    std::this_thread::sleep_for(1ms);
  }
  ASSERT_EQ(service_->counters().records, 0U);
  slurm_.submit("ann", 16, 3min);
  slurm_.submit("ann", 16, 1min);
  settle();
  EXPECT_EQ(service_->job(JobNumber{slurm_.last})->place, 1);
}

TEST_F(SlurmServiceTest, ExplainsALastingDecisionAlsoWhenItsPartitionIsGone) {
  Config lasting = config();
  lasting.policy = folder_.write("lasting.toml", "base = \"sjf+limit\"\npass = \"lease:1200\"\n");
  open(lasting);
  settle();
  slurm_.partitions.clear();
  settle();
  const auto lines = service_->explain(JobNumber{11}, service::Eyes::owner);
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 3U);
  EXPECT_EQ((*lines)[1], "position 1 of 9 in v, expected run time 1m 00s");
}

TEST_F(SlurmServiceTest, ForeseesWhenJobsStartThatItPutsInOrder) {
  open();
  settle();
  const auto shortest = service_->expect(JobNumber{11}, 10min);
  const auto longest = service_->expect(JobNumber{3}, 10min);
  ASSERT_TRUE(shortest && longest);
  EXPECT_GE(shortest->start_from, slurm_.now);
  EXPECT_LE(shortest->start_to, longest->start_to);
  EXPECT_LT(shortest->start_from, shortest->end_to);
  const auto view = service_->job(JobNumber{11});
  ASSERT_TRUE(view && view->expected);
  EXPECT_EQ(view->expected->start_to, shortest->start_to);
}

TEST_F(SlurmServiceTest, ForeseesThatAJobAtAQuotaWaitsForIt) {
  slurm_.site.parameters["AccountingStorageEnforce"] = "associations,limits";
  slurm_.limits.quotas = {{.account = "lab", .gpus = 8}};
  for (std::uint32_t job = 2; job <= 11; ++job) slurm_.jobs.erase(manager::JobNumber{job});
  slurm_.submit("ann", 4, 1h).reason = "AssocGrpGRES";
  slurm_.submit("bob", 8, 2h).account = "others";
  open();
  settle();
  EXPECT_EQ(service_->job(JobNumber{12})->why, "is at a quota: account lab has 8 of 8 GPUs");
  const auto limited = service_->expect(JobNumber{12}, 10min);
  const auto other = service_->expect(JobNumber{13}, 10min);
  ASSERT_TRUE(limited && other);
  EXPECT_EQ(other->start_to, other->at) << "the second node is free";
  EXPECT_GT(limited->start_from, limited->at);
  EXPECT_LE(limited->start_to, limited->at + 1h) << "the time limit of the job that has the 8 GPUs";
}

// The policy would have the shortest of those behind first; Slurm goes by its priorities, in which
// job 9 is the first.
TEST_F(SlurmServiceTest, ForeseesWhatSlurmDoesWhereThatDecides) {
  slurm_.jobs.at(manager::JobNumber{9}).job.priority = 1000;
  open(Switch::dry);
  settle();
  const auto first = service_->expect(JobNumber{9}, 10min);
  const auto shortest = service_->expect(JobNumber{11}, 10min);
  ASSERT_TRUE(first && shortest);
  EXPECT_LT(first->start_by, shortest->start_by);
}

TEST_F(SlurmServiceTest, ForeseesAJobThatNobodyHasSubmitted) {
  open();
  settle();
  const auto foreseen = [&](int gpus, Duration limit) {
    store::Submission asked{
        .vc = "v", .gpus = gpus, .time_limit = limit, .argv = {"true"}, .directory = "/"};
    for (int tries = 0; tries < 60'000; ++tries) {
      const auto found = service_->foresee(asked);
      if (!found || *found) return found.value_or(std::nullopt);
      std::this_thread::sleep_for(1ms);
    }
    return std::optional<service::Expected>();
  };
  const auto brief = foreseen(8, 30s), lengthy = foreseen(8, 2h), never = foreseen(64, 1h);
  ASSERT_TRUE(brief && lengthy && never);
  EXPECT_LT(brief->start_by, lengthy->start_by) << "the shortest goes first";
  EXPECT_EQ(never->start_from, kNever);
  EXPECT_EQ(service_->jobs({})->size(), 11U) << "nothing was submitted";
}

TEST_F(SlurmServiceTest, KeepsWhatHasEndedAndLearnsFromIt) {
  open();
  settle();
  FakeLink(slurm_).end(manager::JobNumber{11}, manager::Fate::cancel);
  slurm_.pass(61min);
  settle();
  const auto ended = service_->store().jobs({});
  ASSERT_TRUE(ended && ended->size() == 3U) << "one of them never ran";
  EXPECT_EQ(ended->front().state, trace::JobState::cancelled);
  EXPECT_EQ(ended->back().state, trace::JobState::completed);
  EXPECT_EQ(ended->back().attained, 1h);
  EXPECT_EQ(service_->counters().ended.at(trace::JobState::completed), 2U);
  EXPECT_EQ(service_->counters().ended.at(trace::JobState::cancelled), 1U);
  EXPECT_TRUE(service_->overview().warnings.empty());
}

TEST_F(SlurmServiceTest, LetsUsersChangeTheirOwnJobsOnly) {
  open(Switch::off);
  const auto cancel = [&](std::int64_t job, const service::Caller& who) {
    return while_it_looks([&] { return service_->cancel({JobNumber{job}}, who, false); });
  };
  EXPECT_EQ(cancel(5, kBob).error().code, Code::conflict);
  EXPECT_TRUE(cancel(5, kAnn));
  EXPECT_EQ(slurm_.job(5).state, manager::State::ended);
  EXPECT_TRUE(while_it_looks([&] { return service_->hold({JobNumber{6}}, kAnn); }));
  EXPECT_TRUE(slurm_.is_held(6));
  EXPECT_TRUE(while_it_looks([&] { return service_->release({JobNumber{6}}, kAnn); }));
  EXPECT_FALSE(slurm_.is_held(6));
  EXPECT_TRUE(while_it_looks([&] { return service_->hold({JobNumber{6}}, kRoot); }));
  EXPECT_EQ(while_it_looks([&] { return service_->release({JobNumber{6}}, kAnn); }).error().code,
            Code::conflict);
  EXPECT_TRUE(while_it_looks([&] { return service_->release({JobNumber{6}}, kRoot); }));
  EXPECT_FALSE(slurm_.is_held(6));
  EXPECT_EQ(cancel(99, kRoot).error().code, Code::not_found);
  EXPECT_EQ(service_->submit({}).error().code, Code::unsupported);
  EXPECT_EQ(service_->set_drained("v001", true, kRoot).error().code, Code::unsupported);
}

TEST_F(SlurmServiceTest, LeavesHeldAJobThatAUserHoldsBesideALever) {
  Config placing = config(Switch::off);
  placing.settings.levers["placement"] = Switch::on;
  open(placing);
  settle();
  ASSERT_TRUE(slurm_.is_held(11)) << "by the lever";
  for (const service::Caller& caller : {kAnn, kRoot}) {
    const std::uint32_t number = caller.may_all ? 10 : 11;
    EXPECT_TRUE(while_it_looks([&] { return service_->hold({JobNumber{number}}, caller); }));
  }
  // An hour of Slurm's would outlive the holds, which are renewed by the clock of this machine.
  for (const std::uint32_t number : {1U, 2U}) slurm_.job(number).state = manager::State::ended;
  settle();
  slurm_.pass(1s);
  EXPECT_EQ(slurm_.job(9).state, manager::State::running);
  for (const std::uint32_t number : {10U, 11U}) EXPECT_TRUE(slurm_.is_held(number)) << number;
  ASSERT_TRUE(ask_for_undo(folder_ / "state"));
  settle();
  for (const std::uint32_t number : {10U, 11U}) EXPECT_TRUE(slurm_.is_held(number)) << number;
  EXPECT_FALSE(slurm_.is_held(3));
}

TEST_F(SlurmServiceTest, ChangesItsPolicyWhileItRuns) {
  open();
  settle();
  EXPECT_EQ(slurm_.queue().front(), 11U);
  EXPECT_TRUE(while_it_looks([&] { return service_->set_policy("fifo", kRoot); }));
  settle();
  EXPECT_EQ(slurm_.queue(), (Numbers{3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(service_->set_policy("fifo", kAnn).error().code, Code::conflict);
  EXPECT_EQ(service_->set_policy("chronus", kRoot).error().code, Code::unsupported);
  EXPECT_EQ(service_->set_policy("synergy_greedy", kRoot).error().code, Code::unsupported);
}

TEST_F(SlurmServiceTest, RestsWhileTheControllerIsAway) {
  open(Switch::dry);
  slurm_.is_down = true;
  service_->step();
  ASSERT_EQ(service_->overview().warnings.size(), 1U);
  EXPECT_TRUE(service_->overview().warnings.front().starts_with(
      "the controller does not answer, all levers rest: "));
  EXPECT_EQ(service_->overview().waiting, 9) << "what was known last";
  slurm_.is_down = false;
  slurm_.jobs.erase(manager::JobNumber{5});
  service_->step();
  EXPECT_TRUE(service_->overview().warnings.empty());
  EXPECT_EQ(service_->overview().waiting, 8);
}

TEST_F(SlurmServiceTest, TakesItsSwitchesFromTheFolderAndUndoesWhenAsked) {
  const Numbers before = slurm_.queue();
  open(Switch::dry);
  settle();
  EXPECT_EQ(slurm_.queue(), before);
  const std::string state = folder_ / "state";
  ASSERT_TRUE(change_switches(state, [](Switches& all) { all["order"] = Switch::on; }));
  settle();
  settle();
  EXPECT_EQ(slurm_.queue().front(), 11U);
  ASSERT_TRUE(ask_for_undo(state));
  settle();
  EXPECT_FALSE(undo_is_asked(state));
  EXPECT_EQ(slurm_.queue(), before);
  settle();
  EXPECT_EQ(slurm_.queue(), before) << "all levers are off since";
  const service::LeverView order = read_status(state).value().manager.levers.front();
  EXPECT_EQ(order.how, Switch::off);
  EXPECT_EQ(order.done, 9U);
}

TEST_F(SlurmServiceTest, IsTurnedOnAgainAfterItStoodDown) {
  const std::string state = folder_ / "state";
  open();
  settle();
  for (const std::uint32_t job : {5U, 6U, 7U, 8U, 9U}) {
    slurm_.job(job).site_factor = 1000 + job;
    slurm_.job(job).user = job % 2 == 0 ? "ann" : "bob";
  }
  settle();
  EXPECT_EQ(service_->status().manager.levers.front().how, Switch::dry);
  EXPECT_EQ(read_switches(state)->at("order"), Switch::dry);
  ASSERT_TRUE(change_switches(state, [](Switches& all) { all["order"] = Switch::on; }));
  settle();
  EXPECT_EQ(service_->status().manager.levers.front().how, Switch::on);
}

TEST_F(SlurmServiceTest, KeepsWhatIsSwitchedWhileItStandsDown) {
  const std::string state = folder_ / "state";
  open();
  settle();
  for (const std::uint32_t job : {5U, 6U, 7U, 8U, 9U}) {
    slurm_.job(job).site_factor = 1000 + job;
    slurm_.job(job).user = job % 2 == 0 ? "ann" : "bob";
  }
  slurm_.meanwhile = [&] {
    ASSERT_TRUE(change_switches(state, [](Switches& all) { all["placement"] = Switch::off; }));
  };
  service_->step();
  slurm_.meanwhile = nullptr;
  EXPECT_EQ(read_switches(state), (Switches{{"order", Switch::dry}, {"placement", Switch::off}}));
  service_->step();
  const std::vector<service::LeverView> levers = service_->status().manager.levers;
  EXPECT_EQ(levers[0].how, Switch::dry);
  EXPECT_EQ(levers[1].how, Switch::off);
}

TEST_F(SlurmServiceTest, SaysThatItCannotReadItsSwitches) {
  open();
  std::ofstream(folder_ / "state/levers.json") << "{";
  service_->step();
  ASSERT_EQ(service_->overview().warnings.size(), 1U);
  EXPECT_TRUE(service_->overview().warnings.front().starts_with(folder_ / "state/levers.json"));
}

TEST_F(SlurmServiceTest, CanBeUndoneWhenItIsDead) {
  const Numbers before = slurm_.queue();
  const std::string state = folder_ / "state";
  open();
  settle();
  EXPECT_NE(slurm_.queue(), before);
  const auto connect = [&]() -> Result<std::unique_ptr<manager::Link>> {
    return std::make_unique<FakeLink>(slurm_);
  };
  EXPECT_EQ(undo_without_service(state, connect).error().code, Code::conflict);
  service_.reset();
  slurm_.pass(1h);  // some of them start
  const auto done = undo_without_service(state, connect);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 7);
  for (const auto& [number, one] : slurm_.jobs) {
    if (one.job.state == manager::State::pending) {
      EXPECT_EQ(one.job.site_factor, 0) << static_cast<std::uint32_t>(number);
    }
  }
}

TEST_F(SlurmServiceTest, SaysWhatItCannotTakeBackByThisWay) {
  const Numbers before = slurm_.queue();
  const std::string state = folder_ / "state";
  slurm_.powers = false;
  slurm_.nodes.at("v002").weight = 3 | kSleeps;  // by another way, and a service that is gone
  open();
  settle();
  ASSERT_NE(slurm_.queue(), before);
  ASSERT_TRUE(ask_for_undo(state));
  settle();
  EXPECT_FALSE(undo_is_asked(state)) << "it would be tried for ever";
  EXPECT_EQ(slurm_.queue(), before);
  const auto status = read_status(state);
  ASSERT_TRUE(status);
  ASSERT_EQ(status->left.size(), 1U);
  EXPECT_THAT(status->left.front(),
              AllOf(HasSubstr("not taken back: v002: weight 3"),
                    HasSubstr("this way weighs no nodes"), HasSubstr("scontrol reconfigure")));
  service_.reset();

  const auto connect = [&]() -> Result<std::unique_ptr<manager::Link>> {
    return std::make_unique<FakeLink>(slurm_);
  };
  const auto in_vain = undo_without_service(state, connect);
  ASSERT_TRUE(in_vain) << to_string(in_vain.error());
  EXPECT_EQ(in_vain->changes, 0);
  EXPECT_EQ(in_vain->left.size(), 1U);
  int failed = 0;
  ASSERT_TRUE(Journal::read(state + "/journal.jsonl", [&](const Entry& entry, const Failure& why) {
    if (!std::holds_alternative<WeightChange>(entry.what)) return;
    EXPECT_EQ(why, "this way weighs no nodes");
    ++failed;
  }));
  EXPECT_EQ(failed, 2) << "once each time";
  slurm_.powers = true;
  const auto done = undo_without_service(state, connect);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(done->changes, 1);
  EXPECT_TRUE(done->left.empty());
  EXPECT_EQ(slurm_.nodes.at("v002").weight, 3U);
}

/// A job of half an hour and a whole node, in a past of two days; an hour apart.
store::Job half_an_hour(int hour) {
  store::Job made;
  made.number = JobNumber{1000 + hour};
  made.submit = made.start = wall_clock() - 48h + hour * 1h;
  made.asked.change().user = "ann";
  made.asked.change().account = "lab";
  made.asked.change().vc = "v";
  made.asked.change().partition = "v";
  made.asked.change().gpus = 8;
  made.state = trace::JobState::completed;
  made.end = made.start + 30min;
  made.attained = 30min;
  return made;
}

TEST_F(SlurmServiceTest, PlaysAPastThatNamesPartitionsWhichShareNodes) {
  constexpr int kJobs = 10;
  slurm_.partitions.push_back({.name = "w", .nodes = {"v001", "v002"}});
  store::Store::Batch past;
  for (int hour = 0; hour < kJobs; ++hour) {
    store::Job each = half_an_hour(hour);
    if (hour % 2 == 1) each.asked.change().vc = "w";  // as accounting has it
    past.put(each);
  }
  const service::Comparison compared = compare_with_fifo(past);
  EXPECT_EQ(compared.real.jobs, kJobs);
  EXPECT_EQ(compared.played.jobs, kJobs);
  EXPECT_EQ(compared.other.jobs, kJobs);
}

TEST_F(SlurmServiceTest, PlaysAPastWithinTheQuotasOfToday) {
  slurm_.site.parameters["AccountingStorageEnforce"] = "associations,limits";
  slurm_.limits.quotas = {{.account = "lab", .gpus = 8}};
  store::Store::Batch past;
  for (int hour = 0; hour < 10; ++hour) {
    past.put(half_an_hour(hour));
    store::Job beside = half_an_hour(hour);
    beside.number = JobNumber{2000 + hour};
    past.put(beside);
  }
  const service::Comparison compared = compare_with_fifo(past);
  EXPECT_EQ(compared.real.avg_wait_s, 0) << "there was no quota then, and there are two nodes";
  EXPECT_NEAR(compared.played.avg_wait_s, seconds(15min), 1);
  EXPECT_NEAR(compared.other.avg_wait_s, seconds(15min), 1);
}

TEST_F(SlurmServiceTest, IsTheOnlyOneOfItsFolderAndOfItsSlurm) {
  open();
  const auto same = steer_slurm::SlurmService::open(config(), std::make_unique<FakeLink>(slurm_));
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().code, Code::conflict);
  Config elsewhere = config();
  elsewhere.state = folder_ / "other";
  const auto other = steer_slurm::SlurmService::open(elsewhere, std::make_unique<FakeLink>(slurm_));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::conflict);
}

TEST_F(SlurmServiceTest, LearnsPowerChangeThatComeAndGo) {
  open();
  const auto before = service_->cluster();
  EXPECT_EQ(before->gpus(), 16);
  manager::Node& node = slurm_.nodes["v003"];
  node = slurm_.nodes["v001"];
  node.name = "v003";
  node.busy = false;
  slurm_.partitions.front().nodes.push_back("v003");
  settle();
  EXPECT_EQ(service_->cluster()->gpus(), 24);
  EXPECT_EQ(before->gpus(), 16) << "a holder of the old one may go on with it";
  slurm_.nodes.erase("v003");
  slurm_.partitions.front().nodes.pop_back();
  settle();
  EXPECT_EQ(service_->cluster()->gpus(), 16);
}

TEST_F(SlurmServiceTest, RefusesAFederation) {
  slurm_.site.federated = true;
  const auto made = steer_slurm::SlurmService::open(config(), std::make_unique<FakeLink>(slurm_));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::unsupported);
}

}  // namespace
}  // namespace almanac::steer
