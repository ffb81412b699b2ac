// SPDX-License-Identifier: Apache-2.0

/// \file
/// Process handles (pidfd), which never refer to a later process with the same number.
#pragma once

#include <sys/types.h>

#include "process/descriptor.h"

namespace almanac::process {

/// Returns a descriptor that is readable (poll(2)) once the process has ended. Returns an empty
/// one, with errno, if there is no such process.
Descriptor hold(pid_t process);
/// Returns false, with errno, if the process has ended or belongs to another user.
bool send_signal(const Descriptor& held, int signal);
/// Reaps a child that has ended; does nothing for other processes.
void bury(const Descriptor& held);

}  // namespace almanac::process
