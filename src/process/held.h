// SPDX-License-Identifier: Apache-2.0

/// \file
/// A process held by a descriptor (pidfd): a process that gets its number when it is gone is not
/// it.
#pragma once

#include <sys/types.h>

#include "process/descriptor.h"

namespace almanac::process {

/// Readable (poll(2)) once it has ended. Empty, with errno, when there is no such process.
Descriptor hold(pid_t process);
/// False, with errno, when it is gone or not ours.
bool send_signal(const Descriptor& held, int signal);
/// Takes leave of a child that has ended; does nothing for others.
void bury(const Descriptor& held);

}  // namespace almanac::process
