// SPDX-License-Identifier: Apache-2.0

/// \file
/// Tools of `almanac mcp` that read a running service: its state, its queue, a job, usage, and when
/// a job would start.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command/mcp/protocol.h"
#include "cli/service_options.h"
#include "serve/client.h"
#include "service/expected.h"
#include "store/job.h"

namespace almanac::cli::mcp {

std::vector<Tool> live_tools(const ServiceOptions& service);

/// Returns the forecast of `asked` if it were submitted now; nothing if the service has not
/// computed it within a few seconds. Fails like the service.
Result<std::optional<service::Expected>> foresee_submission(serve::Client& client,
                                                            const store::Submission& asked,
                                                            const process::Bell& stop);

/// An argument that is text; "" if it is missing.
std::string text_argument(const Arguments& arguments, const char* name);
/// An argument that is a list; empty if it is missing.
std::vector<std::string> texts_argument(const Arguments& arguments, const char* name);

}  // namespace almanac::cli::mcp
