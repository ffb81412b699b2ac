// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac profile as a user calls it, on a training whose speed is known (training.cpp), on a
/// machine that is made to look as if it had eight processors (eight_cpus.cpp).
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run_program.h"
#include "support/temporary_folder.h"

namespace almanac {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string training() { return std::getenv("ALMANAC_TRAINING"); }

/// Processes that a training left behind, by the ids that it wrote; they get a moment to go.
std::vector<pid_t> living(const std::string& path) {
  std::vector<pid_t> found;
  for (int tries = 0; tries < 500; ++tries) {
    std::ifstream ids(path);
    found.clear();
    for (pid_t id = 0; ids >> id;) {
      std::ifstream stat("/proc/" + std::to_string(id) + "/stat");
      std::string pid;
      std::string name;
      std::string state;
      if (stat >> pid >> name >> state && state != "Z") found.push_back(id);
    }
    if (found.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return found;
}

class ProfileCommand : public testing::Test {
 protected:
  /// Profiles the training with its `words`; `options` go before.
  ProgramRun profile(std::vector<std::string> options,
                     const std::vector<std::string>& words) const {
    options.insert(options.begin(), "profile");
    options.insert(options.end(), {"--out", out(), "--name", "known", "--", training()});
    options.insert(options.end(), words.begin(), words.end());
    return run_program(options);
  }
  std::string out() const { return folder_ / "known.csv"; }
  std::string ids() const { return folder_ / "ids"; }

  const TemporaryFolder folder_;
};

// A step takes max(0.003 x batch / cores, 0.02 + 0.0005 x batch of a GPU + 0.01 if GPUs > 1) s. At
// a batch of 64 a GPU takes 0.052 s and its loader 0.192 core-seconds: 3.7 cores, so 4. The fixed
// part is a tenth of what it takes at a batch of 360. Two GPUs of 32 each take 0.046 s.
TEST_F(ProfileCommand, FindsWhatIsKnownOfTheTraining) {
  const auto run =
      profile({"--batch", "8,16,32,64", "--gpus", "1,2", "-o", "json"},
              {"--batch", "{batch}", "--cpus", "{cpus}", "--gpus", "{gpus}", "--loader", "0.003",
               "--fixed", "0.02", "--sample", "0.0005", "--sync", "0.01", "--log", "huggingface"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto made = json::parse(run.out);
  EXPECT_EQ(made["progress"], "huggingface");
  EXPECT_EQ(made["found"]["cpus_per_gpu"], 4);
  EXPECT_NEAR(made["found"]["saturation_batch"], 360, 0.05 * 360);
  EXPECT_NEAR(made["found"]["more_gpus"][0]["speed"], 0.052 / 0.046, 0.05 * 0.052 / 0.046);
  EXPECT_LE(made["runs"].size(), 11);
  for (const auto& each : made["runs"]) {
    EXPECT_LE(each["throughput_low"], each["throughput"]);
    EXPECT_GE(each["throughput_high"], each["throughput"]);
  }

  // The profile is what simulate and perf take.
  const auto show = run_program({"perf", "show", "known", "--models", out(), "-o", "json"});
  ASSERT_EQ(show.status, 0) << show.err;
  const auto shown = json::parse(show.out);
  EXPECT_EQ(shown["input"]["enough_cpus"], 4);
  EXPECT_NEAR(shown["input"]["cpus"][1]["rate"], 0.052 / 0.096, 0.03);  // with two cores
  EXPECT_EQ(run_program({"perf", "fit", out()}).status, 0);
  const std::string jobs = folder_.write("jobs.csv",
                                         "job_id,submit_s,run_s,gpus,vc,model,cpus,reference_cpus\n"
                                         "fed,0,1000,1,a,known,4,4\n"
                                         "starved,0,1000,1,a,known,2,4\n");
  const std::string cluster = folder_.write(
      "cluster.toml", "[node]\ngpus = 8\ncpus = 64\n\n[[vc]]\nname = \"a\"\nnodes = 1\n");
  const auto simulated = run_program(
      {"simulate", jobs, "--cluster", cluster, "--policy", "fifo", "--speed", out(), "-o", "json"});
  ASSERT_EQ(simulated.status, 0) << simulated.err;
  // GENIE takes it as well.
  const auto genie = run_program({"simulate", jobs, "--cluster", cluster, "--policy", "genie",
                                  "--speed", out(), "-o", "json"});
  EXPECT_EQ(genie.status, 0) << genie.err;
  // The job with two cores takes 1000 s x 0.096 / 0.052; what is told is the mean of both.
  EXPECT_NEAR(json::parse(simulated.out)[0]["avg_jct_s"], (1000 + 1846) / 2, 0.03 * 1846)
      << simulated.out;
}

TEST_F(ProfileCommand, ReadsEveryKindOfProgress) {
  for (const char* const kind : {"keras", "lightning", "deepspeed", "steps", "rate"}) {
    const auto run = profile({"--cpus", "1", "-o", "json"}, {"--fixed", "0.04", "--log", kind});
    ASSERT_EQ(run.status, 0) << kind << run.err;
    const auto made = json::parse(run.out);
    EXPECT_EQ(made["progress"], kind == std::string("rate") ? "rates" : kind);
    EXPECT_NEAR(made["runs"][0]["throughput"], 25, 0.05 * 25) << kind;
  }
  const auto own = profile({"--cpus", "1", "--progress", "<<(?P<step>[0-9]+)>>", "-o", "json"},
                           {"--fixed", "0.04", "--log", "own"});
  ASSERT_EQ(own.status, 0) << own.err;
  EXPECT_NEAR(json::parse(own.out)["runs"][0]["throughput"], 25, 0.05 * 25);
}

TEST_F(ProfileCommand, ANeighbourOnTheSameGpu) {
  const auto run = profile({"--cpus", "2", "--neighbour", "same", "-o", "json"},
                           {"--fixed", "0.03", "--gpu", folder_ / "gpu"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto made = json::parse(run.out);
  EXPECT_NEAR(made["found"]["beside"], 0.5, 0.05 * 0.5);
  const auto fit = run_program({"perf", "fit", out(), "-o", "json"});
  EXPECT_EQ(fit.status, 0) << fit.err;
  EXPECT_EQ(json::parse(fit.out)["sharing"][0]["pairs"], 1);
}

TEST_F(ProfileCommand, GoesOnWithoutABatchThatDoesNotRun) {
  const auto run = profile({"--batch", "8,16,32", "--cpus", "1", "-o", "json"},
                           {"--batch", "{batch}", "--most-batch", "16"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("the command failed with batch 32, 1 GPU, 1 core: exit status 1; "
                                 "its last lines:\n  RuntimeError: CUDA out of memory\n"));
  const auto made = json::parse(run.out);
  EXPECT_EQ(made["runs"][1]["throughput"], 0);
  EXPECT_EQ(made["runs"][2]["batch"], 16);
}

TEST_F(ProfileCommand, SaysWhyACommandCannotBeProfiled) {
  const auto says = [&](const std::vector<std::string>& words, int status, const char* error) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--children", ids()});
    const auto run = profile({"--patience", "3s", "--cpus", "1"}, all);
    EXPECT_EQ(run.status, status) << run.err;
    EXPECT_THAT(run.err, HasSubstr(error));
    EXPECT_THAT(living(ids()), IsEmpty()) << error;
    EXPECT_FALSE(std::filesystem::exists(out()));
  };
  says({"--crash", "4"}, 69,
       "exit status 7; its last lines:\n  step 1 loss 0.5\n  step 2 loss 0.5\n  step 3 loss 0.5\n"
       "  step 4 loss 0.5\n  RuntimeError: the loss is a banana\n");
  says({"--killed", "4"}, 69, "killed by signal 9 (Killed); its last lines:\n");
  says({"--hang", "4"}, 69, "the command hung with batch 1, 1 GPU, 1 core: no progress for 3 s; ");
  says({"--log", "none"}, 65,
       "found no known progress line in what the command printed within 3 s");
  says({"--log", "own"}, 65, "(describe the lines with --progress 'step (?P<step>[0-9]+)')");
  says({"--end", "2"}, 69, "too few steps to measure a rate");
  EXPECT_EQ(run_program({"profile", "--out", out(), "--", "no-such-program-here"}).status, 66);
}

TEST_F(ProfileCommand, SaysWhatIsWrongBeforeItRunsAnything) {
  const auto says = [&](const std::vector<std::string>& options, const char* error) {
    const auto run = profile(options, {"--children", ids(), "--batch", "{batch}"});
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr(error));
    EXPECT_FALSE(std::filesystem::exists(ids()));
  };
  says({},
       "the command has a batch placeholder, but no --batch is given (for example --batch "
       "16,32,64,128)");
  says({"--batch", "0,1"}, "--batch must be a number above 0, found \"0\"");
  says({"--batch", "1", "--cpus", "99"}, "--cpus 99: this machine has 8");
  says({"--batch", "1", "--gpus", "4"}, "--gpus 4: this machine has 2");
  says({"--batch", "1", "--budget", "ten"},
       "--budget must be a time such as 30s or 10m, found ten");
  says({"--batch", "1", "--progress", "("}, "is not a regular expression: missing )");
}

TEST_F(ProfileCommand, PlansWithoutRunning) {
  const auto run =
      profile({"--batch", "8,64", "--dry-run"}, {"--batch", "{batch}", "--children", ids()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("  batch 8, 1 GPU, 8 cores\n  batch 64, 1 GPU, 8 cores\n"));
  EXPECT_FALSE(std::filesystem::exists(ids()));
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(ProfileCommand, KeepsWithinItsBudget) {
  const auto run = profile({"--budget", "3s", "-o", "json"}, {"--fixed", "0.05"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.err,
              HasSubstr("some conditions were not measured: the budget of 3 s is used up"));
  EXPECT_TRUE(std::filesystem::exists(out()));
}

TEST_F(ProfileCommand, LooksAtGpus) {
  const auto run = profile({"--cpus", "1", "-o", "json"}, {"--fixed", "0.04"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto made = json::parse(run.out);
  EXPECT_NEAR(made["runs"][0]["gpu_use"], 0.8, 1e-9);  // as the driver of the tests says
  EXPECT_EQ(made["runs"][0]["gpu_memory_used_gb"], 10);
  std::ifstream profile(out());
  const std::string text{std::istreambuf_iterator<char>(profile), {}};
  EXPECT_THAT(text, HasSubstr("known,1,NVIDIA Testing 80GB,1,1,"));
  // Which of them a run may use is told the way CUDA knows.
  const auto told =
      run_program({"profile", "--gpus", "1,2", "--cpus", "1", "--patience", "2s", "--out", out(),
                   "--", "sh", "-c", "echo order $CUDA_DEVICE_ORDER gpus $CUDA_VISIBLE_DEVICES"});
  EXPECT_THAT(told.err, HasSubstr("\n  order PCI_BUS_ID gpus 0 ("));
}

TEST_F(ProfileCommand, CtrlCLeavesNothingRunning) {
  const char* const program = std::getenv("ALMANAC_PROGRAM");
  const std::string err = folder_ / "err";
  const pid_t process = ::fork();
  if (process == 0) {
    const int messages = ::open(err.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(messages, STDOUT_FILENO);
    ::dup2(messages, STDERR_FILENO);
    ::execl(program, program, "profile", "--cpus", "1", "--out", out().c_str(), "--",
            training().c_str(), "--log", "none", "--children", ids().c_str(), nullptr);
    ::_exit(127);
  }
  const auto begun = [&] {
    std::ifstream file(ids());
    return std::distance(std::istream_iterator<pid_t>(file), {}) == 4;
  };
  for (int tries = 0; tries < 6000 && !begun(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(begun());
  ::kill(process, SIGINT);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_THAT(living(ids()), IsEmpty());
  std::ifstream messages(err);
  const std::string said{std::istreambuf_iterator<char>(messages), {}};
  EXPECT_THAT(said, HasSubstr("almanac: note: interrupted; no profile was written\n"));
  EXPECT_EQ(folder_.size(), 2);  // its messages and the ids: no profile, nothing half done
}

}  // namespace
}  // namespace almanac
