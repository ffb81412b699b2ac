// SPDX-License-Identifier: Apache-2.0
#include "schedule/speed_book.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/catalogue.h"

namespace almanac::schedule {
namespace {

using testing::HasSubstr;

/// A board of 200 W whose GPU at full use works in proportion to its limit.
energy::PowerModel board() {
  return {.name = "even",
          .gpus = 2,
          .idle_w = 100,
          .full_w = 500,
          .gpu_type = "V100",
          .gpu_limit_w = 200,
          .gpu_least_limit_w = 50,
          .gpu_curve = {.idle = 0, .full = 1, .bend = 1, .strain = 1},
          .gpu_use = {{"bert_base_uncased", 1}, {"ncf", 0.5}}};
}

cluster::Cluster nodes_of(std::vector<cluster::NodeClass> kinds) {
  cluster::Cluster made;
  made.takes_every_job = true;
  made.add_vc("all");
  for (const cluster::NodeClass& kind : kinds) made.add_nodes(kind, 1);
  return made;
}

/// One job of a GPU, of a model or of none.
trace::Trace job_of(const char* model) {
  trace::Trace trace;
  trace::Job job;
  job.request.gpus = 1;
  job.request.model = trace.names.intern(model);
  job.outcome.run = 100s;
  trace.jobs.push_back(job);
  return trace;
}

TEST(SpeedBook, KnowsWhatMostNodesAreWhateverTheirLimits) {
  // Five nodes of 4 cores a GPU, two of them limited; four of 2 cores a GPU.
  cluster::NodeClass many{.gpus = 2, .cpus = 8};
  cluster::Cluster cluster = nodes_of({many, many, many});
  many.gpu_power_limit_w = 100;
  cluster.add_nodes(many, 2);
  cluster.add_nodes({.gpus = 2, .cpus = 4}, 4);
  perf::Model bert;
  bert.name = "bert";
  bert.input.emplace();
  bert.input->curve = {.enough_cpus = 4, .power = 1, .disk = 1, .dataset_gb = 0};
  perf::Catalogue fed;
  fed.models.push_back(bert);
  const SpeedBook book(cluster, job_of("bert"), fed,
                       policy::PowerLimits::of(cluster, board()).value());
  EXPECT_EQ(book.rate(JobId{0}, 1, 1), 1) << "most of the five have no limit";
  const cluster::Grant four_cores[] = {{.node = NodeId{0}, .gpus = 1, .cpu_milli = 4000}};
  EXPECT_EQ(book.rate(JobId{0}, four_cores), 1) << "as many as come with a GPU there";
}

TEST(SpeedBook, MultipliesInWhatAPowerLimitTakes) {
  const cluster::Cluster cluster = nodes_of({{.gpus = 2, .gpu_power_limit_w = 100}, {.gpus = 2}});
  const auto book_of = [&](const char* model) {
    return std::make_unique<SpeedBook>(cluster, job_of(model), perf::Catalogue{},
                                       policy::PowerLimits::of(cluster, board()).value());
  };
  const cluster::Grant limited[] = {{.node = NodeId{0}, .gpus = 1}};
  const cluster::Grant free[] = {{.node = NodeId{1}, .gpus = 1}};
  const auto bert = book_of("bert");
  EXPECT_DOUBLE_EQ(bert->rate(JobId{0}, limited), 0.5);
  EXPECT_DOUBLE_EQ(bert->parts(JobId{0}, limited).power, 0.5);
  EXPECT_EQ(bert->rate(JobId{0}, free), 1);
  EXPECT_DOUBLE_EQ(bert->rate(JobId{0}, 1, 1), 0.5) << "most nodes, and of as many the first";
  EXPECT_DOUBLE_EQ(bert->rate(JobId{0}, cluster::Amount{.gpus = 1}), 0.5);
  EXPECT_DOUBLE_EQ(book_of("ncf")->rate(JobId{0}, limited), 2.0 / 3);
  const auto other = book_of("mine");
  // 3/4 of the board is asked for: 1 / (4/3 + 2 - 1) = 3/7 is drawn.
  EXPECT_DOUBLE_EQ(other->rate(JobId{0}, limited), 4.0 / 7);
  EXPECT_THAT(other->notes(), testing::Contains(HasSubstr(
                                  "1 job names match no model measured under power limits: their "
                                  "GPU utilization is assumed to be 0.75, the mean of the 2")));
}

}  // namespace
}  // namespace almanac::schedule
