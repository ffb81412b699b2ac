// SPDX-License-Identifier: Apache-2.0

/// \file
/// Forecasts before and after changes, as a table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/list_options.h"
#include "cli/service_options.h"
#include "service/changed_forecasts.h"

namespace almanac::cli {

/// Prints the jobs whose forecasts differ, and a summary. `clock` shows times.
Result<int> print_changed(const service::ChangedForecasts& changed,
                          const std::vector<std::string>& changes, const ListOptions& list,
                          const std::function<std::string(Time)>& clock);

/// Prints what the forecasts of a service would become after `changes`. Waits up to half a minute.
Result<int> forecast_if(const ServiceOptions& service, const std::vector<std::string>& changes,
                        const ListOptions& list);

}  // namespace almanac::cli
