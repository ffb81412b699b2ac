// SPDX-License-Identifier: Apache-2.0
#include "slurm/command_link.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "slurm/fixture_data_test.h"
#include "slurm/skew.h"

namespace almanac::slurm {
namespace {

/// Answers to commands by their beginning, and what was asked.
struct Slurm {
  std::map<std::string, Printed> answers;
  std::vector<std::string> asked;

  /// A \x1f in an answer stands for the delimiter that was asked for.
  RunCommand run() {
    return [this](const std::vector<std::string>& argv, Duration) -> Result<Printed> {
      asked.push_back(fmt::format("{}", fmt::join(argv, " ")));
      constexpr std::string_view kOption = "--delimiter=";
      const auto told = std::find_if(argv.begin(), argv.end(), [&](const std::string& word) {
        return word.starts_with(kOption);
      });
      for (auto [begin, said] : answers) {
        if (!asked.back().starts_with(begin)) continue;
        for (auto at = said.out.find('\x1f'); at != std::string::npos; at = said.out.find('\x1f')) {
          said.out.replace(at, 1, told->substr(kOption.size()));
        }
        return said;
      }
      return Printed{};
    };
  }
};

Slurm slurm_22_05() {
  Slurm made;
  made.answers["squeue"] = {.out = fixture_data("squeue_22_05.json")};
  made.answers["sinfo"] = {.out = fixture_data("sinfo_22_05.json")};
  made.answers["scontrol show partition"] = {.out =
                                                 "PartitionName=vc1 Nodes=g[001-002] State=UP\n"};
  return made;
}

TEST(CommandLink, TellsWhatIsNew) {
  Slurm slurm = slurm_22_05();
  CommandLink link(slurm.run());
  const auto first = link.news();
  ASSERT_TRUE(first) << to_string(first.error());
  EXPECT_TRUE(first->whole);
  EXPECT_EQ(first->jobs.size(), 8U);
  EXPECT_EQ(first->nodes.size(), 3U);
  EXPECT_EQ(first->partitions->size(), 1U);
  const auto second = link.news();
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->jobs.empty() && second->nodes.empty());

  slurm.answers["squeue"] = {.err = "slurm_load_jobs error: Unable to contact slurm controller",
                             .status = 1};
  const auto failed = link.news();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::unavailable);
  slurm.answers["squeue"] = {.out = fixture_data("squeue_22_05.json")};
  EXPECT_TRUE(link.news()->whole);
}

TEST(CommandLink, TakesNoClockForSlowThatAnswersLate) {
  constexpr std::int64_t kTold = 1'795'317'361;
  const Time at{std::chrono::seconds(kTold)};
  EXPECT_EQ(skew_of(kTold, at + 100ms, at + 900ms), 0ms);
  EXPECT_EQ(skew_of(kTold, at + 100ms, at + 9s), 0ms) << "it was long on its way";
  EXPECT_EQ(skew_of(kTold, at - 10s, at - 9900ms), 9900ms);
  EXPECT_EQ(skew_of(kTold, at + 10s, at + 11s), -9s);
}

TEST(CommandLink, AsksScontrolForNodesOfLaterReleases) {
  Slurm slurm = slurm_22_05();
  slurm.answers["squeue"] = {.out = fixture_data("jobs_24_05.json")};
  slurm.answers["scontrol show nodes --json"] = {.out = fixture_data("nodes_24_05.json")};
  CommandLink link(slurm.run());
  const auto news = link.news();
  ASSERT_TRUE(news) << to_string(news.error());
  EXPECT_EQ(news->nodes[0].name, "n1");
}

TEST(CommandLink, ChangesInAnOrderThatSlurmTakes) {
  Slurm slurm;
  CommandLink link(slurm.run());
  const std::vector<JobChange> changes{
      {.job = JobNumber{5}, .priority = 7, .held = false, .required_nodes = "g1"},
      {.job = JobNumber{6}, .priority = JobChange::kUsual},
      {.job = JobNumber{7}, .held = true, .comment = "why not"},
      {.job = JobNumber{8}, .site_factor = -3},
      {.job = JobNumber{9}, .held = true, .of_user = true},
      {.job = JobNumber{10}, .held = false, .required_nodes = "g1", .shards = 2}};
  for (const auto& done : link.change(changes)) EXPECT_TRUE(done);
  EXPECT_EQ(slurm.asked,
            (std::vector<std::string>{
                "scontrol update jobid=5 ReqNodeList=g1", "scontrol release 5",
                "scontrol update jobid=5 Priority=7", "scontrol release 6",
                "scontrol update jobid=7 AdminComment=why not", "scontrol hold 7",
                "scontrol update jobid=8 SiteFactor=-3", "scontrol uhold 9",
                "scontrol update jobid=10 ReqNodeList=g1 Gres=shard:2", "scontrol release 10"}));
}

