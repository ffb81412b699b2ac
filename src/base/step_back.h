// SPDX-License-Identifier: Apache-2.0

/// \file
/// The priority of threads that do work in the background.
#pragma once

namespace almanac {

/// Lowers the priority of the calling thread (nice 10).
void step_back();

/// Gives all threads of this process the priority of its main thread again, if the process may
/// raise priorities (root may). For a process that is about to end and waits for such threads.
void step_forward();

}  // namespace almanac
