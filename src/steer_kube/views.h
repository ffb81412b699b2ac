// SPDX-License-Identifier: Apache-2.0

/// \file
/// Answers about a Kubernetes cluster: the workloads as jobs, the nodes, the lever.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/service.h"
#include "steer_kube/known.h"

namespace almanac::steer_kube {

/// Thread-safe.
class Views {
 public:
  explicit Views(const Known& known) : known_(known) {}

  service::Overview overview() const;
  service::Counters counters() const;
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const;
  Result<service::JobView> job(store::JobNumber number) const;
  Result<std::vector<std::string>> explain(store::JobNumber number) const;
  std::optional<service::Expected> expected(store::JobNumber number) const;
  std::vector<service::NodeView> nodes() const;
  service::Manager manager() const;
  std::shared_ptr<const cluster::Cluster> cluster() const;

 private:
  /// What the answers about several jobs share: lookups by uid.
  struct Index;
  /// Under the lock.
  Index index() const;
  /// Why lever order does nothing, or that the API server does not answer. Under the lock.
  std::string rests(const std::string& blind) const;
  service::JobView view_of(const store::Job& job, const std::string& uid, const Index& at) const;

  const Known& known_;
};

}  // namespace almanac::steer_kube
