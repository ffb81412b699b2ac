// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads a whole site from a folder of files, or from a slurm.conf.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "site/site.h"

namespace almanac::site {

/// Reads the site that `path` describes.
///
/// A folder: slurm.conf, gres.conf and topology.conf by their names (slurm.conf may include
/// others); all other files by their content, whatever they are called: the output of `scontrol
/// show config`, `node`, `partition`, `reservation`, `licenses`, `topology` (the records also with
/// --json), `sacctmgr show assoc`, `qos`, `tres`, `event` (-P or in columns), `sshare -al` and
/// `sdiag`; also compressed. What scontrol says overrides slurm.conf.
///
/// A file: slurm.conf with the gres.conf and topology.conf next to it, or one of these outputs.
///
/// What no file says is Slurm's default, listed in Site::assumed. Fails with `not_found`, or with
/// `invalid` naming file and line; with `needs_nodes`, a folder without nodes is invalid. Cost:
/// O(size of the files).
Result<Site> read_site(const std::string& path, bool needs_nodes = true);

/// Whether `path` is a folder, or a file that read_site() can read.
bool is_site(const std::string& path);

}  // namespace almanac::site
