// SPDX-License-Identifier: Apache-2.0

/// \file
/// The API, version 1, as src/serve/openapi.json defines it, implemented by a Service.
///
/// Every user of this machine may read. A user changes only their own jobs, and reads the logs only
/// of jobs that they may change. Environments and scripts are never returned.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "boxes/head.h"
#include "serve/guard.h"
#include "serve/message.h"
#include "serve/metrics.h"
#include "serve/router.h"
#include "serve/studies.h"
#include "serve/which.h"
#include "service/service.h"

namespace almanac::serve {

class Api {
 public:
  /// `page` is the dashboard; "" if this build has none. `service` and `tokens` must outlive this.
  Api(service::Service& service, Tokens& tokens, Guard guard, std::string page);

  /// Adds the routes by which boxes report to `head`, which must outlive this.
  void add_boxes(boxes::Head& head);

  /// Any thread may call it.
  Answer answer(const Ask& ask) const;
  const Router& router() const { return router_; }

 private:
  /// Adds a route whose answers are counted and timed.
  void on(const char* method, const char* path, Answerer answerer);
  void add_jobs();
  void add_log();
  void add_machine();
  void add_history();
  void add_page();
  void add_study();
  void add_tokens();
  void add_maintenance();
  void add_sweeps();

  /// Whether the requesting user may read the log of the job.
  service::Eyes eyes_of(const Ask& ask, const store::Job& job) const;
  Answer list_jobs(const Ask& ask) const;
  Answer submit(const Ask& ask) const;
  using Act =
      std::function<Result<void>(const std::vector<store::JobNumber>&, const service::Caller&)>;
  /// Lets `act` change the jobs that `part` names, if they are the caller's to change.
  Answer change(const Ask& ask, const std::string& part, const Act& act) const;
  /// Same for the jobs selected by the request's body (which.h).
  Answer change_many(const Ask& ask, bool ended_too, const LeavesAlone& leaves_alone,
                     const std::function<Result<void>(const Chosen&, const Which&,
                                                      const service::Caller&)>& act) const;
  Answer log(const Ask& ask, const std::string& part) const;
  Answer history(const Ask& ask) const;
  Answer study(const Ask& ask) const;
  Answer list_sweeps(const Ask& ask) const;
  Answer sweep(const Ask& ask, const std::string& name) const;
  Answer make_token(const Ask& ask) const;

  service::Service& service_;
  Tokens& tokens_;
  Guard guard_;
  std::string page_;
  std::string page_policy_;
  mutable Metrics metrics_;
  mutable Studies studies_;
  Router router_;
};

}  // namespace almanac::serve
