// SPDX-License-Identifier: Apache-2.0

/// \file
/// The service with real processes: what users ask is what happens, and a new service goes on where
/// an old one was.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/wall_clock.h"
#include "live/box.h"

namespace almanac::machine {
namespace {

namespace fs = std::filesystem;

using store::JobNumber;
using trace::JobState;

TEST_F(Box, RunsACommandWithItsGpus) {
  begin();
  const JobNumber first = submit(shell("sleep 0.2; echo $CUDA_VISIBLE_DEVICES $ALMANAC_JOB_ID", 3));
  const JobNumber second = submit(shell("echo $CUDA_VISIBLE_DEVICES; exit 3", 1));
  ASSERT_TRUE(comes_to(first, JobState::completed));
  ASSERT_TRUE(comes_to(second, JobState::failed));
  EXPECT_EQ(text("almanac-1.out"), "0,1,2 1\n");
  EXPECT_EQ(text("almanac-2.out"), "3\n");
  EXPECT_EQ(look(second).exit_status, 3);
  EXPECT_EQ(look(second).reason, "exit status 3");
  EXPECT_GE(look(first).attained, 200ms);
}

TEST_F(Box, HidesGpusFromJobsWithoutThem) {
  Machine machine = made_up(2);
  machine.cluster.classes.front().cpus = 8;
  begin({.state = state(), .machine = machine, .policy = "fifo", .futures = 0});
  const JobNumber job = submit(shell("echo [$CUDA_VISIBLE_DEVICES] $ALMANAC_CPUS", 0));
  ASSERT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(text("almanac-1.out"), "[] 1\n");
}

TEST_F(Box, RefusesWhatCanNeverRun) {
  begin();
  const auto refused = service_->submit(shell("true", 5));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("never"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(service_->submit({.name = "nothing"}));
  EXPECT_TRUE(service_->jobs()->empty());
}

TEST_F(Box, RefusesLessThanIsCounted) {
  begin();
  for (const auto ask : {+[](store::Submission& asked) { asked.cpus = 0.0004; },
                         +[](store::Submission& asked) { asked.memory_gb = 0.0004; },
                         +[](store::Submission& asked) { asked.gpu_share = 0.0004; }}) {
    store::Submission asked = shell("true");
    ask(asked);
    const auto refused = service_->submit(asked);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::usage);
  }
}

TEST_F(Box, CancelsWhatWaitsAndWhatRuns) {
  begin();
  const JobNumber runs = submit(shell("sleep 1000", 4));
  const JobNumber waits = submit(shell("echo never", 4));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  EXPECT_EQ(service_->job(waits)->why_word, "Resources");
  ASSERT_TRUE(service_->cancel({waits}, me_, false));
  EXPECT_EQ(look(waits).state, JobState::cancelled);
  ASSERT_TRUE(service_->cancel({runs}, me_, false));
  ASSERT_TRUE(comes_to(runs, JobState::cancelled));
  EXPECT_EQ(look(runs).attempts, 1);
  EXPECT_EQ(text("almanac-2.out"), "");
  const auto again = service_->cancel({runs}, me_, false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "job 1 has ended: CANCELLED");
}

TEST_F(Box, LetsOnlyTheOwnerTouchAJob) {
  begin();
  const JobNumber job = submit(shell("sleep 1000", 4));
  const service::Caller other{.uid = ::geteuid() + 1};
  for (const auto& refused : {service_->cancel({job}, other, false), service_->hold({job}, other),
                              service_->requeue({job}, other)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "job 1 belongs to me");
  }
  EXPECT_FALSE(service_->set_policy("sjf", other));
  ASSERT_TRUE(service_->cancel({job}, me_, false));
  ASSERT_TRUE(comes_to(job, JobState::cancelled));
}

TEST_F(Box, HoldsAndReleases) {
  begin();
  store::Submission asked = shell("true");
  asked.hold = true;
  const JobNumber held = submit(asked);
  const JobNumber free = submit(shell("true"));
  ASSERT_TRUE(comes_to(free, JobState::completed));
  EXPECT_EQ(look(held).state, JobState::pending);
  EXPECT_EQ(service_->job(held)->why_word, "JobHeldUser");
  ASSERT_TRUE(service_->release({held}, me_));
  ASSERT_TRUE(comes_to(held, JobState::completed));
}

TEST_F(Box, LooksAtNoJobOfAnEarlierPage) {
  begin();
  store::Submission asked = shell("true");
  asked.hold = true;
  const JobNumber first = submit(asked);
  const JobNumber second = submit(asked);
  const JobNumber third = submit(asked);
  std::vector<JobNumber> looked_at;
  const auto page =
      service_->jobs({.ended_since = Time{}, .above = first, .wanted = [&](auto& job) {
                        looked_at.push_back(job.number);
                        return job.number != second;
                      }});
  EXPECT_EQ(looked_at, (std::vector<JobNumber>{second, third}));
  ASSERT_EQ(page->size(), 1U);
  EXPECT_EQ(page->front().job.number, third);
}

TEST_F(Box, RunsAnArrayAFewAtATime) {
  begin("fifo", 8);
  store::Submission asked =
      shell("echo + >> log; sleep 0.05; echo - >> log; echo $ALMANAC_ARRAY_TASK_ID >> ids");
  asked.indices = {0, 3, 4, 7, 9, 11};
  asked.at_once = 2;
  const auto numbers = service_->submit(asked);
  ASSERT_TRUE(numbers);
  ASSERT_EQ(numbers->size(), 6U);
  for (const JobNumber number : *numbers) ASSERT_TRUE(comes_to(number, JobState::completed));
  int running = 0;
  for (const char each : text("log")) {
    if (each == '+') ++running;
    if (each == '-') --running;
    EXPECT_LE(running, 2);
  }
  std::istringstream ids(text("ids"));
  const std::vector<int> found{std::istream_iterator<int>(ids), {}};
  EXPECT_EQ(std::vector<int>({0, 3, 4, 7, 9, 11}).size(), found.size());
}

TEST_F(Box, RunsAgainWhatIsRequeued) {
  begin();
  const JobNumber job =
      submit(shell("echo $ALMANAC_ATTEMPT; [ $ALMANAC_ATTEMPT = 2 ] || sleep 1000"));
  ASSERT_TRUE(eventually([&] { return text("almanac-1.out") == "1\n"; }));
  ASSERT_TRUE(service_->requeue({job}, me_));
  ASSERT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(text("almanac-1.out"), "1\n2\n");
  ASSERT_TRUE(service_->requeue({job}, me_));
  ASSERT_TRUE(eventually([&] { return text("almanac-1.out") == "1\n2\n3\n"; }));
  ASSERT_TRUE(service_->cancel({job}, me_, false));
  ASSERT_TRUE(comes_to(job, JobState::cancelled));
}

TEST_F(Box, AnswersBeforeItsPolicyHasLearnedAndStartsNothing) {
  begin();
  const JobNumber runs = submit(shell("sleep 1000"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const JobNumber waits = submit(shell("true", 4));
  end();
  // It takes the first step when it runs.
  auto made =
      open_local_service({.state = state(), .machine = made_up(4), .policy = "qssf", .futures = 0});
  ASSERT_TRUE(made) << to_string(made.error());
  service_ = std::move(*made);
  EXPECT_EQ(service_->job(waits)->why_word, "Learning");
  EXPECT_EQ(look(runs).state, JobState::running);
  EXPECT_EQ(service_->overview().gpus_busy, 1);
  stop_ = false;
  thread_ = std::thread([this] { service_->run(stop_); });
  ASSERT_TRUE(service_->cancel({runs}, me_, false));
  EXPECT_TRUE(comes_to(waits, JobState::completed));
}

TEST_F(Box, StartsJobsAtOnceWhereTheServiceBeforeNeverLearned) {
  begin("qssf", 1);
  const JobNumber runs = submit(shell("while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const JobNumber waits = submit(shell("true"));
  const auto learns = [&] { return service_->store().get("learns").value(); };
  ASSERT_TRUE(eventually([&] { return learns() == "0"; }));
  end();
  const auto open = [&] {
    auto made = open_local_service(
        {.state = state(), .machine = made_up(1), .policy = "qssf", .futures = 0});
    ASSERT_TRUE(made) << to_string(made.error());
    service_ = std::move(*made);
  };
  // It decides only when it runs: each of these is a service that is killed before.
  open();
  EXPECT_EQ(service_->job(waits)->why_word, "Learning");
  EXPECT_EQ(learns(), "1");
  for (const char* const again : {"once", "twice"}) {
    service_.reset();
    open();
    EXPECT_NE(service_->job(waits)->why_word, "Learning") << again;
    ASSERT_EQ(service_->overview().warnings.size(), 1U);
  }
  std::ofstream(folder_ / "work" / "go").close();
  stop_ = false;
  thread_ = std::thread([this] { service_->run(stop_); });
  EXPECT_TRUE(comes_to(waits, JobState::completed));
  EXPECT_TRUE(eventually([&] { return learns() == "0"; })) << "it learns all the same";
  EXPECT_TRUE(service_->overview().warnings.empty());
}

TEST_F(Box, KnowsThatAJobEndedBeforeItCouldBeStopped) {
  begin("fifo", 1);
  const JobNumber job = submit(shell("echo once >> log; while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(eventually([&] { return text("log") == "once\n"; }));
  store::Job stopped = look(job);
  end();
  {
    // As a service leaves it that dies between the disk and the process.
    auto store = store::Store::open(state() + "/almanac.db");
    ASSERT_TRUE(store);
    stopped.state = JobState::pending;
    store::Store::Batch batch;
    batch.put(stopped);
    ASSERT_TRUE(store->commit(batch));
  }
  std::ofstream(folder_ / "work" / "go").close();
  ASSERT_TRUE(eventually([&] { return fs::exists(fs::path(state()) / "runs/1.1/exit.json"); }));
  begin("fifo", 1);
  ASSERT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(text("log"), "once\n");
}

TEST_F(Box, NeverGivesAGpuTwice) {
  begin("srtf", 4);  // which stops jobs
  // Each locks its GPUs until its last process has gone.
  const std::string body =
      "trap 'exit 143' TERM; for g in $(echo $CUDA_VISIBLE_DEVICES | tr , ' '); do "
      "eval \"exec $((g + 3))>gpu$g\"; flock -n -E 77 $((g + 3)); "
      "[ $? = 77 ] && echo gpu$g is taken >> faults; done; "
      "sleep 0.0$1 & wait $!";
  std::vector<JobNumber> jobs;
  for (int at = 0; at < 60; ++at) {
    store::Submission asked = shell("");
    asked.argv = {"sh", "-c", body, "sh", std::to_string(1 + at * 7 % 9)};
    asked.gpus = 1 + at * 5 % 4;
    asked.user = at % 3 == 0 ? "ann" : "bob";
    asked.name = "kind" + std::to_string(at % 5);
    asked.time_limit = Duration{1000 + 500 * (at % 5)};
    jobs.push_back(submit(asked));
  }
  for (const JobNumber job : jobs) {
    EXPECT_TRUE(eventually([&] {
      const JobState state = look(job).state;
      return state != JobState::pending && state != JobState::running;
    }));
  }
  EXPECT_EQ(text("faults"), "");
}

TEST_F(Box, RunsWholePolicies) {
  for (const std::string policy : {"tiresias:1:2", "yarn_cs", "afs"}) {
    begin(policy, 2);
    std::vector<JobNumber> jobs;
    for (int at = 0; at < 4; ++at) {
      store::Submission asked = shell("sleep 0.3");
      asked.gpus = 1 + at % 2;
      asked.requeue = trace::Requeue::yes;
      jobs.push_back(submit(asked));
    }
    for (const JobNumber job : jobs) EXPECT_TRUE(comes_to(job, JobState::completed)) << policy;
    end();
  }
}

TEST_F(Box, ChangesThePolicyWhileJobsRunAndWait) {
  begin("fifo", 1);
  const JobNumber runs = submit(shell("sleep 0.5"));
  std::vector<JobNumber> waiting;
  for (int at = 0; at < 5; ++at) waiting.push_back(submit(shell("true")));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  ASSERT_TRUE(service_->set_policy("qssf", me_));
  EXPECT_EQ(service_->overview().policy, "qssf");
  for (const JobNumber job : waiting) EXPECT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(look(runs).attempts, 1);
  const auto refused = service_->set_policy("ces", me_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(service_->overview().policy, "qssf");
  end();
  begin("fifo", 1);
  EXPECT_EQ(service_->overview().policy, "qssf") << "the store remembers";
}

TEST_F(Box, DoesNotBeginWithoutTheStoreOfWhatRuns) {
  begin();
  const JobNumber runs = submit(shell("while [ ! -e go ]; do sleep 0.02; done"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  end();
  const std::filesystem::path store = state() + "/almanac.db";
  std::filesystem::rename(store, folder_ / "kept");
  const auto refused = open_local_service({.state = state(), .machine = made_up(4), .futures = 0});
  ASSERT_FALSE(refused) << "what runs would be ended, and its number given again";
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("job 1 has run here"), std::string::npos)
      << refused.error().message;
  std::filesystem::rename(folder_ / "kept", store);
  begin();
  EXPECT_EQ(look(runs).state, JobState::running);
  std::ofstream(folder_ / "work" / "go").close();
  EXPECT_TRUE(comes_to(runs, JobState::completed));
}

TEST_F(Box, ANewServiceAdoptsWhatRunsAndKeepsTheOrder) {
  begin("fifo", 1);
  const JobNumber runs = submit(shell("echo once; while [ ! -e go ]; do sleep 0.02; done; exit 7"));
  std::vector<JobNumber> waiting;
  for (int at = 0; at < 4; ++at) {
    waiting.push_back(submit(shell("echo " + std::to_string(at) + " >> order")));
  }
  ASSERT_TRUE(eventually([&] { return text("almanac-1.out") == "once\n"; }));
  end();
  begin("fifo", 1);
  EXPECT_EQ(look(runs).state, JobState::running);
  EXPECT_EQ(service_->jobs()->size(), 5U);
  std::ofstream(folder_ / "work" / "go").close();
  ASSERT_TRUE(comes_to(runs, JobState::failed));
  EXPECT_EQ(look(runs).exit_status, 7);
  EXPECT_EQ(text("almanac-1.out"), "once\n");
  for (const JobNumber job : waiting) EXPECT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(text("order"), "0\n1\n2\n3\n");
}

TEST_F(Box, LetsNoMoreOfAnArrayRunAfterARestart) {
  begin("fifo", 8);
  store::Submission asked = shell("echo + >> log; while [ ! -e go ]; do sleep 0.02; done");
  asked.indices = {0, 1, 2, 3};
  asked.at_once = 2;
  const auto numbers = service_->submit(asked);
  ASSERT_TRUE(numbers);
  ASSERT_TRUE(eventually([&] { return text("log") == "+\n+\n"; }));
  end();
  begin("fifo", 8);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(text("log"), "+\n+\n");
  std::ofstream(folder_ / "work" / "go").close();
  for (const JobNumber number : *numbers) EXPECT_TRUE(comes_to(number, JobState::completed));
}

TEST_F(Box, RefusesAClusterWithoutTheGpusOfAJobThatRuns) {
  begin("fifo", 4);
  const JobNumber job = submit(shell("sleep 1000", 4));
  ASSERT_TRUE(comes_to(job, JobState::running));
  end();
  const auto refused = open_local_service(
      {.state = (folder_ / "state").string(), .machine = made_up(2), .futures = 0});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(refused.error().message, "job 1 runs, and what it holds the cluster has no more");
  begin("fifo", 4);
  ASSERT_TRUE(service_->cancel({job}, me_, false));
  EXPECT_TRUE(comes_to(job, JobState::cancelled));
}

TEST_F(Box, RefusesTextThatNoProgramCanHave) {
  begin();
  store::Submission asked = shell("true");
  asked.argv.back().push_back('\0');
  EXPECT_FALSE(service_->submit(asked));
  EXPECT_TRUE(comes_to(submit(shell("true")), JobState::completed));
}

TEST_F(Box, LearnsOfEndsThatNobodySaw) {
  begin("fifo", 1);
  const JobNumber runs = submit(shell("sleep 0.3; exit 5"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  end();
  ASSERT_TRUE(eventually([&] { return fs::exists(fs::path(state()) / "runs/1.1/exit.json"); }));
  const Time ended = wall_clock();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  begin("fifo", 1);
  ASSERT_TRUE(comes_to(runs, JobState::failed));
  EXPECT_EQ(look(runs).exit_status, 5);
  // It counts for as long as it ran, not until the service looked.
  EXPECT_LT(look(runs).end, ended + 1s);
  EXPECT_EQ(look(runs).end - look(runs).start, look(runs).attained);
}

TEST_F(Box, CountsRunTimeThoughTheWallWasSetBack) {
  begin("fifo", 1);
  store::Submission asked = shell("true");
  asked.hold = true;
  store::Job held = look(submit(asked));
  end();
  {
    auto store = store::Store::open(state() + "/almanac.db");
    ASSERT_TRUE(store);
    held.since += 1h;
    store::Store::Batch batch;
    batch.put(held);
    ASSERT_TRUE(store->commit(batch));
  }
  begin("fifo", 1);
  const JobNumber job = submit(shell("sleep 0.2"));
  EXPECT_GE(look(job).submit, held.since) << "the service goes on where it was";
  ASSERT_TRUE(comes_to(job, JobState::completed));
  EXPECT_GE(look(job).attained, 200ms);
}

TEST_F(Box, GivesNobodyAGpuThatIsOutOfService) {
  begin("fifo", 2);
  const JobNumber runs = submit(shell("while [ ! -e go ]; do sleep 0.02; done", 1));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const std::string node = service_->nodes().front().name;
  // Its own GPU: it goes on, and no job follows it there.
  ASSERT_TRUE(service_->set_gpu_trouble(node, 0, "uncorrectable memory errors", me_));
  const JobNumber other = submit(shell("echo $CUDA_VISIBLE_DEVICES"));
  ASSERT_TRUE(comes_to(other, JobState::completed));
  EXPECT_EQ(text("almanac-2.out"), "1\n");
  const JobNumber both = submit(shell("echo $CUDA_VISIBLE_DEVICES", 2));
  std::ofstream(folder_ / "work" / "go").close();
  ASSERT_TRUE(comes_to(runs, JobState::completed));
  const JobNumber after = submit(shell("echo $CUDA_VISIBLE_DEVICES"));
  EXPECT_EQ(look(both).state, JobState::pending);
  ASSERT_TRUE(service_->cancel({both}, me_, false));
  ASSERT_TRUE(comes_to(after, JobState::completed));
  EXPECT_EQ(text("almanac-4.out"), "1\n");
  EXPECT_EQ(service_->nodes().front().gpus.front().trouble, "uncorrectable memory errors");
  end();
  begin("fifo", 2);
  EXPECT_FALSE(service_->nodes().front().gpus.front().in_service) << "the store remembers";
  const JobNumber again = submit(shell("true", 2));
  ASSERT_TRUE(service_->set_gpu_trouble(node, 0, "", me_));
  EXPECT_TRUE(comes_to(again, JobState::completed));
}

TEST_F(Box, TellsWhereAJobStandsInTheLine) {
  begin("sjf+limit", 1);
  const JobNumber runs = submit(shell("sleep 1000"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  const auto limited = [&](Duration limit, bool hold) {
    store::Submission asked = shell("true");
    asked.time_limit = limit;
    asked.hold = hold;
    return submit(asked);
  };
  const JobNumber long_one = limited(3h, false);
  const JobNumber short_one = limited(1h, false);
  const JobNumber held = limited(30min, true);
  const JobNumber middle = limited(2h, false);
  const auto place = [&](JobNumber job) { return service_->job(job)->place; };
  EXPECT_EQ(place(short_one), 1);
  EXPECT_EQ(place(middle), 2);
  EXPECT_EQ(place(long_one), 3);
  EXPECT_EQ(place(held), 0) << "no policy sees it";
  EXPECT_EQ(place(runs), 0);
  const auto views = service_->jobs();
  for (const service::JobView& view : *views) EXPECT_EQ(view.place, place(view.job.number));
  ASSERT_TRUE(service_->cancel({short_one}, me_, false));
  EXPECT_EQ(place(middle), 1);
  EXPECT_EQ(place(long_one), 2);
  ASSERT_TRUE(service_->set_policy("fifo", me_));
  EXPECT_EQ(place(long_one), 1);
  EXPECT_EQ(place(middle), 2);
  ASSERT_TRUE(service_->cancel({runs}, me_, false));
  EXPECT_TRUE(comes_to(middle, JobState::completed));
}

TEST_F(Box, TellsWhatTheModelDrawsWhereNoDriverTells) {
  energy::PowerModel model;
  model.idle_w = 500;
  model.full_w = 900;
  begin({.state = state(), .machine = made_up(2), .futures = 0, .power = model});
  EXPECT_EQ(service_->overview().power_w, 500);
  EXPECT_FALSE(service_->overview().power_is_measured);
  store::Submission asked = shell("sleep 1000");
  asked.gpus = 2;
  const JobNumber runs = submit(asked);
  ASSERT_TRUE(comes_to(runs, JobState::running));
  EXPECT_DOUBLE_EQ(service_->overview().power_w, 1300);
  ASSERT_TRUE(service_->cancel({runs}, me_, false));
  ASSERT_TRUE(comes_to(runs, JobState::cancelled));
  EXPECT_EQ(service_->overview().power_w, 500);
}

TEST_F(Box, DrainsTheNode) {
  begin("sjf", 2);
  const std::string node = service_->nodes().front().name;
  const JobNumber runs = submit(shell("until test -e go; do sleep 0.05; done"));
  ASSERT_TRUE(comes_to(runs, JobState::running));
  ASSERT_TRUE(service_->set_drained(node, true, me_));
  const JobNumber waits = submit(shell("true"));
  ASSERT_TRUE(service_->set_policy("easy", me_));
  end();
  begin("fifo", 2);
  EXPECT_TRUE(service_->nodes().front().drained);
  EXPECT_EQ(look(waits).state, JobState::pending);
  EXPECT_EQ(look(runs).state, JobState::running);
  std::ofstream(folder_ / "work/go");
  EXPECT_TRUE(comes_to(runs, JobState::completed));
  ASSERT_TRUE(service_->set_drained(node, false, me_));
  EXPECT_TRUE(comes_to(waits, JobState::completed));
}

TEST_F(Box, LosesNoJobWhileItsOwnProgramIsBeingReplaced) {
  const std::string program = std::getenv("ALMANAC_SHEPHERD");
  const fs::path link = folder_ / "shepherd";
  ::setenv("ALMANAC_SHEPHERD", link.c_str(), 1);
  begin();
  const JobNumber job = submit(shell("echo once"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(text("almanac-1.out"), "");
  fs::create_symlink(program, link);
  EXPECT_TRUE(comes_to(job, JobState::completed));
  EXPECT_EQ(text("almanac-1.out"), "once\n");
  end();
  ::setenv("ALMANAC_SHEPHERD", program.c_str(), 1);
}

TEST_F(Box, SaysWhyAJobFailedByItsLog) {
  begin();
  const JobNumber failed = submit(shell(
      "echo epoch 1; echo 'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB' >&2; "
      "exit 1"));
  const JobNumber silent = submit(shell("exit 1"));
  ASSERT_TRUE(comes_to(failed, JobState::failed));
  ASSERT_TRUE(comes_to(silent, JobState::failed));
  const auto lines = [&](JobNumber job) {
    return service_->explain(job, service::Eyes::owner).value_or(std::vector<std::string>());
  };
  ASSERT_TRUE(eventually([&] { return lines(failed).size() == 2; }));
  EXPECT_EQ(
      lines(failed)[1].rfind("its log says: GPU out of memory, line 2: RuntimeError: CUDA", 0), 0U)
      << lines(failed)[1];
  EXPECT_EQ(lines(silent).size(), 1U) << "nothing is said of what is not known";
}

// A log that its user has made a link to what another may read is not opened.
TEST_F(Box, JudgesNoLogThatIsALink) {
  begin();
  const fs::path secret = folder_ / "secret";
  std::ofstream(secret) << "RuntimeError: CUDA out of memory\n";
  store::Submission asked = shell("ln -sf " + secret.string() + " almanac-1.out; exit 1");
  const JobNumber failed = submit(asked);
  ASSERT_TRUE(comes_to(failed, JobState::failed));
  const JobNumber later = submit(shell("echo 'RuntimeError: CUDA out of memory'; exit 1"));
  ASSERT_TRUE(comes_to(later, JobState::failed));
  ASSERT_TRUE(
      eventually([&] { return service_->explain(later, service::Eyes::owner)->size() == 2; }));
  EXPECT_EQ(service_->explain(failed, service::Eyes::owner)->size(), 1U);
}

}  // namespace
}  // namespace almanac::machine
