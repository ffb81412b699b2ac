// SPDX-License-Identifier: Apache-2.0
#include "schedule/admission.h"

#include <gtest/gtest.h>

namespace almanac::schedule {
namespace {

using policy::ReasonKind;

class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() {
    cluster_.add_vc("red");
    cluster_.add_nodes({.gpus = 4, .gpu_type = "V100"}, 2);
    cluster_.add_nodes({.gpus = 8, .gpu_type = "A100"}, 1);
    cluster_.add_vc("blue");
    cluster_.add_nodes({.gpus = 8, .gpu_type = "A100"}, 1);
  }

  trace::Request request(std::string_view vc, int gpus, std::string_view type = "") {
    trace::Request made;
    made.vc = names_.intern(vc);
    made.gpus = gpus;
    made.gpu_type = names_.intern(type);
    return made;
  }
  /// Why it can never start; none = it can.
  ReasonKind never(const trace::Request& asked) {
    Admission admission(cluster_, names_);
    const VcId vc = admission.vc(asked);
    const auto reason = admission.never(vc, admission.demand(asked, vc));
    return reason ? reason->kind : ReasonKind::none;
  }

  cluster::Cluster cluster_;
  Names names_;
};

TEST_F(AdmissionTest, TellsNeverFromNotNow) {
  EXPECT_EQ(never(request("red", 8)), ReasonKind::none);
  EXPECT_EQ(never(request("green", 1)), ReasonKind::unknown_vc);
  EXPECT_EQ(never(request("", 1)), ReasonKind::unknown_vc);
  EXPECT_EQ(never(request("red", 9)), ReasonKind::too_large) << "a job has GPUs of one type";
  EXPECT_EQ(never(request("blue", 1, "V100")), ReasonKind::no_such_gpu);
  EXPECT_EQ(never(request("blue", 9, "A100|V100")), ReasonKind::too_large);
}

TEST_F(AdmissionTest, LetsAJobSpanKindsOfNodesThatAllSuit) {
  cluster_ = {};
  cluster_.add_vc("red");
  cluster_.add_nodes({.gpus = 4, .cpus = 64}, 1);
  cluster_.add_nodes({.gpus = 4, .cpus = 96}, 1);
  const auto asked = [&](int gpus, float cpus_each) {
    trace::Request made = request("red", gpus);
    made.cpus = cpus_each * static_cast<float>(gpus);
    return never(made);
  };
  EXPECT_EQ(asked(8, 16), ReasonKind::none);
  EXPECT_EQ(asked(8, 17), ReasonKind::too_many_cores) << "the first node has 16 of each";
  EXPECT_EQ(asked(4, 17), ReasonKind::none);
  EXPECT_EQ(asked(9, 1), ReasonKind::too_large);
}

TEST_F(AdmissionTest, TellsWhetherAllTasksOfACpuJobFit) {
  cluster_ = {};
  cluster_.add_vc("red");
  cluster_.add_nodes({.gpus = 4, .cpus = 10, .memory_gb = 64}, 2);
  cluster_.add_nodes({.gpus = 0, .cpus = 4, .memory_gb = 64}, 1);
  const auto asked = [&](int tasks, float cpus, float memory_gb) {
    trace::Request made = request("red", 0);
    made.nodes = tasks;
    made.cpus = cpus;
    made.memory_gb = memory_gb;
    return never(made);
  };
  EXPECT_EQ(asked(1, 10, 64), ReasonKind::none);
  EXPECT_EQ(asked(1, 11, 64), ReasonKind::too_many_cores);
  EXPECT_EQ(asked(7, 21, 7), ReasonKind::none) << "3 + 3 + 1 tasks of 3 cores";
  EXPECT_EQ(asked(8, 24, 8), ReasonKind::too_many_cores) << "24 cores are there, but in pieces";
  EXPECT_EQ(asked(4, 4, 4 * 40), ReasonKind::too_many_cores) << "one task of 40 GB a node";
}

TEST_F(AdmissionTest, ReadsTypesInAnyCaseAndAnyOfThem) {
  EXPECT_EQ(never(request("red", 1, "v100")), ReasonKind::none);
  EXPECT_EQ(never(request("red", 1, "H100|a100")), ReasonKind::none);
  EXPECT_EQ(never(request("red", 1, "H100")), ReasonKind::no_such_gpu);
  EXPECT_EQ(never(request("red", 1, "|")), ReasonKind::no_such_gpu);
}

TEST_F(AdmissionTest, IgnoresTypesWhereTheClusterHasNone) {
  cluster_ = cluster::uniform(1, 8);
  EXPECT_EQ(never(request("whatever", 8, "V100")), ReasonKind::none)
      << "one virtual cluster takes every job";
}

TEST_F(AdmissionTest, NumbersEqualDemandsEqually) {
  Admission admission(cluster_, names_);
  const DemandId four = admission.demand(request("red", 4), VcId{0});
  EXPECT_EQ(admission.demand(request("blue", 4), VcId{1}), four)
      << "the virtual cluster is no demand";
  EXPECT_NE(admission.demand(request("red", 4, "V100"), VcId{0}), four);
  EXPECT_EQ(admission.demand(request("red", 4, "V100|A100"), VcId{0}),
            admission.demand(request("red", 4, "A100|V100"), VcId{0}));
  EXPECT_EQ(admission.demands()[index(four)].gpus, 4);
}

TEST_F(AdmissionTest, CountsTheNodesThatAVirtualClusterWillHave) {
  cluster_.changes = {{.at = Time::min(), .vc = VcId{1}, .nodes = 0}};
  EXPECT_EQ(never(request("blue", 8)), ReasonKind::none);
}

}  // namespace
}  // namespace almanac::schedule
