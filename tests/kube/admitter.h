// SPDX-License-Identifier: Apache-2.0

/// \file
/// Kueue in a test: admits what waits at an API server by the rules of room kueue.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api_server.h"
#include "kube/outlook.h"
#include "kube/picture.h"
#include "kueue/scheduler.h"
#include "objects.h"

namespace almanac::kube {

/// Admits until nothing fits, and returns who was admitted, in order: "a/short". All workloads
/// must have one pod.
inline std::vector<std::string> admit(ApiServer& server, const std::string& time) {
  Client client = Client::to({.server = server.url(), .from = server.url()}).value();
  const Picture picture = take_picture(client).value();
  kueue::Scheduler scheduler = kueue::Scheduler::make(picture.objects.setup).value();
  std::map<std::string, const Workload*> by_uid;
  for (const Workload& each : picture.workloads) {
    by_uid[each.uid] = &each;
    if (each.stage == Stage::pending) {
      EXPECT_TRUE(scheduler.submit(submission_of(picture, each)));
    } else if (each.holds_quota()) {
      EXPECT_TRUE(scheduler.submit_admitted(submission_of(picture, each),
                                            {{"nvidia.com/gpu", "default"}}, 0));
    }
  }
  std::vector<std::string> made;
  for (std::int64_t cycle = 1; !scheduler.heads().empty() && cycle < 1000; ++cycle) {
    for (const kueue::Admitted& each : scheduler.cycle(cycle).admitted) {
      const Workload& workload = *by_uid.at(each.workload);
      server.patch(
          in_namespace(workload.name_space, "workloads") + "/" + workload.name,
          admitted(picture.cluster_queue(workload), static_cast<int>(workload.gpus()), time));
      made.push_back(workload.full_name());
    }
  }
  return made;
}

}  // namespace almanac::kube
