// SPDX-License-Identifier: Apache-2.0

/// \file
/// Small sites, each with one setting that is badly set on purpose: the search must name that
/// setting first. All have four nodes of eight GPUs, and a log of sixteen days.
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "advice/candidates.h"
#include "advice/play.h"
#include "advice/search.h"
#include "site/cluster.h"
#include "site/read.h"
#include "support/temporary_folder.h"

namespace almanac::advice {
namespace {

constexpr int kDays = 16;

/// A log, job by job.
struct Log {
  trace::Trace trace{};

  void add(int day, Duration at, const std::string& user, int gpus, Duration run, Duration limit) {
    trace::Job& job = trace.jobs.emplace_back();
    job.id = trace::JobKey{trace.jobs.size()};
    job.request.submit = Time{24h * (20'000 + day) + at};
    job.request.gpus = gpus;
    job.request.nodes = (gpus + 7) / 8;
    job.request.cpus = static_cast<float>(gpus);
    job.request.user = trace.names.intern(user);
    job.request.account = trace.names.intern("lab");
    job.request.partition = job.request.vc = trace.names.intern("gpu");
    job.request.qos = trace.names.intern("normal");
    job.request.time_limit = limit;
    job.outcome.run = run;
    job.outcome.state = trace::JobState::completed;
  }
};

struct BadlySet {
  const char* name;
  const char* config;     ///< Lines of slurm.conf.
  const char* partition;  ///< More of the partition's line.
  const char* qos;        ///< Limits of the QOS: MaxTRESPU|MaxJobsPU; "" for none.
  const char* sdiag;      ///< Mean cycle in microseconds; "" for no sdiag.
  void (*fill)(Log&, int day);
  const char* expected;  ///< The setting to name first.
};

/// 24 GPUs are busy for 8 h. A job of all GPUs waits for them, and ten of 16 GPUs behind it; 20
/// short jobs of one GPU would fit on the 8 free GPUs if backfill came to them.
void behind_a_wide_job(Log& log, int day) {
  log.add(day, 8h, "long", 24, 8h, 8h);
  log.add(day, 8h + 1min, "wide", 32, 1h, 2h);
  for (int each = 0; each < 10; ++each) log.add(day, 8h + 2min, "middle", 16, 20min, 1h);
  for (int each = 0; each < 20; ++each) {
    log.add(day, 8h + 5min + each * 10min, "short" + std::to_string(each % 4), 1, 30min, 1h);
  }
}

/// Two users submit jobs of a whole node and jobs of one GPU all day, more than the cluster runs
/// until the evening. JobSize puts the whole nodes first.
void small_next_to_large(Log& log, int day) {
  for (int hour = 0; hour < 22; ++hour) {
    for (const char* const user : {"ann", "eve"}) {
      for (int each = 0; each < 2; ++each) log.add(day, hour * 1h, user, 8, 1h, 2h);
      log.add(day, hour * 1h + 1min, user, 1, 1h, 2h);
    }
  }
}

/// Three users ran much on the first four days, and the others nothing. From then on, all six
/// submit a burst each day.
void used_much_long_ago(Log& log, int day) {
  for (const char* const user : {"once1", "once2", "once3"}) {
    if (day < 4) log.add(day, 0h, user, 8, 23h, 24h);
    if (day >= 4) {
      for (int each = 0; each < 4; ++each) log.add(day, 8h, user, 8, 1h, 2h);
    }
  }
  for (const char* const user : {"now1", "now2", "now3"}) {
    if (day < 4) log.add(day, 1h, user, 1, 1min, 2h);
    if (day >= 4) {
      for (int each = 0; each < 8; ++each) log.add(day, 8h, user, 8, 1h, 2h);
    }
  }
}

/// Four users with eight jobs of a GPU each, which would all fit at once.
void within_the_cluster(Log& log, int day) {
  for (int user = 0; user < 4; ++user) {
    for (int each = 0; each < 8; ++each) {
      log.add(day, 8h, "user" + std::to_string(user), 1, 1h, 2h);
    }
  }
}

/// Jobs of a node arrive all day and keep all nodes busy; a job of all nodes waits for a moment in
/// which none is.
void wide_in_a_stream(Log& log, int day) {
  log.add(day, 8h, "wide", 32, 1h, 2h);
  for (int each = 0; each < 48; ++each) {
    log.add(day, 7h + each * 15min, "user" + std::to_string(each % 4), 8, 50min, 1h);
  }
}

/// One job in eight requests more time than the others.
void some_with_long_limits(Log& log, int day) {
  for (int each = 0; each < 16; ++each) {
    const bool is_long = each % 8 == 0;
    log.add(day, each * 1h, "user" + std::to_string(each % 4), 8, is_long ? 5h : 1h,
            is_long ? 48h : 2h);
  }
}

/// Bursts of one-minute jobs that all fit, next to a long job. Backfill has just had a cycle for a
/// job before each.
void short_bursts(Log& log, int day) {
  log.add(day, 0h, "long", 1, 24h, 24h);
  for (int hour = 8; hour < 16; ++hour) {
    log.add(day, hour * 1h + 7min, "before", 1, 1min, 2min);
    for (int each = 0; each < 30; ++each) {
      log.add(day, hour * 1h + 7min + 5s, "user" + std::to_string(each % 4), 1, 1min, 2min);
    }
  }
}

/// One user submits a day's work in the morning, four others a few jobs each later.
void behind_a_hog(Log& log, int day) {
  for (int each = 0; each < 50; ++each) log.add(day, 8h, "hog", 8, 1h, 2h);
  for (int user = 0; user < 4; ++user) {
    for (int each = 0; each < 3; ++each) {
      log.add(day, 9h, "user" + std::to_string(user), 8, 1h, 2h);
    }
  }
}

constexpr const char* kAge = "PriorityWeightAge=1000\n";

const BadlySet kSites[] = {
    {"TinyMaxJobTest", "PriorityWeightAge=1000\nSchedulerParameters=bf_max_job_test=3\n", "", "",
     "", behind_a_wide_job, "bf_max_job_test"},
    {"NoContinue", "PriorityWeightAge=1000\nSchedulerParameters=bf_yield_interval=200000\n", "", "",
     "4000000", behind_a_wide_job, "bf_continue"},
    {"NoAge", "PriorityWeightAge=0\nPriorityWeightJobSize=1000\n", "", "", "", small_next_to_large,
     "PriorityWeightAge"},
    {"NoDecay", "PriorityWeightFairshare=1000\nPriorityDecayHalfLife=0\n", "", "", "",
     used_much_long_ago, "PriorityDecayHalfLife"},
    {"LowQosLimit", kAge, "", "gres/gpu=2|", "", within_the_cluster, "qos.normal.MaxTRESPU"},
    {"TinyWindow", "PriorityWeightAge=1000\nSchedulerParameters=bf_window=10\n", "", "", "",
     wide_in_a_stream, "bf_window"},
    // Not named: the log does not show that such jobs never started, so their limits count as
    // MaxTime.
    {"ShortMaxTime", kAge, "MaxTime=1-0", "", "", some_with_long_limits, ""},
    {"TinyQueueDepth",
     "PriorityWeightAge=1000\n"
     "SchedulerParameters=default_queue_depth=1\n",
     "", "", "", short_bursts, "default_queue_depth"},
    {"NoFairShare", "PriorityWeightAge=1000\nPriorityWeightFairshare=0\n", "", "", "", behind_a_hog,
     "PriorityWeightFairshare"},
    {"LowJobLimit", kAge, "", "|2", "", within_the_cluster, "qos.normal.MaxJobsPU"},
    {"NoBackfill", "PriorityWeightAge=1000\nSchedulerType=sched/builtin\n", "", "", "",
     behind_a_wide_job, "SchedulerType"},
    {"HugeInterval", "PriorityWeightAge=1000\nSchedulerParameters=bf_interval=3600\n", "", "", "",
     behind_a_wide_job, "bf_interval"},
};

site::Site site_of(const BadlySet& made, const Log& log) {
  const TemporaryFolder folder;
  folder.write("slurm.conf",
               std::string("ClusterName=c\nPriorityType=priority/multifactor\n"
                           "AccountingStorageEnforce=associations,limits,qos\n"
                           "AccountingStorageTRES=gres/gpu\nGresTypes=gpu\n"
                           "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n") +
                   made.config +
                   "NodeName=n[1-4] CPUs=32 CoresPerSocket=32 RealMemory=256000 Gres=gpu:8\n"
                   "PartitionName=gpu Nodes=ALL Default=YES " +
                   made.partition + "\n");
  folder.write("qos.txt",
               std::string("Name|Priority|UsageFactor|MaxTRESPU|MaxJobsPU\nnormal|0|1.0|") +
                   (*made.qos == 0 ? "|" : made.qos) + "\n");
  std::string associations =
      "Cluster|Account|User|Partition|Share|QOS|Def QOS\n"
      "c|root|||1|normal|\nc|lab|||1|normal|\n";
  std::set<NameId> users;
  for (const trace::Job& job : log.trace.jobs) users.insert(job.request.user);
  for (const NameId user : users) {
    associations += "c|lab|" + std::string(log.trace.names[user]) + "||1|normal|\n";
  }
  folder.write("assoc.txt", associations);
  if (*made.sdiag != 0) {
    folder.write("sdiag.txt", std::string("sdiag output at Thu Nov 26 21:44:26 2026 (1795729466)\n"
                                          "Data since      Thu Nov 26 21:40:10 2026 (1795729210)\n"
                                          "Backfilling stats\n\tTotal cycles: 48\n\tMean cycle: ") +
                                  made.sdiag +
                                  "\n\tDepth Mean: 100\n\tDepth Mean (try depth): 100\n");
  }
  auto site = site::read_site(folder / "");
  EXPECT_TRUE(site) << to_string(site.error());
  return std::move(*site);
}

Result<KnobSearch> search(const BadlySet& made, std::size_t few_jobs = kFewJobs) {
  Log log;
  for (int day = 0; day < kDays; ++day) made.fill(log, day);
  std::stable_sort(
      log.trace.jobs.begin(), log.trace.jobs.end(),
      [](const trace::Job& a, const trace::Job& b) { return a.request.submit < b.request.submit; });
  const auto site = std::make_shared<const site::Site>(site_of(made, log));
  const auto cluster = site::cluster_of(*site, "site");
  if (!cluster) return tl::unexpected(cluster.error());
  const auto play = Play::of(std::move(log.trace), *cluster, 24h * 28, {.site = site, .seed = 1});
  if (!play) return tl::unexpected(play.error());
  const auto today = play->under(slurm_today(play->log(), true));
  return search_knobs(*play, *today, few_jobs);
}

std::string first_of(const KnobSearch& found) {
  return found.changes.empty() ? "" : name_of(found.changes.front().settings.front());
}

class BadlySetSites : public testing::TestWithParam<BadlySet> {};

TEST_P(BadlySetSites, AreNamedFirst) {
  const auto found = search(GetParam());
  ASSERT_TRUE(found) << to_string(found.error());
  std::string all;
  for (const Change& each : found->changes) {
    all += fmt::format("{}: {:.2f} times ({:.0f} s -> {:.0f} s)\n", in_words(each),
                       each.users.times, each.before.avg_wait_s, each.after.avg_wait_s);
  }
  EXPECT_EQ(first_of(*found), GetParam().expected) << all;
}

INSTANTIATE_TEST_SUITE_P(All, BadlySetSites, testing::ValuesIn(kSites),
                         [](const auto& made) { return std::string(made.param.name); });

TEST(KnobSearch, FindsTheSameOnPartsOfTheWeeksFirst) {
  const auto whole = search(kSites[0]);
  const auto halved = search(kSites[0], 10);
  ASSERT_TRUE(whole && halved);
  EXPECT_EQ(first_of(*halved), first_of(*whole));
  EXPECT_EQ(halved->candidates, whole->candidates);
  EXPECT_EQ(whole->simulations, whole->candidates);
  EXPECT_GT(halved->simulations, whole->simulations);
  EXPECT_LT(halved->jobs, whole->jobs) << "most values are tried on few jobs only";
  const auto again = search(kSites[0], 10);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->changes.front().users.times, halved->changes.front().users.times);
}

}  // namespace
}  // namespace almanac::advice
