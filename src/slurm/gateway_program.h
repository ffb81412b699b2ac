// SPDX-License-Identifier: Apache-2.0

/// \file
/// The process of almanac-slurm-gateway, and lines to and from it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"
#include "process/descriptor.h"
#include "process/job.h"
#include "slurm/lines.h"

namespace almanac::slurm {

/// Returns $ALMANAC_SLURM_GATEWAY, otherwise the program next to our own or in its libexec. Fails
/// with `not_found`.
Result<std::string> gateway_program();

class GatewayProgram {
 public:
  using Clock = std::chrono::steady_clock;

  explicit GatewayProgram(std::string path);
  GatewayProgram(const GatewayProgram&) = delete;
  GatewayProgram& operator=(const GatewayProgram&) = delete;
  /// Lets it go: it ends by itself when it has nothing to release.
  ~GatewayProgram();

  /// Fails with not_found or unavailable.
  Result<void> start();
  pid_t process() const { return process_; }
  /// Sends a line, newline and all, and takes in what comes meanwhile.
  Result<void> send(std::string_view line, Clock::time_point deadline);
  /// Returns the next line, valid until the next call. Fails with `unavailable` on a timeout, or if
  /// the program has ended; ended() says which.
  Result<std::string_view> receive(Clock::time_point deadline);
  bool ended() const { return ended_; }
  void kill();

 private:
  Result<void> exchange(std::string_view& unsent, Clock::time_point deadline);
  void listen();
  /// How it ended, if it does so soon.
  std::optional<process::Ending> bury();
  std::string last_words();
  tl::unexpected<Error> gone();

  std::string path_;
  pid_t process_ = -1;
  process::Descriptor socket_;
  process::Descriptor words_;  ///< Its standard error.
  Lines lines_;
  std::string last_words_;
  std::string epitaph_;
  bool ended_ = false;
};

}  // namespace almanac::slurm
