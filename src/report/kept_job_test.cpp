// SPDX-License-Identifier: Apache-2.0
#include "report/kept_job.h"

#include <gtest/gtest.h>

#include "policy/contract/slurm_reason.h"

namespace almanac::report {
namespace {

using policy::ReasonKind;

TEST(KeptJob, TotalsFollowTheReasonOfSlurm) {
  EXPECT_EQ(waited_for({.kind = ReasonKind::fragmented}), "for free GPUs in the right places");
  EXPECT_EQ(waited_for({.kind = ReasonKind::fragmented, .slurm = policy::slurm_reason("None")}),
            "for Slurm's reason None");
  EXPECT_EQ(
      waited_for({.kind = ReasonKind::at_limit, .slurm = policy::slurm_reason("QOSGrpJobsLimit")}),
      "for Slurm's reason QOSGrpJobsLimit");
  // Numbers of the job say more than Slurm's word.
  EXPECT_EQ(
      waited_for({.kind = ReasonKind::short_of_gpus, .slurm = policy::slurm_reason("Resources")}),
      "for GPUs that others held");
}

}  // namespace
}  // namespace almanac::report
