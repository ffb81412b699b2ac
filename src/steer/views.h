// SPDX-License-Identifier: Apache-2.0

/// \file
/// The views of a managed cluster: jobs, nodes, manager, usage against fair share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/service.h"
#include "steer/control.h"
#include "steer/controller.h"
#include "steer/known.h"
#include "steer/saving.h"
#include "steer/steering.h"
#include "steer/watching.h"

namespace almanac::steer {

/// All public functions are thread-safe, and as in service::Service.
class Views {
 public:
  Views(const Known& known, const Controller& controller, const Saving& saving,
        const Steering& steering, const Watching& watching)
      : known_(known),
        controller_(controller),
        saving_(saving),
        steering_(steering),
        watching_(watching) {}

  service::Overview overview() const;
  service::Counters counters() const;
  Result<std::vector<service::JobView>> jobs(const service::Sought& sought) const;
  Result<service::JobView> job(store::JobNumber number) const;
  Result<std::vector<std::string>> explain(store::JobNumber number, service::Eyes eyes) const;
  std::vector<service::NodeView> nodes() const;
  Result<service::Tenancy> tenancy() const;
  std::optional<service::Manager> manager() const;
  std::shared_ptr<const cluster::Cluster> cluster() const;
  /// The content of the daemon's status file.
  Status status() const;

 private:
  // Of a job of the mirror, under the lock.
  service::JobView view_of(const manager::Job& job) const;
  std::string why_waiting(const manager::Job& job) const;
  std::vector<std::string> explain(const manager::Job& job, const std::string& shown) const;
  std::optional<service::Pace> pace_of(const manager::Job& job) const;
  TenantId tenant_of(const store::Job& job) const;
  std::vector<service::AgentView> said_by_agents() const;

  Result<std::vector<std::string>> explain_job(store::JobNumber number, service::Eyes eyes) const;
  Result<service::Tenancy> make_tenancy() const;

  const Known& known_;
  const Controller& controller_;
  const Saving& saving_;
  const Steering& steering_;
  const Watching& watching_;
  service::TenancyKeeper tenancy_;
};

}  // namespace almanac::steer
