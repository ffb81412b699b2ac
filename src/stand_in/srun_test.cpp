// SPDX-License-Identifier: Apache-2.0

/// \file
/// What srun is asked, and what its tasks are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stand_in/step.h"

namespace almanac::stand_in {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kJob{
    "PATH=/bin",       "HOME=/home/ann",         "SEED=7",
    "SLURM_JOB_ID=17", "SLURM_JOB_NODELIST=box", "SLURM_JOB_NAME=train",
    "ALMANAC_CPUS=8",  "OMP_NUM_THREADS=8",      "CUDA_VISIBLE_DEVICES=0,2,5,7"};

Result<Step> read(std::vector<std::string> words, std::vector<std::string> more = {}) {
  std::vector<std::string> variables = kJob;
  variables.insert(variables.end(), more.begin(), more.end());
  return read_step(words, variables);
}

std::string refusal(std::vector<std::string> words, std::vector<std::string> more = {}) {
  const auto made = read(std::move(words), std::move(more));
  return made ? "" : to_string(made.error());
}

TEST(Srun, ReadsOptionsAsSlurmDoes) {
  const auto step =
      read({"-n4", "--cpus-per-task=2", "-lu", "-o", "log-%t", "python", "-u", "x.py"});
  ASSERT_TRUE(step) << to_string(step.error());
  EXPECT_EQ(step->tasks, 4);
  EXPECT_EQ(step->cpus_per_task, 2);
  EXPECT_TRUE(step->label);
  EXPECT_EQ(step->out, "log-%t");
  EXPECT_THAT(step->command, ElementsAre("python", "-u", "x.py"));
  EXPECT_EQ(read({"true"})->tasks, 1);
  EXPECT_EQ(read({"true"}, {"SLURM_NTASKS=3"})->tasks, 3);
  EXPECT_EQ(read({"-n", "2", "true"}, {"SLURM_NTASKS=3"})->tasks, 2);
  EXPECT_EQ(read({"--ntasks-per-node=2", "true"})->tasks, 2);
  EXPECT_EQ(read({"--gres=gpu:a100:2", "true"})->gpus, 2);
  EXPECT_EQ(read({"-G", "0", "true"})->gpus, 0);
  EXPECT_EQ(read({"-n2", "--gpus-per-task=2", "true"})->gpus, 4);
  EXPECT_EQ(read({"--time=1:30", "true"})->time_limit, 90s);
  EXPECT_THAT(read({"--cpu-bind=cores", "--unbuffered", "true"})->notes,
              ElementsAre("--cpu-bind is not supported here"));
  EXPECT_TRUE(read({"--mpi=pmix", "true"})) << "one task is no MPI program";
}

TEST(Srun, RefusesWhatItCannotDoInOneLine) {
  EXPECT_EQ(refusal({}), "there is no command to run");
  EXPECT_EQ(refusal({"-N", "2", "true"}), "--nodes=2: this job has one node (leave --nodes out)");
  EXPECT_THAT(refusal({"-n2", "--mpi=pmi2", "true"}), HasSubstr("mpirun -n 2"));
  EXPECT_THAT(refusal({"--ntask=x", "true"}), HasSubstr("unknown option"));
  EXPECT_THAT(refusal({"--ntasks=x", "true"}), HasSubstr("--ntasks must be a whole number"));
  EXPECT_THAT(refusal({"--multi-prog", "x.conf"}), HasSubstr("not supported here"));
  EXPECT_THAT(refusal({"--gpus=1", "--gpus-per-task=1", "-n2", "true"}), HasSubstr("too few"));
  EXPECT_THAT(to_string(take_gpus({"0", "1"}, 3, "", false).error()),
              HasSubstr("requests 3 GPUs, but its job has 2"));
}

TEST(Srun, TellsEachTaskWhichItIs) {
  const Step step = *read({"-n2", "--gpus-per-task=1", "true"});
  const StepGpus gpus = *take_gpus(held_gpus("0,2,5,7"), step.gpus, "", false);
  EXPECT_THAT(gpus.names, ElementsAre("0", "2"));
  const auto second = environment_of(step, gpus, 1, kJob);
  const auto is = [&](const char* name) { return value_of(second, name); };
  EXPECT_EQ(is("SLURM_PROCID"), "1");
  EXPECT_EQ(is("SLURM_LOCALID"), "1");
  EXPECT_EQ(is("SLURM_NTASKS"), "2");
  EXPECT_EQ(is("SLURM_STEP_NODELIST"), "box");
  EXPECT_EQ(is("SLURM_GTIDS"), "0,1");
  EXPECT_EQ(is("CUDA_VISIBLE_DEVICES"), "2");
  EXPECT_EQ(is("OMP_NUM_THREADS"), "4") << "not each as many as the job has cores";
  EXPECT_EQ(is("SEED"), "7");
  const Step all = *read({"-n2", "true"});
  EXPECT_EQ(value_of(environment_of(all, {.names = held_gpus("0,2,5,7")}, 1, kJob),
                     "CUDA_VISIBLE_DEVICES"),
            "0,2,5,7");
  const Step mapped = *read({"-n2", "--gpu-bind=map_gpu:3,0", "true"});
  EXPECT_EQ(value_of(environment_of(mapped, {.names = held_gpus("0,2,5,7")}, 0, kJob),
                     "CUDA_VISIBLE_DEVICES"),
            "7");
}

TEST(Srun, StartsOneTaskOnEachBoxOfAGang) {
  const std::vector<std::string> gang{"ALMANAC_NODES=a,b", "SLURM_NNODES=2", "SLURM_NODEID=1",
                                      "SLURM_NTASKS=2"};
  const Step step = *read({"true"}, gang);
  EXPECT_EQ(step.tasks, 1);
  const auto told = environment_of(step, {}, 0, gang);
  const auto is = [&](const char* name) { return value_of(told, name); };
  EXPECT_EQ(is("SLURM_PROCID"), "1");
  EXPECT_EQ(is("SLURM_LOCALID"), "0");
  EXPECT_EQ(is("SLURM_NODEID"), "1");
  EXPECT_EQ(is("SLURM_NTASKS"), "2");
  EXPECT_EQ(is("SLURM_NNODES"), "2");
  EXPECT_EQ(is("SLURM_TASKS_PER_NODE"), "1(x2)");
  EXPECT_EQ(is("SLURM_GTIDS"), "1");
  EXPECT_TRUE(read({"--ntasks-per-node=1", "true"}, gang));
  EXPECT_TRUE(read({"-N", "2", "true"}, gang));
  EXPECT_EQ(refusal({"-N", "3", "true"}, gang),
            "--nodes=3: this job has 2 nodes (leave --nodes out)");
  EXPECT_TRUE(read({"-N", "1-4", "true"}, gang));
  EXPECT_EQ(refusal({"-N1", "true"}, gang), "--nodes=1: this job has 2 nodes (leave --nodes out)");
  EXPECT_EQ(refusal({"-n", "8", "true"}, gang),
            "srun starts one task on each of the 2 boxes of this job, not 8 tasks (start more "
            "processes on each box with torchrun, for example)");
}

TEST(Srun, RefusesInAGangTheTasksThatTheScriptRequests) {
  const std::vector<std::string> per_node{"ALMANAC_NODES=a,b", "SLURM_NNODES=2", "SLURM_NTASKS=4",
                                          "SLURM_NTASKS_PER_NODE=2"};
  EXPECT_THAT(refusal({"true"}, per_node), HasSubstr("2 boxes of this job, not 4 tasks"));
  EXPECT_TRUE(read({"--ntasks-per-node=1", "true"}, per_node));
  const std::vector<std::string> in_all{"ALMANAC_NODES=a,b", "SLURM_NNODES=2", "SLURM_NTASKS=8"};
  EXPECT_THAT(refusal({"true"}, in_all), HasSubstr("2 boxes of this job, not 8 tasks"));
  EXPECT_TRUE(read({"-n", "2", "true"}, in_all));
  EXPECT_EQ(read({"true"}, {"SLURM_NNODES=2", "SLURM_NTASKS=8"})->tasks, 8)
      << "nodes of one machine are no gang";
}

TEST(Srun, KeepsTheJobsOwnVariablesWhateverIsExported) {
  const Step none = *read({"--export=NONE", "true"});
  const auto told = environment_of(none, {}, 0, kJob);
  EXPECT_EQ(value_of(told, "SEED"), "");
  EXPECT_EQ(value_of(told, "SLURM_JOB_ID"), "17");
  EXPECT_EQ(value_of(told, "PATH"), "/bin");
  const Step some = *read({"--export=ALL,SEED=8", "true"});
  EXPECT_EQ(value_of(environment_of(some, {}, 0, kJob), "SEED"), "8");
}

TEST(Srun, NamesFilesAsSlurmDoes) {
  EXPECT_EQ(file_of("log.%j.%t", 3, kJob), "log.17.3");
  EXPECT_EQ(file_of("%x-%4t%%", 3, kJob), "train-0003%");
  EXPECT_EQ(file_of("%J-%s-%q", 0, kJob), "17.0-0-%q");
}

}  // namespace
}  // namespace almanac::stand_in
