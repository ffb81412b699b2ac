// SPDX-License-Identifier: Apache-2.0

/// \file
/// What the requests of each tenant saw, as the inference commands print it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "inference/tenants.h"

namespace almanac::cli {

/// A list, the tenant that was served worst first.
nlohmann::ordered_json tenants_json(const std::vector<inference::TenantSeen>& tenants);
/// Rows of figure and value, as "attainment of TENANT".
void add_tenant_rows(const std::vector<inference::TenantSeen>& tenants,
                     std::vector<std::vector<std::string>>& rows);
/// A table below the others, of those that were served worst; nothing where there are none.
void print_tenants(const std::vector<inference::TenantSeen>& tenants);

}  // namespace almanac::cli
