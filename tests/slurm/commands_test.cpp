// SPDX-License-Identifier: Apache-2.0

/// \file
/// A real Slurm by its own commands: what they tell, what they change, what is refused; what the
/// doctor says of it; its accounting in the store.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "accounting/import.h"
#include "base/wall_clock.h"
#include "slurm/command_link.h"
#include "slurm/doctor.h"
#include "slurm/task_array.h"
#include "slurm/test_cluster.h"
#include "support/temporary_folder.h"

namespace almanac::slurm {
namespace {

std::optional<Job> job_of(const News& news, std::uint32_t number) {
  const auto found = std::find_if(news.jobs.begin(), news.jobs.end(),
                                  [&](const Job& job) { return job.number == JobNumber{number}; });
  return found == news.jobs.end() ? std::nullopt : std::optional(*found);
}

TEST(Commands, TellAndChangeARealSlurm) {
  SKIP_WITHOUT_SLURM(.nodes = 2);
  const TestCluster cluster({.nodes = 2});
  const auto runs = cluster.submit("--gres=gpu:4 -c 4 -t 60 --wrap 'sleep 600'");
  const auto held =
      cluster.submit("-H --gres=gpu:2 -J \"$(printf 'caf\\351')\" --wrap 'sleep 600'");
  ASSERT_TRUE(cluster.becomes(runs, "RUNNING"));
  CommandLink link;
  const auto site = link.site();
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_FALSE(site->version.empty());
  EXPECT_EQ(site->is_operator, true);
  EXPECT_LT(std::chrono::abs(site->skew), 1min);
  const auto first = link.news();
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_EQ(first->nodes.size(), 2U);
  EXPECT_EQ(first->nodes[0].gpus, 8);
  const auto running = job_of(*first, runs);
  ASSERT_TRUE(running);
  EXPECT_EQ(running->state, State::running);
  EXPECT_EQ(running->limit, 1h);
  ASSERT_EQ(running->holds.size(), 1U);
  EXPECT_EQ(running->holds[0].gpu_count, 4);
  EXPECT_EQ(running->holds[0].gpus, 0b1111U);
  EXPECT_TRUE(job_of(*first, held)->held);
  EXPECT_EQ(job_of(*first, held)->name, "caf\xEF\xBF\xBD") << "no UTF-8";

  const std::vector<JobChange> changes{
      {.job = JobNumber{held}, .held = false, .required_nodes = "n002", .comment = "ours"},
      {.job = JobNumber{runs}, .priority = 7, .required_nodes = "n002"},
      {.job = JobNumber{99'999}, .priority = 7}};
  const auto done = link.change(changes);
  EXPECT_TRUE(done[0]) << to_string(done[0].error());
  EXPECT_EQ(done[1].error().code, Code::conflict) << to_string(done[1].error());
  EXPECT_EQ(done[2].error().code, Code::not_found);
  EXPECT_TRUE(cluster.becomes(held, "RUNNING"));
  const auto second = link.news();
  ASSERT_TRUE(second) << to_string(second.error());
  const auto placed = job_of(*second, held);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->holds.at(0).node, "n002");
  EXPECT_EQ(placed->comment, "ours");
  EXPECT_TRUE(link.end(JobNumber{runs}, Fate::requeue));
  EXPECT_TRUE(cluster.becomes(runs, "PENDING"));
  EXPECT_TRUE(link.end(JobNumber{runs}, Fate::cancel));
  EXPECT_TRUE(cluster.becomes(runs, "CANCELLED"));
  EXPECT_TRUE(link.end(JobNumber{runs}, Fate::requeue));
  EXPECT_EQ(cluster.of_job(runs, "state"), "CANCELLED") << "what has ended is not run again";
  EXPECT_EQ(link.power(std::vector<std::string>{"nobody"}, false).error().code, Code::not_found);

  const Diagnosis diagnosis = diagnose(*site, *first, link.can(), link.way());
  EXPECT_NE(diagnosis.of(Lever::watching), Verdict::broken);
  EXPECT_EQ(diagnosis.of(Lever::learning), Verdict::broken) << "there is no accounting here";
}

TEST(Commands, BringAccountingIntoTheStore) {
  SKIP_WITHOUT_SLURM(.nodes = 1, .accounting = true);
  const TestCluster cluster({.nodes = 1, .accounting = true});
  // Accounting of 22.05 may call a job "allocation" that ends as soon as it has begun.
  const auto well = cluster.submit("-A science --gres=gpu:2 -J well --wrap 'sleep 3'");
  const auto badly =
      cluster.submit("-A science -J \"$(printf 'bad\\nly')\" --wrap 'sleep 3; exit 3'");
  const auto is_ended = [&](std::uint32_t job) {
    return eventually(
        [&] { return cluster.must(fmt::format("sacct -nPXj {} -o end", job)).find("20") == 0; });
  };
  ASSERT_TRUE(is_ended(well) && is_ended(badly));
  const TemporaryFolder folder;
  auto store = store::Store::open(folder / "almanac.db");
  ASSERT_TRUE(store) << to_string(store.error());
  CommandLink link;
  accounting::Import import(*store, link, wall_clock() - 24h);
  // Rows of the last minutes are left for later: it is later.
  const auto step = import.step(wall_clock() + 10min);
  ASSERT_TRUE(step) << to_string(step.error());
  EXPECT_EQ(step->jobs, 2);
  const auto found = store->job(accounting::stored_number(JobNumber{well}, 0)).value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, trace::JobState::completed);
  EXPECT_EQ(found->asked->name, "well");
  EXPECT_EQ(found->asked->gpus, 2);
  const auto other = store->job(accounting::stored_number(JobNumber{badly}, 0)).value();
  ASSERT_TRUE(other);
  EXPECT_EQ(other->state, trace::JobState::failed);
  EXPECT_EQ(other->asked->name, "bad\nly");
}

TEST(Commands, SayWhatWorksAtARealSite) {
  SKIP_WITHOUT_SLURM(.nodes = 1);
  const TestCluster cluster({.nodes = 1});
  const char* const program = std::getenv("ALMANAC_PROGRAM");
  ASSERT_NE(program, nullptr);
  const auto doctor = cluster.run(fmt::format("{} slurm doctor", program));
  EXPECT_EQ(doctor.status, 1) << doctor.out;
  EXPECT_NE(doctor.out.find("learning      no"), std::string::npos) << doctor.out;
  EXPECT_NE(doctor.out.find("watching      ok"), std::string::npos) << doctor.out;
  EXPECT_NE(doctor.out.find("-> set up slurmdbd"), std::string::npos) << doctor.out;
  const auto import =
      cluster.run(fmt::format("{} slurm import --state {}", program, cluster.folder()));
  EXPECT_NE(import.status, 0);
  EXPECT_NE(import.out.find("no history to learn from"), std::string::npos) << import.out;
}

TEST(Commands, AreNotBentByWhatAUserWantsThemToShow) {
  SKIP_WITHOUT_SLURM();
  const TestCluster cluster({.nodes = 1});
  const JobNumber job{cluster.submit("-H --array=1-2 --wrap true")};
  const std::pair<const char*, const char*> wishes[] = {
      {"SQUEUE_STATES", "COMPLETED"}, {"SQUEUE_USERS", "nobody"}, {"SQUEUE_FORMAT", "%j"},
      {"SQUEUE_PARTITION", "vc1"},    {"SINFO_FORMAT", "%T"},     {"SCANCEL_STATE", "RUNNING"}};
  for (const auto& [name, value] : wishes) ::setenv(name, value, 1);
  CommandLink link;
  const auto news = link.news();
  const auto tasks = tasks_of(job);
  const auto ended = link.end(job, Fate::cancel);
  for (const auto& [name, value] : wishes) ::unsetenv(name);
  ASSERT_TRUE(news) << to_string(news.error());
  EXPECT_EQ(news->jobs.size(), 1U);
  ASSERT_TRUE(tasks) << to_string(tasks.error());
  EXPECT_EQ(tasks->size(), 2U);
  EXPECT_TRUE(ended);
  EXPECT_EQ(cluster.must("squeue -h"), "");
}

}  // namespace
}  // namespace almanac::slurm
