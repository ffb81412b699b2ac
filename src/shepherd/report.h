// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the child that will be the command tells the shepherd, in one packet with its open files.
#pragma once

#include <vector>

#include "process/become.h"
#include "process/descriptor.h"

namespace almanac::shepherd {

/// That it is ready, with its log files beside, or where it failed.
struct Report {
  process::Step failed = process::Step::none;
  int log = -1;    ///< Of the files, the one that cannot be opened.
  int number = 0;  ///< errno; 0 = ready.
};

/// At most two files.
bool send_report(int socket, Report report, const std::vector<process::Descriptor>& files);
/// False when the child is gone, or has become the command.
bool receive_report(int socket, Report& report, std::vector<process::Descriptor>& files);

}  // namespace almanac::shepherd
