// SPDX-License-Identifier: Apache-2.0

/// \file
/// Our terminal as that of a job which runs on one (shepherd/terminal.h).
#pragma once

#include <string>

#include "base/result.h"
#include "serve/client.h"
#include "store/job.h"

namespace almanac::cli {

/// Why an attachment ended.
enum class Left {
  ended,     ///< Nothing of the job's run is left.
  detached,  ///< By the keys for that, or a signal to us; the job runs on.
  taken,     ///< Another program has attached.
  lost,      ///< The job's keeper has gone without a word.
};

/// What is typed goes to the job, what it writes comes here, and its terminal has the size of ours,
/// until one of the above. `socket` is JobView::terminal. Fails with conflict where the job is
/// another user's, with not_found where nothing listens there.
Result<Left> attach(const std::string& socket);

/// Waits until job `number` runs and attaches to it until it ends or the user detaches, also across
/// restarts of the service and of the job. With `cancels`, Ctrl-C cancels a pending job. Returns
/// the exit status of the job's command, or 0 after a detach.
Result<int> follow_terminal(serve::Client& client, store::JobNumber number, bool cancels);

}  // namespace almanac::cli
