// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the requests of each tenant saw, as the inference commands print it.
#pragma once

#include <string>
#include <vector>

#include "cli/figure_rows.h"
#include "inference/tenants.h"

namespace almanac::cli {

/// A row for each, in the order given: the tenant that was served worst first.
figure::Listing tenant_rows(const std::vector<inference::TenantSeen>& tenants);
/// The same figures as "attainment of TENANT".
Figures tenant_figures(const std::vector<inference::TenantSeen>& tenants);
/// A table below the others, of those that were served worst; "" where there are none.
std::string tenants_table(const std::vector<inference::TenantSeen>& tenants);

}  // namespace almanac::cli