TEST(CommandLink, SaysWhyAChangeWasRefused) {
  const std::pair<const char*, Code> kinds[] = {
      {"Invalid job id specified for job 5", Code::not_found},
      {"Job is no longer pending execution for job 5", Code::conflict},
      {"Invalid user id for job 5", Code::unsupported},
      {"Access/permission denied for job 5", Code::unsupported},
      {"slurm_update error: Socket timed out on send/recv operation", Code::unavailable},
      {"slurm_update error: Invalid authentication credential", Code::unavailable},
      {"slurm_update error: Job can not be altered now, try again later", Code::unavailable},
      {"Slurm backup controller in standby mode", Code::unavailable},
      {"Zero Bytes were transmitted or received", Code::unavailable},
      {"", Code::unavailable},
      {"Requested node configuration is not available", Code::invalid},
      {"Words that a later Slurm may have", Code::invalid}};
  for (const auto& [words, code] : kinds) {
    Slurm slurm;
    slurm.answers["scontrol"] = {.err = words, .status = 1};
    CommandLink link(slurm.run());
    const std::vector<JobChange> change{{.job = JobNumber{5}, .priority = 7}};
    const auto done = link.change(change);
    ASSERT_FALSE(done[0]) << words;
    EXPECT_EQ(done[0].error().code, code) << words;
  }
}

TEST(CommandLink, WaitsForASilentControllerOnce) {
  Slurm slurm;
  slurm.answers["scontrol"] = {
      .err = "slurm_update error: Unable to contact slurm controller (connect failure)",
      .status = 1};
  CommandLink link(slurm.run());
  const std::vector<JobChange> changes{{.job = JobNumber{5}, .priority = 7},
                                       {.job = JobNumber{6}, .priority = 8}};
  const auto done = link.change(changes);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[1].error().code, Code::unavailable);
  EXPECT_EQ(slurm.asked.size(), 1U);
  slurm.answers["scontrol"] = {.err = "Job is no longer pending execution", .status = 1};
  EXPECT_EQ(link.change(changes)[1].error().code, Code::conflict);
  EXPECT_EQ(slurm.asked.size(), 3U) << "a refusal of one says nothing of the next";
}

TEST(CommandLink, TellsWhatASiteIs) {
  Slurm slurm;
  slurm.answers["scontrol show config"] = {
      .out =
          "Configuration data as of 1795317361\nClusterName = helios\n"
          "SlurmUser = slurm(64030)\nSLURM_VERSION = 22.05.8\nSlurmctldHost[0] = c1\n"};
  slurm.answers["scontrol show federation"] = {.out = "Federation: far\n"};
  slurm.answers["sacctmgr"] = {.out = "Operator\n"};
  CommandLink link(slurm.run());
  const auto site = link.site();
  ASSERT_TRUE(site) << to_string(site.error());
  EXPECT_EQ(site->version, "22.05.8");
  EXPECT_EQ(site->cluster, "helios");
  EXPECT_TRUE(site->federated);
  EXPECT_EQ(site->is_operator, true);
  EXPECT_NE(site->skew, kNoDuration);
}

/// This process runs as a user without rights for as long as it lives; needs root.
class AsNobody {
 public:
  AsNobody() : is_done_(::seteuid(kNobody) == 0) {}
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (is_done_ && ::seteuid(0) != 0) std::abort();
  }
  bool is_done() const { return is_done_; }

 private:
  static constexpr uid_t kNobody = 65534;
  bool is_done_;
};

TEST(CommandLink, AsksAccountingForRightsByName) {
  const AsNobody nobody;
  if (!nobody.is_done()) GTEST_SKIP() << "only root can become another user";
  Slurm slurm;
  slurm.answers["scontrol show config"] = {
      .out = "SLURM_VERSION = 22.05.8\nSlurmUser = slurm(64030)\n"};
  slurm.answers["sacctmgr -nP show user nobody"] = {.out = "Operator\n"};
  CommandLink link(slurm.run());
  EXPECT_EQ(link.site().value().is_operator, true);
  slurm.answers["sacctmgr -nP show user nobody"] = {.out = "None\n"};
  EXPECT_EQ(link.site().value().is_operator, false);
}

TEST(CommandLink, RunsNothingAgainThatHasEnded) {
  Slurm slurm;
  CommandLink link(slurm.run());
  EXPECT_TRUE(link.end(JobNumber{5}, Fate::requeue));
  EXPECT_EQ(slurm.asked, (std::vector<std::string>{"scontrol requeue Incomplete 5"}));
}

TEST(CommandLink, GivesEndedJobsInOrderOfEnd) {
  Slurm slurm;
  const auto row = [](int number, int end) {
    return fmt::format(
        "{}\x1f{}\x1f"
        "COMPLETED\x1f"
        "100\x1f"
        "100\x1f"
        "110\x1f{}\x1f"
        "10\x1f\x1f"
        "1\x1f\x1f\x1f"
        "1\x1f"
        "0\x1f"
        "ann\x1f"
        "a\x1f"
        "p\x1fq\x1fn\n",
        number, number, end);
  };
  slurm.answers["sacct"] = {.out = row(7, 300) + row(0, 250) + row(8, 200) + row(9, 400)};
  CommandLink link(slurm.run());
  std::vector<std::uint32_t> numbers;
  const auto done = link.ended(Time(150s), Time(400s), [&](Job&& job) -> Result<void> {
    numbers.push_back(static_cast<std::uint32_t>(job.number));
    return {};
  });
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{8, 7}));
  EXPECT_EQ(link.unread_rows(), 1) << "without a number";
}

}  // namespace
}  // namespace almanac::slurm
