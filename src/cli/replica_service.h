// SPDX-License-Identifier: Apache-2.0

/// \file
/// A service of replicas as a command line describes it: what `almanac service` runs and
/// `almanac submit --service` submits.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/result.h"
#include "cli/service_options.h"
#include "store/job.h"

namespace almanac::cli {

struct ReplicaService {
  std::string replicas = "1";
  std::string objective;
  std::string scaler = "reactive";
  std::string health = "/health";
  std::string first_byte_timeout = "10:00";
  int port = 0;
  int at_once = 16;
  double rate = 0;  ///< Requests a second that a replica answers in time; 0 = not told.

  void add_to(CLI::App& command);
  /// Fails with usage where something is none.
  Result<void> check() const;
  /// The same as words of a command line.
  std::vector<std::string> words() const;
};

/// The job that is the service `name`: this program's `service`, with `asked` ("--gpus=2") for each
/// replica of `command`. Fails with usage where a replica cannot be asked so.
Result<store::Submission> service_job(const ReplicaService& service, const ServiceOptions& place,
                                      const std::string& name,
                                      const std::vector<std::string>& asked,
                                      const std::vector<std::string>& command);

/// Fails if the service `client` would refuse what each replica asks. The router would find out
/// later, where nobody looks.
Result<void> judge_replicas(serve::Client& client, const std::vector<std::string>& asked,
                            const std::vector<std::string>& command);

/// What the policy there may do to replicas beyond the least, for a user to know; "" = nothing.
std::string risk_of_replicas(serve::Client& client, const ReplicaService& service);

/// Runs the command of a replica, and begins it again where it has ended by itself, so that its job
/// keeps its GPUs. Ends after three times that it ran less than a minute, and by SIGTERM.
Result<int> run_in_place(const std::vector<std::string>& command);

/// Runs the service until SIGTERM or Ctrl-C: answers what is in hand and ends its replicas.
Result<int> run_service(const ReplicaService& service, const ServiceOptions& place,
                        const std::string& name, const std::vector<std::string>& asked,
                        const std::vector<std::string>& command);

}  // namespace almanac::cli
