// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts the start of a job before it is submitted.
#pragma once

#include "base/result.h"
#include "cli/list_options.h"
#include "cli/service_options.h"
#include "serve/what_if.h"

namespace almanac::cli {

/// Prints a row for each combination. Waits up to half a minute for the forecasts.
Result<int> what_if(const ServiceOptions& service, const serve::WhatIf& what,
                    const ListOptions& list);

}  // namespace almanac::cli
