// SPDX-License-Identifier: Apache-2.0
#include "trace/workload.h"

#include <string>

#include <gtest/gtest.h>

#include "trace/workload_file.h"
#include "trace/workload_preset.h"

namespace almanac::trace {
namespace {

constexpr const char* kSmall = R"(vc = [{name = "a", nodes = 2, users = 3}]
size = [{gpus = 1}, {gpus = 8, jobs = 0.5, gpu_time = 3}]

[span]
start = 2021-03-04T05:06:07Z
days = 1.5
jobs = 10

[run]
octaves = [1, 2, 3]
)";

/// What parsing `text` says is wrong.
std::string complaint(const std::string& text) {
  const auto parsed = parse_workload(text, "w.toml");
  return parsed ? "" : to_string(parsed.error());
}

/// The small file with a part of it replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  return text.replace(text.find(from), from.size(), to);
}

TEST(Workload, IsReadWithDefaultsForWhatIsLeftOut) {
  const auto workload = parse_workload(kSmall, "w.toml");
  ASSERT_TRUE(workload) << to_string(workload.error());
  EXPECT_EQ(workload->vc.at(0).nodes, 2);
  EXPECT_EQ(workload->size.at(1).gpu_time, 3);
  EXPECT_EQ(seconds(workload->span.start), 1614834367);
  EXPECT_EQ(workload->node.gpus, 8);
  EXPECT_EQ(workload->rhythm.hours.size(), 24U);
}

TEST(Workload, ComesBackFromItsOwnText) {
  for (const char* const name : {"venus", "coda", "genie", "kalos"}) {
    const Workload workload = parse_workload(*preset(name), name).value();
    const std::string text = to_toml(workload);
    const auto again = parse_workload(text, "again.toml");
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(to_toml(*again), text);
    EXPECT_EQ(again->vc.size(), workload.vc.size());
    EXPECT_EQ(again->run.octaves, workload.run.octaves);
    EXPECT_EQ(again->model.size(), workload.model.size());
    EXPECT_EQ(again->run.unlimited_cpus, workload.run.unlimited_cpus);
  }
}

TEST(Workload, FileSaysWhatIsWrongAndWhere) {
  EXPECT_EQ(complaint(changed("days", "dais")),
            "w.toml:6:1: unknown key \"dais\" in [span] (did you mean days?)");
  EXPECT_EQ(complaint(changed("[run]", "[runs]")),
            "w.toml:9:2: unknown key \"runs\" at the top of the file (did you mean run?)");
  EXPECT_EQ(complaint(changed("users = 3", "user = 3")),
            "w.toml:1:31: unknown key \"user\" of vc (did you mean users?)");
  EXPECT_EQ(complaint(changed("jobs = 10", "jobs = 1.5")),
            "w.toml:7:8: jobs must be a whole number");
  EXPECT_EQ(complaint(changed("days = 1.5", "days = \"a\"")), "w.toml:6:8: days must be a number");
  EXPECT_EQ(complaint(changed("nodes = 2", "nodes = 0")),
            "w.toml:1:28: nodes must be between 1 and 1000000000, found 0");
  EXPECT_EQ(complaint(changed("[1, 2, 3]", "[1, -2]")),
            "w.toml:10:15: octaves must be at least 0, found -2");
}

TEST(Workload, RefusesWhatContradictsItself) {
  EXPECT_EQ(complaint(changed("gpus = 8", "gpus = 64")),
            "w.toml: jobs of 64 GPUs fit no vc: the largest job that one takes has 16");
  EXPECT_EQ(complaint(changed("gpu_time = 3", "gpu_time = 0")),
            "w.toml: size of 8 GPUs: jobs and gpu_time must both be 0, or neither");
  EXPECT_EQ(complaint(changed("name = \"a\", ", "")), "w.toml: row 1 of vc needs a name");
  EXPECT_EQ(complaint(changed("[run]", "[recipe]\nuser_part = 0.9\n[run]")),
            "w.toml: the parts of [recipe] must not exceed 1: 1.350");
  EXPECT_EQ(complaint(""), "w.toml: at least one row of vc must have jobs");
  EXPECT_EQ(complaint(changed("[run]", "[run]\nmedian_s = 60")),
            "w.toml: [run] must have octaves or median_s, not both");
  EXPECT_EQ(complaint(changed("octaves = [1, 2, 3]", "median_s = 60\nmost_s = 30")),
            "w.toml: run.most_s must not be below median_s: 30");
}

