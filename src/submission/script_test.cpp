// SPDX-License-Identifier: Apache-2.0
#include "submission/script.h"

#include <csignal>
#include <cstdlib>
#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace almanac::submission {
namespace {

using store::JobNumber;
using store::Submission;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// 2026-11-21 12:00:00 UTC.
constexpr Time kNow(1'795'262'400s);

Result<Script> read(const std::string& lines, Submission base = {}) {
  return read_script("#!/bin/bash\n" + lines + "python train.py\n", "jobs/train.sh",
                     std::move(base), kNow);
}

/// Of a script with one line of Slurm's.
Submission asked(const std::string& options) {
  const auto script = read("#SBATCH " + options + "\n");
  EXPECT_TRUE(script) << to_string(script.error());
  return script ? script->asked : Submission{};
}

std::string refusal(const std::string& line) {
  const auto script = read(line + "\n");
  EXPECT_FALSE(script) << line;
  return script ? "" : to_string(script.error());
}

std::vector<std::string> notes(const std::string& lines) {
  const auto script = read(lines);
  EXPECT_TRUE(script) << to_string(script.error());
  return script ? script->notes : std::vector<std::string>{};
}

class InUtc : public testing::Test {
 protected:
  void SetUp() override { zone("UTC"); }
  static void zone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
};

using SubmissionScript = InUtc;

TEST_F(SubmissionScript, SaysWhatAScriptAsks) {
  const auto script = read(
      "#SBATCH --job-name=resnet\n"
      "#SBATCH --partition=night --qos urgent\n"
      "#SBATCH --gres=gpu:a100:4\n"
      "#SBATCH --cpus-per-task=8 --mem=64G\n"
      "#SBATCH -t 1-12:00:00\n"
      "#SBATCH -o logs/%x-%j.out -e logs/%x-%j.err\n"
      "\n"
      "# comment\n");
  ASSERT_TRUE(script) << to_string(script.error());
  const Submission& asked = script->asked;
  EXPECT_EQ(asked.name, "resnet");
  EXPECT_EQ(asked.vc, "night");
  EXPECT_EQ(asked.qos, "urgent");
  EXPECT_EQ(asked.gpus, 4);
  EXPECT_EQ(asked.gpu_type, "a100");
  EXPECT_EQ(asked.cpus, 8);
  EXPECT_EQ(asked.memory_gb, 64);
  EXPECT_EQ(asked.time_limit, 36h);
  EXPECT_EQ(asked.out, "logs/%x-%j.out");
  EXPECT_EQ(asked.err, "logs/%x-%j.err");
  EXPECT_THAT(asked.script, testing::EndsWith("python train.py\n"));
  EXPECT_THAT(script->notes, IsEmpty());
}

TEST_F(SubmissionScript, KeepsWhatNoLineSays) {
  Submission base;
  base.user = "ann";
  base.directory = "/home/ann";
  base.environment = {"A=1"};
  const auto script = read("", base);
  ASSERT_TRUE(script);
  EXPECT_EQ(script->asked.user, "ann");
  EXPECT_EQ(script->asked.directory, "/home/ann");
  EXPECT_THAT(script->asked.environment, ElementsAre("A=1"));
  EXPECT_EQ(script->asked.name, "train.sh");
}

TEST_F(SubmissionScript, ReadsLengthsAsSlurmDoes) {
  EXPECT_EQ(asked("-t 90").time_limit, 90min);
  EXPECT_EQ(asked("--time=90:30").time_limit, 90min + 30s);
  EXPECT_EQ(asked("-t2:00:00").time_limit, 2h);
  EXPECT_EQ(asked("-t 2-3").time_limit, 51h);
  EXPECT_EQ(asked("-t 2-03:30").time_limit, 51h + 30min);
  EXPECT_EQ(asked("-t 2-03:30:15").time_limit, 51h + 30min + 15s);
  EXPECT_EQ(asked("-t 0").time_limit, kNoDuration);
  EXPECT_EQ(asked("-t UNLIMITED").time_limit, kNoDuration);
}

TEST_F(SubmissionScript, ReadsWhatDisksMayBeUsed) {
  const auto io_mbs = [](const std::string& option) {
    return read("#ALMANAC " + option + "\n")->asked.io_mbs;
  };
  EXPECT_EQ(io_mbs("--io 200M"), 200);
  EXPECT_EQ(io_mbs("--io=1.5G"), 1536);
  EXPECT_EQ(io_mbs("--io=512K"), 0.5);
  EXPECT_EQ(io_mbs("--mem=1G"), std::nullopt);
  for (const char* wrong : {"0M", "200", "fast", "-1M"}) {
    EXPECT_THAT(refusal(std::string("#ALMANAC --io=") + wrong), HasSubstr("as 200M or 1.5G"));
  }
}

TEST_F(SubmissionScript, ReadsASignalThatWarns) {
  EXPECT_EQ(asked("--signal=USR1").warn_signal, SIGUSR1);
  EXPECT_EQ(asked("--signal=USR1").warn_before, 1min);
  const Submission said = asked("--signal=B:SIGUSR2@300");
  EXPECT_EQ(said.warn_signal, SIGUSR2);
  EXPECT_EQ(said.warn_before, 5min);
  EXPECT_TRUE(said.warn_shell);
  const Submission own = read("#ALMANAC --signal 10@60 --retries 3\n")->asked;
  EXPECT_EQ(own.warn_signal, 10);
  EXPECT_EQ(own.retries, 3);
  for (const char* const wrong : {"KILL", "9", "USR9", "USR1@", "@60", "USR1@x", "0"}) {
    EXPECT_THAT(refusal(std::string("#SBATCH --signal=") + wrong),
                HasSubstr("a signal, such as USR1"));
  }
}

TEST_F(SubmissionScript, ReadsMemoryAsSlurmDoes) {
  EXPECT_EQ(asked("--mem=2048").memory_gb, 2);
  EXPECT_EQ(asked("--mem=512M").memory_gb, 0.5);
  EXPECT_EQ(asked("--mem 1T").memory_gb, 1024);
  EXPECT_EQ(asked("--mem=32GB").memory_gb, 32);
  EXPECT_EQ(asked("-c 4 --mem-per-cpu=2G").memory_gb, 8);
  EXPECT_EQ(asked("--mem-per-gpu=16G --gpus=4").memory_gb, 64);
  EXPECT_EQ(asked("--mem=0").memory_gb, std::nullopt);
  EXPECT_EQ(asked("--mem-per-gpu=16G --cpus-per-gpu=4").memory_gb, std::nullopt);
}

TEST_F(SubmissionScript, CountsCoresOfTasksAndGpus) {
  EXPECT_EQ(asked("-N 1").cpus, std::nullopt);
  EXPECT_EQ(asked("-n 4").cpus, 4);
  EXPECT_EQ(asked("-n4 -c6").cpus, 24);
  EXPECT_EQ(asked("--ntasks-per-node=2 --cpus-per-task=3").cpus, 6);
  EXPECT_EQ(asked("--cpus-per-gpu=6 -G 2").cpus, 12);
}

TEST_F(SubmissionScript, FindsGpusHoweverTheyAreAsked) {
  for (const char* const options :
       {"--gres=gpu:2", "-G 2", "--gpus=2", "--gpus-per-node=2", "-n 2 --gpus-per-task=1"}) {
    EXPECT_EQ(asked(options).gpus, 2) << options;
    EXPECT_EQ(asked(options).gpu_type, "") << options;
  }
  EXPECT_EQ(asked("--gres=gpu").gpus, 1);
  EXPECT_EQ(asked("--gres=gpu:v100").gpus, 1);
  EXPECT_EQ(asked("--gres=gpu:v100").gpu_type, "v100");
  EXPECT_EQ(asked("--gpus=volta:3").gpu_type, "volta");
  EXPECT_EQ(asked("--gpus=volta:3").gpus, 3);
  EXPECT_EQ(asked("--gres=none").gpus, 0);
}

TEST_F(SubmissionScript, KeepsComments) {
  EXPECT_EQ(asked("--comment='for the paper, take 2'").comment, "for the paper, take 2");
  const auto script = read("#SBATCH --comment=theirs\n#ALMANAC --comment ours\n");
  ASSERT_TRUE(script) << to_string(script.error());
  EXPECT_EQ(script->asked.comment, "ours");
}

TEST_F(SubmissionScript, ReadsArrays) {
  const auto indices = [](const char* text) { return asked(std::string("-a ") + text).indices; };
  EXPECT_THAT(indices("0-3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(indices("1,3,5-7"), ElementsAre(1, 3, 5, 6, 7));
  EXPECT_THAT(indices("0-15:4"), ElementsAre(0, 4, 8, 12));
  EXPECT_THAT(indices("7,7,1"), ElementsAre(1, 7));
  EXPECT_EQ(asked("--array=0-15%4").at_once, 4);
  EXPECT_THAT(asked("--array=0-15%4").indices, testing::SizeIs(16));
  for (const char* const wrong :
       {"", "a", "3-1", "0-9:0", "5:2", "0-9%", "-1", "0-9999999", "1,,2"}) {
    EXPECT_THAT(refusal(std::string("#SBATCH --array=") + wrong),
                HasSubstr("a list of tasks, such as"))
        << wrong;
  }
}

TEST_F(SubmissionScript, ReadsDependencies) {
  EXPECT_THAT(asked("-d afterok:12:13").after_ok, ElementsAre(JobNumber{12}, JobNumber{13}));
  EXPECT_THAT(asked("-d afterany:12,afterany:14").after, ElementsAre(JobNumber{12}, JobNumber{14}));
  EXPECT_THAT(asked("--dependency=afternotok:12").after_not_ok, ElementsAre(JobNumber{12}));
  const store::Submission several = asked("-d afterok:1,afternotok:2,afterany:3,afterok:4");
  EXPECT_THAT(several.after_ok, ElementsAre(JobNumber{1}, JobNumber{4}));
  EXPECT_THAT(several.after_not_ok, ElementsAre(JobNumber{2}));
  EXPECT_THAT(several.after, ElementsAre(JobNumber{3}));
  EXPECT_FALSE(several.after_one);
  EXPECT_THAT(asked("-d after:12:13").after_start, ElementsAre(JobNumber{12}, JobNumber{13}));
  EXPECT_TRUE(asked("-d singleton").singleton);
  const store::Submission any = asked("-d afterok:1?afternotok:2");
  EXPECT_TRUE(any.after_one);
  EXPECT_THAT(any.after_ok, ElementsAre(JobNumber{1}));
  EXPECT_THAT(any.after_not_ok, ElementsAre(JobNumber{2}));
  EXPECT_THAT(refusal("#SBATCH -d afterok:1?afterok:2,afterok:3"),
              HasSubstr("separated either by commas"));
  EXPECT_THAT(refusal("#SBATCH -d afterok"), HasSubstr("afterok:12:13"));
  EXPECT_THAT(refusal("#SBATCH -d afterok:1,afterany:x"),
              HasSubstr("--dependency must be afterany with job numbers, such as afterany:12"));
  EXPECT_THAT(refusal("#SBATCH -d afterok:1?singleton"), HasSubstr("by commas only"));
  EXPECT_THAT(refusal("#SBATCH -d after:1+5"), HasSubstr("a delay after another job's start"));
  EXPECT_THAT(refusal("#SBATCH -d aftercorr:1"), HasSubstr("not supported here"));
  EXPECT_THAT(refusal("#SBATCH -d afterok:12_3"), HasSubstr("its own number"));
  EXPECT_THAT(read("#ALMANAC --dependency afterok:1:2,singleton\n")->asked.after_ok,
              ElementsAre(JobNumber{1}, JobNumber{2}));
}

TEST_F(SubmissionScript, ReadsWhenToBegin) {
  const auto at = [](const char* text) { return asked(std::string("--begin=") + text).not_before; };
  EXPECT_EQ(at("now+1hour"), kNow + 1h);
  EXPECT_EQ(at("now+60"), kNow + 60s);
  EXPECT_EQ(at("now+5s"), kNow + 5s);
  EXPECT_EQ(at("now+2h"), kNow + 2h);
  EXPECT_EQ(at("now+1week"), kNow + 168h);
  EXPECT_EQ(at("16:00"), kNow + 4h);
  EXPECT_EQ(at("08:30:00"), kNow + 20h + 30min);
  EXPECT_EQ(at("tomorrow"), kNow + 12h);
  EXPECT_EQ(at("2026-11-22T08:00"), kNow + 20h);
  EXPECT_EQ(at("2026-11-22T08:00:00"), kNow + 20h);
  EXPECT_EQ(at("2026-11-22"), kNow + 12h);
  zone("Europe/Berlin");  // it is 13:00 there
  EXPECT_EQ(at("16:00"), kNow + 3h);
  EXPECT_EQ(at("2026-11-22T08:00:00"), kNow + 19h);
  EXPECT_EQ(at("2026-11-22T08:00:00Z"), kNow + 20h);
  EXPECT_EQ(at("2026-11-22T01:00-07:00"), kNow + 20h);
  EXPECT_THAT(refusal("#SBATCH --begin=soon"), HasSubstr("--begin must be a time, such as"));
  EXPECT_THAT(refusal("#SBATCH --begin=now+2ho"), HasSubstr("now+2hours"));
}

TEST_F(SubmissionScript, ReadsFlags) {
  EXPECT_TRUE(asked("-H").hold);
  EXPECT_EQ(asked("-H").requeue, trace::Requeue::unsaid);
  EXPECT_EQ(asked("--requeue").requeue, trace::Requeue::yes);
  EXPECT_EQ(asked("--requeue --no-requeue").requeue, trace::Requeue::no);
  EXPECT_EQ(asked("-D /data").directory, "/data");
}

TEST_F(SubmissionScript, ExportsWhatIsWanted) {
  Submission base;
  base.environment = {"PATH=/bin", "SECRET=1", "SEED=7"};
  const auto environment = [&](const std::string& text) {
    return read("#SBATCH --export=" + text + "\n", base)->asked.environment;
  };
  EXPECT_THAT(environment("ALL"), ElementsAre("PATH=/bin", "SECRET=1", "SEED=7"));
  EXPECT_THAT(environment("NONE"), ElementsAre("PATH=/bin"));
  EXPECT_THAT(environment("SEED"), ElementsAre("PATH=/bin", "SEED=7"));
  EXPECT_THAT(environment("ALL,SEED=8,NEW=x"),
              ElementsAre("PATH=/bin", "SECRET=1", "SEED=8", "NEW=x"));
}

TEST_F(SubmissionScript, StopsAtTheFirstCommand) {
  const auto script =
      read("#SBATCH -G 1\n   # still a comment\necho hello\n#SBATCH -G 2\n#ALMANAC --gpus 3\n");
  ASSERT_TRUE(script);
  EXPECT_EQ(script->asked.gpus, 1);
  EXPECT_THAT(script->notes,
              ElementsAre("jobs/train.sh:5: after the first command #SBATCH is a comment",
                          "jobs/train.sh:6: after the first command #ALMANAC is a comment"));
}

TEST_F(SubmissionScript, LeavesCommentsAlone) {
  const auto script =
      read("##SBATCH -G 1\n# SBATCH -G 1\n #SBATCH -G 1\n#SBATCHX -G 1\n#SBATCH # -G 1\n");
  ASSERT_TRUE(script) << to_string(script.error());
  EXPECT_EQ(script->asked.gpus, 0);
}

TEST_F(SubmissionScript, KeepsQuotedWordsTogether) {
  EXPECT_EQ(asked("--job-name=\"my job\" -G 1").name, "my job");
  EXPECT_EQ(asked("-J 'a \"b\"'").name, "a \"b\"");
  EXPECT_EQ(asked("-J my\\ job").name, "my job");
  EXPECT_EQ(asked("-J job # -G 4").gpus, 0);
  EXPECT_EQ(asked("-J a#b").name, "a#b");
  EXPECT_THAT(refusal("#SBATCH -J \"a"), HasSubstr("train.sh:2: the quote \" is not closed"));
}

TEST_F(SubmissionScript, LetsOurLinesOverruleSlurms) {
  const auto script = read(
      "#ALMANAC --gpus 4 --cpus 12 --mem 48G --deadline now+2hours --model resnet-50\n"
      "#SBATCH -G 8 -n 2 -c 2 --mem-per-cpu=1G -t 10\n");
  ASSERT_TRUE(script) << to_string(script.error());
  EXPECT_EQ(script->asked.gpus, 4);
  EXPECT_EQ(script->asked.cpus, 12);
  EXPECT_EQ(script->asked.memory_gb, 48);
  EXPECT_EQ(script->asked.time_limit, 10min);
  EXPECT_EQ(script->asked.deadline, kNow + 2h);
  EXPECT_EQ(script->asked.model, "resnet-50");
}

TEST_F(SubmissionScript, ReadsOurOwnOptions) {
  const auto script = read(
      "#ALMANAC --gpus 1 --gpu-share 0.5 --gpu-type a100 --after-ok 12,13 --after 7 --grace 10s "
      "--hold\n"
      "#ALMANAC --array 0-9%3 --steps 1000 --batch 64 --value 2.5 --time 2:00:00\n");
  ASSERT_TRUE(script) << to_string(script.error());
  const Submission& asked = script->asked;
  EXPECT_EQ(asked.gpu_share, 0.5);
  EXPECT_EQ(asked.gpu_type, "a100");
  EXPECT_THAT(asked.after_ok, ElementsAre(JobNumber{12}, JobNumber{13}));
  EXPECT_THAT(asked.after, ElementsAre(JobNumber{7}));
  EXPECT_EQ(asked.grace, 10s);
  EXPECT_TRUE(asked.hold);
  EXPECT_EQ(asked.at_once, 3);
  EXPECT_EQ(asked.steps, 1'000);
  EXPECT_EQ(asked.batch, 64);
  EXPECT_EQ(asked.value, 2.5);
  EXPECT_EQ(asked.time_limit, 2h);
  // What Slurm would take for minutes, and others for seconds.
  EXPECT_THAT(refusal("#ALMANAC --time 90"), HasSubstr("or 90s, 10m, 2h"));
  EXPECT_THAT(refusal("#ALMANAC --mem 32"), HasSubstr("such as 32G or 1500M"));
}

TEST_F(SubmissionScript, OfInstancesOneIsAskedWhereNoneSaysHowMany) {
  const auto one = read("#ALMANAC --gpu-profile 1g.10gb --gpu-mem 8G\n");
  ASSERT_TRUE(one) << to_string(one.error());
  EXPECT_EQ(one->asked.gpus, 1);
  EXPECT_EQ(one->asked.gpu_profile, "1g.10gb");
  EXPECT_EQ(one->asked.gpu_memory_gb, 8);
  EXPECT_EQ(read("#ALMANAC --gpu-profile 1g.10gb --gpus 2\n")->asked.gpus, 2);
}

TEST_F(SubmissionScript, ASegmentOfNodesIsAnNvlinkGroup) {
  const auto script = read("#SBATCH -N 16 --gpus-per-node=4 --segment=4\n");
  ASSERT_TRUE(script) << to_string(script.error());
  EXPECT_EQ(script->asked.gpus, 64);
  EXPECT_EQ(script->asked.nvlink_gpus, 16);
  EXPECT_EQ(read("#ALMANAC --gpus 16 --nvlink-gpus 8\n")->asked.nvlink_gpus, 8);
  EXPECT_EQ(read("#SBATCH --segment=4\n")->asked.nvlink_gpus, 0) << "a CPU job";
  EXPECT_THAT(refusal("#SBATCH -N 6 --gpus-per-node=4 --segment=4"),
              HasSubstr("--segment=4 must divide --nodes=6"));
}

TEST_F(SubmissionScript, ReadsAnyNumberOfGpusUpToTheMost) {
  const auto script = read("#ALMANAC --gpus a100:1..8\n");
  ASSERT_TRUE(script) << to_string(script.error());
  EXPECT_EQ(script->asked.gpus, 1);
  EXPECT_EQ(script->asked.max_gpus, 8);
  EXPECT_EQ(script->asked.min_gpus, 0);
  EXPECT_EQ(script->asked.gpu_type, "a100");
  const auto two = read("#ALMANAC --gpus 2..8\n");
  ASSERT_TRUE(two) << to_string(two.error());
  EXPECT_EQ(two->asked.gpus, 2);
  EXPECT_EQ(two->asked.min_gpus, 2);
  EXPECT_EQ(two->asked.max_gpus, 8);
  EXPECT_EQ(read("#ALMANAC --gpus 2..8\n#ALMANAC --gpus 4\n")->asked.min_gpus, 0);
  for (const char* const wrong : {"0..8", "8..2", "1..", "1..0", "1...8", "1-8"}) {
    EXPECT_THAT(refusal(std::string("#ALMANAC --gpus ") + wrong), HasSubstr("--gpus must be"))
        << wrong;
  }
}

TEST_F(SubmissionScript, TellsWhatIsNotDone) {
  EXPECT_THAT(notes("#SBATCH --mail-type=END --mail-user ann@example.org -A proj\n"
                    "#SBATCH --exclusive -o x-%N.out\n"
                    "#SBATCH --gres=gpu:1,nvme:2 -p a,b\n"),
              ElementsAre("jobs/train.sh:2: --mail-type is not supported here",
                          "jobs/train.sh:2: --mail-user is not supported here",
                          "jobs/train.sh:2: --account is not supported here",
                          "jobs/train.sh:3: --exclusive is not supported here",
                          HasSubstr("%N in a file name is kept as it is"),
                          HasSubstr("--gres=nvme:2 is not supported here"),
                          HasSubstr("only the first of several partitions is used: a")));
}

TEST_F(SubmissionScript, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal("#SBATCH --partiton=x"),
            "jobs/train.sh:2: unknown option --partiton=x (did you mean --partition?)");
  EXPECT_THAT(refusal("#ALMANAC --gpu 2 --cpu 4"), HasSubstr("unknown option --gpu"));
  EXPECT_THAT(refusal("#SBATCH -Z"), HasSubstr("unknown option -Z"));
  EXPECT_THAT(refusal("#SBATCH train.py"), HasSubstr("expected an option, found \"train.py\""));
  EXPECT_THAT(refusal("#SBATCH --time"), HasSubstr("--time requires an argument"));
  EXPECT_THAT(refusal("#SBATCH --hold=yes"), HasSubstr("--hold takes no argument"));
  EXPECT_THAT(refusal("#SBATCH --gpus=two"),
              HasSubstr("--gpus must be a number of GPUs, such as 2 or a100:2, found \"two\""));
  EXPECT_THAT(refusal("#SBATCH -n 0"), HasSubstr("--ntasks must be a whole number from 1"));
  EXPECT_THAT(refusal("#SBATCH -N 2"), HasSubstr("a job on several nodes needs a GPU on each"));
  EXPECT_THAT(refusal("#SBATCH -N two"), HasSubstr("--nodes must be a number of nodes"));
  EXPECT_THAT(refusal("#SBATCH -N 100000 -G 100000 --ntasks-per-node=100000"),
              HasSubstr("exceed the largest possible request"));
  EXPECT_THAT(refusal("#SBATCH -n 1000000 -c 1000000"),
              HasSubstr("exceed the largest possible request"));
}

TEST_F(SubmissionScript, AddsUpWhatSlurmGivesEachNode) {
  const auto script = read(
      "#SBATCH --nodes=2 --gpus-per-node=8\n"
      "#SBATCH --ntasks-per-node=4 --cpus-per-task=3 --mem=64G\n");
  ASSERT_TRUE(script) << to_string(script.error());
  EXPECT_EQ(script->nodes, 2);
  EXPECT_EQ(script->asked.gpus, 16);
  EXPECT_EQ(script->asked.cpus, 24);
  EXPECT_DOUBLE_EQ(*script->asked.memory_gb, 2 * *asked("--mem=64G").memory_gb);
  EXPECT_THAT(script->asked.environment, testing::Contains("SLURM_NTASKS=8"));
  EXPECT_THAT(script->notes,
              ElementsAre(HasSubstr("the job gets them on as few nodes as possible")));
  EXPECT_EQ(asked("-N 2 --gres=gpu:4").gpus, 8);
  EXPECT_EQ(asked("-N 2 -G 8").gpus, 8) << "is of the job";
  EXPECT_EQ(asked("-N 2 --gpus-per-node=8 -G 4").gpus, 4) << "the last one counts";
  EXPECT_EQ(asked("-N 2-4 -n 6 --gpus-per-task=1").gpus, 6);
  EXPECT_TRUE(notes("#SBATCH -N 1 --gpus-per-node=2\n").empty());
}

TEST_F(SubmissionScript, TakesLongNamesCutShortWhereTheyAreClear) {
  EXPECT_EQ(asked("--job=x").name, "x");
  EXPECT_EQ(asked("--part=x").vc, "x");
  EXPECT_THAT(refusal("#SBATCH --mem-per=1G"), HasSubstr("unknown option"));
}

TEST_F(SubmissionScript, RefusesWhatIsNoScript) {
  const auto refused = [](std::string_view text) {
    return to_string(read_script(text, "x.sh", {}, kNow).error());
  };
  EXPECT_THAT(refused("echo hello\n"), HasSubstr("x.sh:1: a batch script must begin with #!"));
  EXPECT_THAT(refused(""), HasSubstr("must begin with #!"));
  EXPECT_THAT(refused("#!/bin/sh\r\necho\r\n"), HasSubstr("\\r\\n"));
  EXPECT_THAT(refused(std::string_view("#!/bin/sh\n\0", 11)), HasSubstr("zero byte"));
}

}  // namespace
}  // namespace almanac::submission
