// SPDX-License-Identifier: Apache-2.0
#include "manager/quotas.h"

#include <gmock/gmock.h>

namespace almanac::manager {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Job job_of(const std::string& account, const std::string& user, const std::string& qos) {
  return {.user = user, .account = account, .partition = "p", .qos = qos};
}

TEST(QuotasOfAJob, GoUpTheTreeOfAccountsUnlessAQosLimits) {
  const Limits limits{.quotas = {{.account = "lab", .gpus = 10},
                                 {.account = "vision", .gpus = 6},
                                 {.account = "vision", .user = "ann", .gpus = 4},
                                 {.qos = "high", .gpus = 16},
                                 {.account = "vision", .user = "bob", .partition = "q", .gpus = 1}},
                      .parents = {{"vision", "lab"}, {"speech", "lab"}, {"lab", "root"}}};
  QuotaFinder finder(limits);
  EXPECT_THAT(finder.of(job_of("speech", "ann", "normal")).asked, ElementsAre(0));
  EXPECT_THAT(finder.of(job_of("vision", "bob", "normal")).asked, ElementsAre(0, 1));
  EXPECT_THAT(finder.of(job_of("vision", "ann", "normal")).asked, ElementsAre(0, 1, 2));
  EXPECT_THAT(finder.of(job_of("vision", "ann", "high")).asked, ElementsAre(3))
      << "instead of its account";
  EXPECT_THAT(finder.of(job_of("vision", "ann", "high")).counted, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(finder.of(job_of("guests", "ann", "normal")).counted, IsEmpty());
}

TEST(QuotasOfAJob, OfAUserAreNotOfHisJobsWithAnAssociationForTheirPartition) {
  Limits limits{.quotas = {{.account = "lab", .gpus = 20},
                           {.account = "lab", .user = "ann", .gpus = 4},
                           {.account = "lab", .user = "ann", .partition = "q", .gpus = 2}}};
  Job there = job_of("lab", "ann", "normal");
  there.partition = "q";
  QuotaFinder limited(limits);
  EXPECT_THAT(limited.of(there).counted, ElementsAre(0, 2));
  EXPECT_THAT(limited.of(job_of("lab", "ann", "normal")).counted, ElementsAre(0, 1));
  limits.quotas[2].gpus = Quota::kAny;
  EXPECT_THAT(QuotaFinder(limits).of(there).counted, ElementsAre(0));
}

TEST(QuotasOfAJob, AreCalledByTheirOwners) {
  EXPECT_EQ(whose({.account = "lab"}), "account lab");
  EXPECT_EQ(whose({.account = "lab", .user = "ann"}), "user ann of account lab");
  EXPECT_EQ(whose({.qos = "high"}), "QOS high");
}

}  // namespace
}  // namespace almanac::manager