TEST(Workload, RefusesCpuJobsThatCannotBe) {
  const auto with = [](const std::string& rows, const std::string& cpu) {
    return complaint(rows + std::string(kSmall) + "[cpu]\n" + cpu);
  };
  EXPECT_EQ(with("cpu_size = [{cpus = 4}]\n", "per_gpu_job = 3\nload = 0.5\n"), "");
  EXPECT_EQ(with("cpu_size = [{cpus = 4}]\n", "per_gpu_job = 3\n"),
            "w.toml: cpu.per_gpu_job and cpu.load must both be 0, or neither");
  EXPECT_EQ(with("", "per_gpu_job = 3\nload = 0.5\n"),
            "w.toml: at least one row of cpu_size must have jobs");
  EXPECT_EQ(with("cpu_size = [{cpus = 49}]\n", "per_gpu_job = 3\nload = 0.5\n"),
            "w.toml: CPU jobs of 49 cores fit no node: it has 48");
  EXPECT_EQ(with("cpu_size = [{cpus = 4}]\n", "per_gpu_job = 0.01\nload = 0.5\n"),
            "w.toml: there is less than one CPU job: raise cpu.per_gpu_job");
  // 2 nodes of 48 cores for 1.5 days: 12,441,600 core-s, for 30 jobs of 4 cores 103,680 s each.
  EXPECT_EQ(with("cpu_size = [{cpus = 4}]\n", "per_gpu_job = 3\nload = 10000\n"),
            "w.toml: CPU jobs would run 1036800000 s each: lower cpu.load");
  EXPECT_EQ(with("cores = [{least = 3, most = 2}]\n", ""),
            "w.toml: cores: most must not be below least: 3 to 2");
  EXPECT_EQ(with("model = [{jobs = 1}]\n", ""), "w.toml: row 1 of model needs a name");
  EXPECT_EQ(with("model = 3\n", ""), "w.toml:1:9: model must be a list of tables");
}

TEST(Workload, GivesCpuJobsTheLengthThatTheirLoadNeeds) {
  const Workload small = parse_workload("cpu_size = [{cpus = 4}]\n" + std::string(kSmall) +
                                            "[cpu]\nper_gpu_job = 3\nload = 0.5\n",
                                        "w.toml")
                             .value();
  EXPECT_EQ(cpu_jobs(small), 30);
  EXPECT_DOUBLE_EQ(mean_cpu_run(small), 0.5 * 2 * 48 * 1.5 * 86400 / (30 * 4));
}

TEST(Workload, IsNotFoundWhereItIsNot) {
  const auto workload = load_workload("/no/such/workload.toml");
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().code, Code::not_found);
}

TEST(Workload, StretchesInTimeAndScalesInSpace) {
  const Workload small = parse_workload(kSmall, "w.toml").value();
  const Workload longer = stretched(small, 40);
  EXPECT_EQ(longer.span.jobs, 40);
  EXPECT_DOUBLE_EQ(longer.span.days, 6);
  const Workload larger = scaled(small, 3);
  EXPECT_EQ(larger.span.jobs, 30);
  EXPECT_DOUBLE_EQ(larger.span.days, 1.5);
  EXPECT_EQ(larger.vc[0].nodes, 6);
  EXPECT_EQ(larger.vc[0].users, 9);
}

TEST(Preset, ClustersAreThoseOfTheWorkloads) {
  for (const std::string name : {"venus", "coda", "genie", "kalos"}) {
    const Workload workload = parse_workload(*preset(name), name + ".toml").value();
    std::string cluster(*preset(name + "_cluster"));
    cluster.erase(0, cluster.find("[node]"));
    std::string made = to_cluster_toml(workload);
    made.erase(0, made.find("[node]"));
    EXPECT_EQ(cluster, made);
  }
}

TEST(Preset, IsAbsentWhenUnknown) { EXPECT_FALSE(preset("mars").has_value()); }

}  // namespace
}  // namespace almanac::trace
