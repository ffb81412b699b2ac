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

TEST_F(AdmissionTest, TakesTheOnlyVirtualClusterWhereAJobNamesNone) {
  cluster_ = {};
  cluster_.add_vc("red");
  cluster_.add_nodes({.gpus = 4}, 1);
  EXPECT_EQ(never(request("", 1)), ReasonKind::none);
  EXPECT_EQ(never(request("blue", 1)), ReasonKind::unknown_vc) << "it names another";
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

TEST_F(AdmissionTest, CoresThatAJobDoesNotSayAreThoseOfItsTypeOfGpu) {
  cluster_ = {};
  cluster_.add_vc("red");
  cluster_.add_nodes({.gpus = 4, .gpu_type = "V100", .cpus = 16}, 3);
  cluster_.add_nodes({.gpus = 4, .gpu_type = "A100", .cpus = 64}, 1);
  Admission admission(cluster_, names_);
  const auto cpu_milli = [&](const trace::Request& asked) {
    const DemandId demand = admission.demand(asked, admission.vc(asked));
    return admission.demands()[index(demand)].cpu_milli;
  };
  EXPECT_EQ(cpu_milli(request("red", 1, "V100")), 4000);
  EXPECT_EQ(cpu_milli(request("red", 1, "A100")), 16'000);
  EXPECT_EQ(cpu_milli(request("red", 1)), 4000) << "most nodes have so many";
}

TEST_F(AdmissionTest, AJobThatAsksAllOfANodeFitsWhateverTheNumberOfItsGpus) {
  cluster_ = {};
  cluster_.add_vc("red");
  cluster_.add_nodes({.gpus = 8, .cpus = 64, .memory_gb = 256}, 1);
  for (int gpus = 1; gpus <= 8; ++gpus) {
    trace::Request asked = request("red", gpus);
    asked.cpus = 64;
    asked.memory_gb = 256;
    EXPECT_EQ(never(asked), ReasonKind::none) << gpus << " GPUs";
    asked.cpus = 64.1F;
    EXPECT_EQ(never(asked), ReasonKind::too_many_cores) << gpus << " GPUs";
  }
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

class SlicesAdmissionTest : public AdmissionTest {
 protected:
  SlicesAdmissionTest() {
    cluster_ = {};
    cluster_.add_vc("red");
    for (const char* const board : {"A100-40GB", "A100-80GB"}) {
      const slices::Board& told = *slices::find_board(board);
      cluster_.add_nodes({.gpus = 2,
                          .gpu_type = "A100",
                          .sharing = cluster::Sharing::mig,
                          .board = &told,
                          .gpu_memory_gb = told.memory_gib},
                         1);
    }
    cluster_.add_vc("blue");
    cluster_.add_nodes({.gpus = 2, .gpu_type = "T4", .gpu_memory_gb = 16}, 1);
  }
  trace::Request instance(std::string_view profile, int count = 1, std::string_view vc = "red") {
    trace::Request made = request(vc, count);
    made.gpu_profile = names_.intern(profile);
    return made;
  }
  cluster::Demand demand(const trace::Request& asked) {
    Admission admission(cluster_, names_);
    return admission.demands()[index(admission.demand(asked, admission.vc(asked)))];
  }
  std::string why_never(const trace::Request& asked) {
    Admission admission(cluster_, names_);
    const VcId vc = admission.vc(asked);
    const auto reason = admission.never(vc, admission.demand(asked, vc));
    return reason ? to_string(*reason, "") : "";
  }
};

TEST_F(SlicesAdmissionTest, AnInstanceIsOfTheBoardsThatHaveOneOfThatName) {
  const cluster::Demand two = demand(instance("2g.20gb"));
  EXPECT_EQ(two.gpu_types, 0b010U) << "the larger A100";
  EXPECT_EQ(two.gpu_milli, 250);
  const cluster::Demand one = demand(instance("1g.10gb"));
  EXPECT_EQ(one.gpu_types, 0b011U);
  EXPECT_EQ(one.gpu_milli, 125) << "the least: on the smaller board it is two slices of memory";
  const cluster::Demand all = demand(instance("7g.80gb"));
  EXPECT_EQ(all.profile, slices::kNoProfile) << "all of a board is a GPU";
  EXPECT_EQ(all.gpu_types, 0b010U);
}

TEST_F(SlicesAdmissionTest, AnInstanceThatANodeListsAsAGpuIsOne) {
  cluster_.add_vc("green");
  cluster_.add_nodes({.gpus = 3, .gpu_type = "1g.18gb", .gpu_memory_gb = 16}, 1);
  const cluster::Demand two = demand(instance("1g.18gb", 2, "green"));
  EXPECT_EQ(two.gpu_types, 0b1000U);
  EXPECT_EQ(two.profile, slices::kNoProfile);
  EXPECT_EQ(two.gpu_milli, cluster::kWholeGpu);
  EXPECT_EQ(why_never(instance("1g.18gb", 4, "green")),
            "never: needs 4 GPUs, but the nodes it can use have at most 3 of one type");
  trace::Request large = instance("1g.18gb", 1, "green");
  large.gpu_memory_gb = 17;
  EXPECT_NE(why_never(large), "");
}

TEST_F(SlicesAdmissionTest, SaysThatThereIsNoSuchInstanceWhateverMemoryIsAsked) {
  trace::Request asked = instance("1g.18gb");
  asked.gpu_memory_gb = 8;
  EXPECT_EQ(why_never(asked).substr(0, 40), "never: needs a 1g.18gb, but an A100-40GB");
}

TEST_F(SlicesAdmissionTest, CountsInstancesThatOneJobAsks) {
  EXPECT_EQ(never(instance("2g.20gb", 6)), ReasonKind::none) << "three on each of two boards";
  EXPECT_EQ(why_never(instance("2g.20gb", 7)),
            "never: needs 7 GPUs, but the nodes it can use have at most 6 of one type");
}

TEST_F(SlicesAdmissionTest, SaysWhichInstancesThereAre) {
  EXPECT_EQ(why_never(instance("2g.12gb")),
            "never: needs a 2g.12gb, but an A100-40GB offers only 1g.5gb, 1g.5gb+me, 1g.10gb, "
            "2g.10gb, 3g.20gb, 4g.20gb, 7g.40gb");
  EXPECT_EQ(why_never(instance("1g.10gb", 1, "blue")),
            "never: needs a 1g.10gb, but the nodes it can use have none and no GPU to partition");
  trace::Request half = request("red", 1);
  half.gpu_share = 0.5;
  EXPECT_EQ(never(half), ReasonKind::not_in_thousandths);
  half.vc = names_.intern("blue");
  EXPECT_EQ(never(half), ReasonKind::none);
}

TEST_F(SlicesAdmissionTest, GpuMemoryRulesOutGpusAndInstancesThatHaveLess) {
  trace::Request asked = request("red", 1);
  asked.gpu_memory_gb = 60;
  EXPECT_EQ(demand(asked).gpu_types, 0b010U);
  asked.gpu_memory_gb = 81;
  EXPECT_EQ(why_never(asked),
            "never: needs 81 GB of GPU memory, more than any GPU on the nodes it can use offers");
  trace::Request one = instance("1g.10gb");
  one.gpu_memory_gb = 9.6F;
  EXPECT_EQ(demand(one).gpu_types, 0b001U) << "9.625 GB there, 9.5 on the larger board";
  trace::Request part = request("blue", 1);
  part.gpu_share = 0.25;
  part.gpu_memory_gb = 6;
  EXPECT_EQ(demand(part).gpu_memory_mb, 6000);
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
