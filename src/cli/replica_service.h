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
  /// Fails with usage for an invalid value.
  Result<void> check() const;
  /// Returns the options as words of a command line.
  std::vector<std::string> words() const;
};

/// Returns the job that runs the service `name`: this program's `service`, with the options `asked`
/// ("--gpus=2") for each replica of `command`. Fails with usage for an option that replicas cannot
/// have.
Result<store::Submission> service_job(const ReplicaService& service, const ServiceOptions& place,
                                      const std::string& name,
                                      const std::vector<std::string>& asked,
                                      const std::vector<std::string>& command);

/// Fails if the service `client` would refuse a replica's job. The router would find out only
/// later, in its log.
Result<void> judge_replicas(serve::Client& client, const std::vector<std::string>& asked,
                            const std::vector<std::string>& command);

/// Returns a note on what the policy may do to replicas beyond the minimum; "" = nothing.
std::string risk_of_replicas(serve::Client& client, const ReplicaService& service);

/// Runs the command of a replica and restarts it when it exits, so that its job keeps its GPUs.
/// Ends on SIGTERM, or after three exits within a minute of the start.
Result<int> run_in_place(const std::vector<std::string>& command);

/// Runs the service until SIGTERM or Ctrl-C; then finishes open requests and stops its replicas.
Result<int> run_service(const ReplicaService& service, const ServiceOptions& place,
                        const std::string& name, const std::vector<std::string>& asked,
                        const std::vector<std::string>& command);

}  // namespace almanac::cli
