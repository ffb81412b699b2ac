// SPDX-License-Identifier: Apache-2.0

/// \file
/// Figures by tenant, as the inference commands print them.
#pragma once

#include <string>
#include <vector>

#include "cli/figure_rows.h"
#include "inference/tenants.h"

namespace almanac::cli {

/// Makes a row for each tenant, in the order given: the worst served first.
figure::Listing tenant_rows(const std::vector<inference::TenantSeen>& tenants);
/// The same figures as "attainment of TENANT".
Figures tenant_figures(const std::vector<inference::TenantSeen>& tenants);
/// Returns a table of the worst served tenants, to print below the others; "" without tenants.
std::string tenants_table(const std::vector<inference::TenantSeen>& tenants);

}  // namespace almanac::cli
