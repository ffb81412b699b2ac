// SPDX-License-Identifier: Apache-2.0

/// \file
/// How early the kernel kills this process, and those that it starts, when memory is short.
///
/// Source   proc_pid_oom_score_adj(5).
#pragma once

namespace almanac::process {

/// Sets the score from -1000 (never) to 1000 (first). Does nothing if not permitted: lowering it
/// needs CAP_SYS_RESOURCE. Safe after fork(2).
void set_oom_score(int score);

}  // namespace almanac::process
