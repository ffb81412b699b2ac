// SPDX-License-Identifier: Apache-2.0

/// \file
/// Metrics for the users and operators of a cluster: waits, and what the GPUs do.
#pragma once

#include <vector>

#include "serve/metric_families.h"
#include "service/service.h"

namespace almanac::serve {

/// A GPU computes if it is busy for at least this share of the time. IdleRule::below has the same
/// default.
inline constexpr double kBusy = 0.01;

/// Waits of started jobs and expected waits: by partition and size, and by user. At most 126 and 51
/// histograms each (service/waits.h).
void add_waits(Families& out, const service::Counters& counters);

/// Use of each measured GPU, GPUs that are held but idle, and the fragmentation of the free ones
/// for jobs like `started`. Three series for each GPU of the cluster.
void add_gpus(Families& out, const std::vector<service::NodeView>& nodes,
              const service::Waits& started);

}  // namespace almanac::serve
