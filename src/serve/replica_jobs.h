// SPDX-License-Identifier: Apache-2.0

/// \file
/// Replicas of a command as jobs of a live service.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "replicas/keeper.h"
#include "serve/client.h"
#include "store/job.h"

namespace almanac::serve {

/// Starts, finds and ends replicas through the API. Each is called after the service and its port,
/// so that a later keeper of the same service finds it.
class ReplicaJobs final : public replicas::Jobs {
 public:
  /// `replica` is what each replica requests: its name is that of the service, and {port} in its
  /// command is the port of the replica.
  ReplicaJobs(Client client, store::Submission replica)
      : client_(std::move(client)), replica_(std::move(replica)) {}

  Result<std::int64_t> start(int port, bool is_kept) override;
  Result<State> state(std::int64_t job) override;
  Result<void> end(std::int64_t job) override;
  Result<std::vector<Job>> left() override;

 private:
  /// Prefix of the names of its replicas.
  std::string prefix() const { return replica_.name + "-replica-"; }

  Client client_;
  store::Submission replica_;
};

}  // namespace almanac::serve
