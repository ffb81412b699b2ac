// SPDX-License-Identifier: Apache-2.0

/// \file
/// How soon the kernel ends this process, and those that it starts, where memory is short.
///
/// Source   proc_pid_oom_score_adj(5).
#pragma once

namespace almanac::process {

/// From -1000 (never) to 1000 (first). Does nothing where that is not allowed: less than before
/// takes CAP_SYS_RESOURCE. Safe after fork(2).
void set_oom_score(int score);

}  // namespace almanac::process
