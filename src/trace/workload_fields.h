// SPDX-License-Identifier: Apache-2.0

/// \file
/// Declares every parameter of a workload once: its key, its range, what it means. Reading,
/// writing and commenting TOML files all follow from this list.
#pragma once

#include <limits>
#include <string_view>

#include "trace/workload.h"

namespace almanac::trace {

/// The values that a parameter may take, both ends included.
struct Range {
  double low;
  double high;
};
inline constexpr double kEndless = std::numeric_limits<double>::infinity();
inline constexpr Range kWeight{0, kEndless};
inline constexpr Range kCount{1, 1e9};
inline constexpr Range kPart{0, 1};

/// Shows each parameter of `workload` to `visitor`, which has
///   rows(key, text, std::vector<Row>&, void (*fields)(Row&, RowVisitor&)),
///   section(key, text), field(key, value&, range, text), and field(key, value&, text).
template <typename Visitor>
void visit_fields(Workload& workload, Visitor& visitor) {
  visitor.rows("vc",
               "Virtual clusters: nodes, users who submit there, GPUs of the largest job (0 = all "
               "of them),\nand the weights of their jobs and of their GPU time. One with few jobs "
               "and much GPU time\nruns the large and long ones.",
               workload.vc, [](auto& row, Workload::Vc& vc) {
                 row.field("name", vc.name);
                 row.field("nodes", vc.nodes, kCount);
                 row.field("users", vc.users, kCount);
                 row.field("largest", vc.largest, {0, 1e9});
                 row.field("jobs", vc.jobs, kWeight);
                 row.field("gpu_time", vc.gpu_time, kWeight);
               });
  visitor.rows(
      "size",
      "Job sizes: GPUs of a job, the weights of such jobs and of their GPU time, and the "
      "weights\nof their final states. A job runs only where its virtual cluster can hold it.",
      workload.size, [](auto& row, Workload::Size& size) {
        row.field("gpus", size.gpus, kCount);
        row.field("jobs", size.jobs, kWeight);
        row.field("gpu_time", size.gpu_time, kWeight);
        row.field("completed", size.completed, kWeight);
        row.field("cancelled", size.cancelled, kWeight);
        row.field("failed", size.failed, kWeight);
      });
  visitor.rows("model",
               "Models that GPU jobs train, what kind of model that is (any word), and weights; "
               "none =\njobs name no model.",
               workload.model, [](auto& row, Workload::Model& model) {
                 row.field("name", model.name);
                 row.field("kind", model.kind);
                 row.field("jobs", model.jobs, kWeight);
               });
  visitor.rows(
      "cores",
      "Cores per GPU that GPU jobs request: any number from least to most, and weights. No "
      "job\nrequests more than its nodes have. None = a job requests its GPUs' share of the cores.",
      workload.cores, [](auto& row, Workload::Cores& cores) {
        row.field("least", cores.least, {1, 1e6});
        row.field("most", cores.most, {1, 1e6});
        row.field("jobs", cores.jobs, kWeight);
      });
  visitor.rows("cpu_size", "Jobs without GPUs: cores of a job, and weights.", workload.cpu_size,
               [](auto& row, Workload::CpuSize& size) {
                 row.field("cpus", size.cpus, {1, 1e6});
                 row.field("jobs", size.jobs, kWeight);
               });

  visitor.rows("task",
               "Tasks with a batch size and a number of steps, instead of sizes and run times: "
               "model, kind\n(training or inference), weights, the largest batch (every power of "
               "two up to it is\nequally likely), and the time of a step with b samples on one "
               "GPU: step_s + sample_s * b.",
               workload.task, [](auto& row, Workload::Task& task) {
                 row.field("model", task.model);
                 row.field("kind", task.kind);
                 row.field("jobs", task.jobs, kWeight);
                 row.field("most_batch", task.most_batch, {1, 1 << 24});
                 row.field("step_s", task.step_s, {0, 1e6});
                 row.field("sample_s", task.sample_s, {0, 1e6});
               });

  visitor.section("span", "Period and number of jobs.");
  visitor.field("start", workload.span.start, "first instant, UTC");
  visitor.field("days", workload.span.days, {1e-3, 1e6}, "length");
  visitor.field("jobs", workload.span.jobs, kCount, "number of GPU jobs");

  visitor.section("node", "Nodes.");
  visitor.field("gpus", workload.node.gpus, {1, 64}, "GPUs");
  visitor.field("gpu_type", workload.node.gpu_type, "a name; \"\" = not given");
  visitor.field("cpus", workload.node.cpus, {0, 1e6},
                "cores, shared in proportion to GPUs; 0 = not given");
  visitor.field("memory_gb", workload.node.memory_gb, {0, 1e6}, "GB, shared in the same way");
  visitor.field("bandwidth_gbs", workload.node.bandwidth_gbs, {0, 1e6},
                "GB/s of memory traffic; 0 = not given");

  visitor.section("run", "Run times: octaves, or a log-normal.");
  visitor.field("octaves", workload.run.octaves, kWeight,
                "weights of run times <= 1 s, 1-2 s, 2-4 s, 4-8 s ...");
  visitor.field("median_s", workload.run.median_s, {0, 1e9}, "of a log-normal; 0 = octaves");
  visitor.field("spread", workload.run.spread, {0, 5}, "standard deviation of its logarithm");
  visitor.field("most_s", workload.run.most_s, {0, 1e9}, "longer runs are cut to this; 0 = never");
  visitor.field("unlimited_cpus", workload.run.unlimited_cpus,
                "true = run times assume all the cores that a job can use");

  visitor.section("cpu", "Jobs without GPUs: their run times are log-normal.");
  visitor.field("per_gpu_job", workload.cpu.per_gpu_job, {0, 1e6}, "number for each GPU job");
  visitor.field("load", workload.cpu.load, {0, 1e6},
                "core time requested / core time of all nodes: scales the run times");
  visitor.field("spread", workload.cpu.spread, {0, 5}, "standard deviation of ln(run time)");

  visitor.section("bandwidth", "Memory traffic in GB/s, at full speed; 0 = not given.");
  visitor.field("gpu", workload.bandwidth.gpu, {0, 1e6}, "of each GPU");
  visitor.field("cpu", workload.bandwidth.cpu, {0, 1e6}, "of each core of a CPU job");
  visitor.field("heavy", workload.bandwidth.heavy, {0, 1e6}, "of each core of a heavy CPU job");
  visitor.field("heavy_share", workload.bandwidth.heavy_share, kPart, "fraction of heavy jobs");

  visitor.section("rhythm", "When users submit.");
  visitor.field("hours", workload.rhythm.hours, kWeight, "weights of the hours 0 to 23");
  visitor.field("weekdays", workload.rhythm.weekdays, kWeight, "weights from Monday to Sunday");

  visitor.section("session", "Users submit one recipe several times in a row.");
  visitor.field("tail", workload.session.tail, {0.5, 20},
                "fraction of sessions with at least n jobs = n^-tail");
  visitor.field("gap_s", workload.session.gap_s, {0, 1e6},
                "s, median pause before the next job of a session");
  visitor.field("gap_spread", workload.session.gap_spread, {0, 5},
                "standard deviation of ln(pause)");
  visitor.field("serial", workload.session.serial, kPart,
                "fraction of jobs whose pause begins when the previous job has run");
  visitor.field("together", workload.session.together, kPart,
                "of the others, fraction submitted in the same second as the previous job");

  visitor.section("user", "How users differ.");
  visitor.field("activity_spread", workload.user.activity_spread, {0, 5},
                "standard deviation of ln(jobs of a user)");
  visitor.field("size_spread", workload.user.size_spread, {0, 5},
                "0 = all like the same sizes; 2 = each has its own");

  visitor.section(
      "recipe",
      "A recipe is what a user runs repeatedly: a job name and a size. The parts say how much\nof "
      "the variance of run times (in normal scores) is explained by knowing the user, the\nrecipe, "
      "its version and the session; the rest is new in each run.");
  visitor.field("per_size", workload.recipe.per_size, {1, 64}, "recipes of a user for each size");
  visitor.field("version_days", workload.recipe.version_days, {0, 1e6},
                "lifetime of a version, which has its own name; 0 = forever");
  visitor.field("user_part", workload.recipe.user_part, kPart, "");
  visitor.field("recipe_part", workload.recipe.recipe_part, kPart, "");
  visitor.field("version_part", workload.recipe.version_part, kPart, "");
  visitor.field("session_part", workload.recipe.session_part, kPart, "");

  visitor.section("ending", "How much earlier (in normal scores) jobs end that do not complete.");
  visitor.field("cancelled", workload.ending.cancelled, {-5, 5}, "negative = later");
  visitor.field("failed", workload.ending.failed, {-5, 5}, "");

  visitor.section("limit", "Time limits: rounded up; no job exceeds its own.");
  visitor.field("share", workload.limit.share, kPart, "fraction of the recipes that have one");
  visitor.field("factor", workload.limit.factor, {1e-3, 1e6}, "median of limit / typical run time");
  visitor.field("spread", workload.limit.spread, {0, 5}, "standard deviation of ln(factor)");

  visitor.section("work", "Tasks.");
  visitor.field("least_steps", workload.work.least_steps, {1, 1e9}, "number of steps: lowest");
  visitor.field("most_steps", workload.work.most_steps, {1, 1e9}, "highest (all equally likely)");
  visitor.field("startup_s", workload.work.startup_s, {0, 1e6}, "s, before the first step");
  visitor.field("most_gpus", workload.work.most_gpus, kCount,
                "most GPUs of a task, if its batch has as many samples");

  visitor.section("deadline", "Weights of the classes of tasks; all 0 = no deadlines.");
  visitor.field("urgent", workload.deadline.urgent, kWeight, "due at once: never met");
  visitor.field("prior", workload.deadline.prior, kWeight, "within its run time on one GPU");
  visitor.field("normal", workload.deadline.normal, kWeight, "within twice that");
}

}  // namespace almanac::trace
