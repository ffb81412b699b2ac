// SPDX-License-Identifier: Apache-2.0

/// \file
/// Nodes that are drained and GPUs that are out of service: the policy hears of them, and they
/// remain so when the service begins again.
#pragma once

#include <optional>
#include <string>

#include "machine/outage.h"
#include "machine/queue.h"
#include "machine/requests.h"
#include "machine/state.h"

namespace almanac::machine {

class OutOfService {
 public:
  OutOfService(State& state, Queue& queue, Requests& requests)
      : state_(state), queue_(queue), requests_(requests) {}

  const Outage& outage() const { return outage_; }
  /// As service::Service has them. Any thread.
  Result<void> set_drained(const std::string& node, bool drained, const service::Caller& caller);
  Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                               const service::Caller& caller);
  /// Takes the driver's word on a GPU; "" = it is healthy again. Any thread; does not wait.
  void set_by_driver(NodeId node, int gpu, const std::string& trouble);
  Result<void> read();

 private:
  /// Tells the queue, and has the disk keep it.
  void apply(NodeId node, Outage outage);
  Change plan(NodeId node, Outage outage);
  std::optional<NodeId> node_called(const std::string& name) const;
  /// As the store keeps it.
  std::string to_json(const Outage& outage) const;

  State& state_;
  Queue& queue_;
  Requests& requests_;
  Outage outage_;
};

}  // namespace almanac::machine
