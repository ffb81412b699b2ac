// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads QOS, associations, their usage, and how the schedulers fared.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/site.h"
#include "site/values.h"

namespace almanac::site {

/// Reads rows of `sacctmgr show qos`. Fails with `invalid` for a value that cannot be right.
Result<void> read_qos(std::span<const Record> rows, Site& site);

/// Reads rows of `sacctmgr show assoc` (also `tree`) and of `sshare -al`, of several files one
/// after the other; rows of one association add up. The tree is that of ParentName, or of the
/// leading blanks of accounts; without both, all accounts are below the root, which is added to
/// Site::assumed. Limits that an account sets hold for all below it that set none. Usage comes from
/// sshare. Fails with `invalid` for a value that cannot be right, or a parent that is no account.
Result<void> read_associations(std::span<const std::vector<Record>> files, Site& site);

/// Reads sdiag.
Result<void> read_sdiag(const std::string& path, std::string_view text, Site& site);

}  // namespace almanac::site
