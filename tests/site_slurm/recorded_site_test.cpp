// SPDX-License-Identifier: Apache-2.0
//
// Recorded scenarios of a real Slurm, played from what a user has: the site's files and the log of
// sacct. When passes and cycles began, what operators typed and how long epilogs took is unknown
// here.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiment/experiment.h"
#include "site/site.h"
#include "support/shared_data.h"

namespace almanac {
namespace {

struct Agreement {
  int starts = 0;
  int equal = 0;  ///< Within one interval of backfill.
  int nodes = 0;  ///< On the same nodes.
  std::string differences{};
};

Agreement play(const std::string& folder) {
  experiment::Experiment experiment;
  experiment.trace = folder + "/sacct.txt";
  experiment.cluster = folder;
  experiment.policies = {"slurm"};
  experiment.restart = {.one_gpu = 0s, .up_to_8_gpus = 0s, .more_gpus = 0s};
  const auto prepared = experiment::prepare(experiment);
  if (!prepared) {
    ADD_FAILURE() << folder << ": " << to_string(prepared.error());
    return {};
  }
  const auto schedule = experiment::simulate_run(*prepared, 0);
  if (!schedule) {
    ADD_FAILURE() << folder << ": " << to_string(schedule.error());
    return {};
  }
  const double interval = seconds(prepared->runs[0].site->config.scheduler.bf_interval);
  Agreement found;
  for (std::size_t at = 0; at < prepared->trace.jobs.size(); ++at) {
    const trace::Job& job = prepared->trace.jobs[at];
    if (job.outcome.start == kNoTime || job.outcome.run <= 0s) continue;
    ++found.starts;
    const Time start = schedule->jobs[at].start;
    const double late = start == kNoTime ? NAN : seconds(start - job.outcome.start);
    if (std::abs(late) <= interval) {
      ++found.equal;
    } else {
      found.differences +=
          fmt::format("  job {}: {:.0f} s later\n", prepared->trace.id(job.id), late);
    }
  }
  return found;
}

TEST(RecordedSites, StartMostJobsWhenTheRealControllerDid) {
  const auto golden = shared_path("golden/slurm");
  if (!golden) {
    note_missing_data("golden/slurm");
    GTEST_SKIP();
  }
  std::vector<std::string> folders;
  for (const auto& each : std::filesystem::directory_iterator(*golden)) {
    if (std::filesystem::exists(each.path() / "sacct.txt")) folders.push_back(each.path().string());
  }
  std::sort(folders.begin(), folders.end());
  int starts = 0;
  int equal = 0;
  for (const std::string& folder : folders) {
    const Agreement found = play(folder);
    starts += found.starts;
    equal += found.equal;
    fmt::print("{}: {} of {} starts\n{}", std::filesystem::path(folder).filename().string(),
               found.equal, found.starts, found.differences);
  }
  EXPECT_GE(equal, starts * 7 / 10) << equal << " of " << starts;
}

}  // namespace
}  // namespace almanac
