// SPDX-License-Identifier: Apache-2.0

/// \file
/// Drained nodes and GPUs that are out of service. The policy learns of them, and they stay so when
/// the service restarts.
#pragma once

#include <mutex>
#include <optional>
#include <set>
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
  /// See service::Service. Any thread.
  Result<void> set_drained(const std::string& node, bool drained, const service::Caller& caller);
  Result<void> set_gpu_trouble(const std::string& node, int gpu, const std::string& trouble,
                               const service::Caller& caller);
  /// Records the driver's verdict on a GPU; "" if it is healthy again. Any thread; does not block.
  void set_by_driver(NodeId node, int gpu, const std::string& trouble);
  /// Starts no jobs on the nodes of these boxes, and on all others again. `gone`: boxes that an
  /// operator has declared gone, whose silence is no trouble. Any thread; does not block.
  void set_silent(const std::set<std::string>& boxes, const std::set<std::string>& gone);
  /// Reads what an earlier service left. Boxes are silent until they report.
  Result<void> read();

 private:
  /// Updates the queue, and saves the outage to disk.
  void apply(NodeId node, Outage outage);
  Change plan(NodeId node, Outage outage);
  std::optional<NodeId> node_called(const std::string& name) const;
  /// Returns the form in which the store keeps it.
  std::string to_json(const Outage& outage) const;

  State& state_;
  Queue& queue_;
  Requests& requests_;
  Outage outage_;
  std::mutex mutex_;
  std::set<std::string> silent_;   // as last set, under the mutex
  std::set<std::string> missing_;  // of these, without those declared gone
};

}  // namespace almanac::machine
