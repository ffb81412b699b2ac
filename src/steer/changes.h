// SPDX-License-Identifier: Apache-2.0

/// \file
/// Carries out requests of users and operators. Only the deciding thread talks to the controller,
/// so other threads wait for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/link.h"
#include "service/inbox.h"
#include "service/service.h"
#include "steer/controller.h"
#include "steer/known.h"
#include "steer/saving.h"
#include "steer/succession.h"
#include "steer/watching.h"

namespace almanac::steer {

class Changes {
 public:
  Changes(Known& known, Controller& controller, Saving& saving, Succession& succession,
          Watching& watching)
      : known_(known),
        controller_(controller),
        saving_(saving),
        succession_(succession),
        watching_(watching) {}

  // For any thread but the deciding one; as in service::Service.
  Result<void> cancel(const std::vector<store::JobNumber>& numbers, const service::Caller& caller);
  Result<void> hold(const std::vector<store::JobNumber>& numbers, const service::Caller& caller);
  Result<void> release(const std::vector<store::JobNumber>& numbers, const service::Caller& caller);
  Result<void> requeue(const std::vector<store::JobNumber>& numbers, const service::Caller& caller);
  Result<void> set_policy(const std::string& policy, const service::Caller& caller);
  Result<void> set_shadow(const std::string& policy, const service::Caller& caller);

  // For the deciding thread.
  /// Carries out all pending requests.
  void take();
  /// Refuses requests from now on.
  void close() { wishes_.close(); }

 private:
  using Wish = std::function<Result<void>(manager::Link&)>;
  using MakeChange = std::function<Result<manager::JobChange>(const manager::Job&)>;

  Result<void> change(Wish wish);
  /// The job, if it exists and the caller may change it.
  Result<manager::Job> own(store::JobNumber number, const service::Caller& caller) const;
  Result<void> change_jobs(const std::vector<store::JobNumber>& numbers,
                           const service::Caller& caller, MakeChange make);
  Result<void> end_jobs(const std::vector<store::JobNumber>& numbers, const service::Caller& caller,
                        manager::Fate fate);

  Known& known_;
  Controller& controller_;
  Saving& saving_;
  Succession& succession_;
  Watching& watching_;
  service::Inbox<Wish, void> wishes_{known_.bell};
};

}  // namespace almanac::steer
