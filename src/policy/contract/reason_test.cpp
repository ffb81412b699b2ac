// SPDX-License-Identifier: Apache-2.0
#include "policy/contract/reason.h"

#include <gtest/gtest.h>

namespace almanac::policy {
namespace {

TEST(Reason, SaysNotNowWithNumbersAndNames) {
  EXPECT_EQ(to_string({.kind = ReasonKind::short_of_gpus, .wanted = 8, .available = 5}, ""),
            "not enough GPUs: needs 8, 5 free on the nodes it can use");
  EXPECT_EQ(to_string({.kind = ReasonKind::fragmented, .wanted = 8, .available = 9}, ""),
            "fragmentation: needs 8, 9 free but spread over too many nodes");
  EXPECT_EQ(to_string({.kind = ReasonKind::short_of_cores, .wanted = 2, .available = 5}, ""),
            "not enough cores or memory next to the free GPUs: needs 2 GPUs, 5 free");
  EXPECT_EQ(to_string({.kind = ReasonKind::short_of_cores, .available = 5}, ""),
            "not enough free cores or memory on the nodes it can use");
  EXPECT_EQ(to_string({.kind = ReasonKind::behind}, "17"),
            "would fit, but job 17 is ahead in the queue");
  EXPECT_EQ(to_string({.kind = ReasonKind::reserved}, "17"),
            "would fit, but would delay job 17, which holds a reservation");
  const Precedence less_gpu_time{.term = Term::gpu_time, .own = 2400, .others = 900};
  EXPECT_EQ(to_string({.kind = ReasonKind::behind, .precedence = less_gpu_time}, "17"),
            "would fit, but job 17 goes first: it is expected to take 15 "
            "GPU-min, this job 40 "
            "GPU-min");
  EXPECT_EQ(to_string({.kind = ReasonKind::reserved, .precedence = less_gpu_time}, "17"),
            "would fit, but would delay job 17, which holds a reservation and goes "
            "first: it is "
            "expected to take 15 GPU-min, this job 40 GPU-min");
  EXPECT_EQ(to_string({.kind = ReasonKind::stopped,
                       .wanted = 4,
                       .available = 1,
                       .precedence = {.term = Term::gittins_index, .own = 400'000, .others = 9000},
                       .stop_gpu_s = 60},
                      "17"),
            "stopped for job 17: its Gittins index is 2.5 GPU-h, this job's is "
            "111 GPU-h, and the "
            "stop cost 60 GPU-s; needs 4 GPUs, 1 free on the nodes it can use");
  EXPECT_EQ(to_string(Precedence{.term = Term::due, .own = 0, .others = 5400}),
            "it must run now to meet its deadline in 1h 30m");
  EXPECT_EQ(to_string(Precedence{.term = Term::due, .own = 7200, .others = 5400}),
            "it must run now to meet its deadline in 1h 30m, this job to meet its "
            "own in 2h 00m");
  EXPECT_EQ(to_string(Precedence{.term = Term::deadline, .own = 7200, .others = 5400}),
            "its deadline is in 1h 30m, this job's in 2h 00m");
  EXPECT_EQ(to_string(Precedence{.term = Term::deadline, .own = 0, .others = 5400}),
            "its deadline is in 1h 30m, this job has none that it can meet");
  EXPECT_EQ(to_string(Precedence{.term = Term::tier, .own = 0, .others = 2}),
            "its priority tier is 2, this job's is 0");
  EXPECT_EQ(to_string({.kind = ReasonKind::at_limit, .wanted = 4, .available = 1}, ""),
            "needs 4 GPUs, but the limit of its tenant (or of a tenant above) leaves "
            "1");
}

TEST(Reason, SaysWhichInstanceIsLacking) {
  const auto two = *slices::profile_id("2g.12gb");
  EXPECT_EQ(to_string({.kind = ReasonKind::no_instance, .profile = two}, "17"),
            "no 2g.12gb is free on the nodes it can use, but one can be "
            "created when job 17 ends");
  EXPECT_EQ(to_string({.kind = ReasonKind::no_instance}, ""),
            "no instance of its size is free on the nodes it can use");
  EXPECT_FALSE(is_never({.kind = ReasonKind::no_instance}));
  EXPECT_EQ(to_string({.kind = ReasonKind::no_such_instance}, ""),
            "never: the nodes it can use are not partitioned into the MIG "
            "instance that it needs");
  EXPECT_EQ(to_string({.kind = ReasonKind::no_such_instance,
                       .profile = *slices::profile_id("3g.40gb"),
                       .board = slices::find_board("A30-24GB")},
                      ""),
            "never: needs a 3g.40gb, but an A30-24GB offers only 1g.6gb, "
            "1g.6gb+me, 2g.12gb, "
            "2g.12gb+me, 4g.24gb");
}

TEST(Reason, SaysWhatOfAGpuIsShort) {
  EXPECT_EQ(to_string({.kind = ReasonKind::short_of_gpu_part, .wanted = 500, .available = 400}, ""),
            "not enough of a GPU: needs 0.5 of its compute, and no GPU that it can use has more "
            "than 0.4 free");
  EXPECT_EQ(
      to_string({.kind = ReasonKind::short_of_gpu_memory, .wanted = 60'000, .available = 30'000},
                ""),
      "not enough GPU memory: needs 60 GB, and no GPU with enough compute left has more than 30 GB "
      "free");
}

TEST(Reason, SaysNeverAsNever) {
  EXPECT_EQ(to_string({.kind = ReasonKind::too_large, .wanted = 9, .available = 8}, ""),
            "never: needs 9 GPUs, but the nodes it can use have at most 8 of one "
            "type");
  for (const ReasonKind kind :
       {ReasonKind::unknown_vc, ReasonKind::too_large, ReasonKind::too_many_cores,
        ReasonKind::no_such_gpu, ReasonKind::over_limit, ReasonKind::no_such_instance,
        ReasonKind::not_in_thousandths, ReasonKind::gpu_memory_too_small}) {
    EXPECT_TRUE(is_never({.kind = kind}));
    EXPECT_TRUE(to_string({.kind = kind}, "").starts_with("never: "));
  }
  for (const ReasonKind kind : {ReasonKind::none, ReasonKind::short_of_gpus, ReasonKind::fragmented,
                                ReasonKind::behind, ReasonKind::reserved}) {
    EXPECT_FALSE(is_never({.kind = kind}));
    EXPECT_FALSE(to_string({.kind = kind}, "X").starts_with("never"));
  }
}

TEST(Reason, HasAStableNameForFiles) {
  EXPECT_EQ(name(ReasonKind::short_of_gpus), "SHORT_OF_GPUS");
  EXPECT_EQ(name(ReasonKind::no_such_gpu), "NO_SUCH_GPU");
}

TEST(Reason, GivesSlurmsNameAndASentence) {
  EXPECT_EQ(to_string({.kind = ReasonKind::at_limit, .slurm = slurm_reason("QOSGrpGRES")}, ""),
            "QOSGrpGRES: running jobs leave too little of the generic "
            "resources (GPUs) that "
            "GrpTRES of its QOS allows");
  EXPECT_EQ(to_string({.kind = ReasonKind::short_of_gpus,
                       .slurm = slurm_reason("Resources"),
                       .wanted = 8,
                       .available = 5},
                      ""),
            "Resources: not enough GPUs: needs 8, 5 free on the nodes it can use");
  EXPECT_EQ(to_string({.kind = ReasonKind::behind,
                       .slurm = slurm_reason("Priority"),
                       .precedence = {Term::priority, 900, 1042}},
                      "17"),
            "Priority: job 17 goes first: its priority is 1042, this job's is 900");
  EXPECT_EQ(slurm_reason("a word of a later release"), SlurmReason::none);
}

}  // namespace
}  // namespace almanac::policy
