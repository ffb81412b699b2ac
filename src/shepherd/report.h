// SPDX-License-Identifier: Apache-2.0

/// \file
/// The report from the child that will become the command to the shepherd: one packet with its open
/// files.
#pragma once

#include <vector>

#include "process/become.h"
#include "process/descriptor.h"

namespace almanac::shepherd {

/// Success with the log files attached, or the point of failure.
struct Report {
  process::Step failed = process::Step::none;
  int log = -1;    ///< The log file that cannot be opened.
  int number = 0;  ///< errno; 0 for success.
};

/// At most two files.
bool send_report(int socket, Report report, const std::vector<process::Descriptor>& files);
/// False when the child is gone, or has become the command.
bool receive_report(int socket, Report& report, std::vector<process::Descriptor>& files);

}  // namespace almanac::shepherd
