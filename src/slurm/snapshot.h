// SPDX-License-Identifier: Apache-2.0

/// \file
/// Collects what describes a Slurm site in a folder that site/read.h reads: the output of Slurm's
/// commands, and the configuration files if they are readable. Changes nothing on the cluster.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "slurm/command_link.h"

namespace almanac::slurm {

/// A file of a snapshot.
struct SnapshotFile {
  std::string name{};  ///< "nodes.txt"
  /// Commands that print it, the best first: a release may lack a column of an earlier one.
  std::vector<std::vector<std::string>> commands{};
  bool is_needed = false;  ///< Without it, too little is known of the site.
};

/// The files of every snapshot, in the order in which they are written.
std::span<const SnapshotFile> snapshot_files();

struct Snapshot {
  std::vector<std::string> written{};  ///< Names of files.
  /// Files that no command printed, with the last command's message.
  std::vector<std::pair<const SnapshotFile*, std::string>> failed{};

  /// Whether all needed files are there.
  bool is_enough() const;
};

/// Writes the files to `folder`, which it creates. slurm.conf, the files that it includes,
/// gres.conf and topology.conf are copied from where the controller says they are, without lines
/// that have a password. Fails with `unavailable` if a file cannot be written.
Result<Snapshot> take_snapshot(const std::string& folder, const RunCommand& run = run_slurm);

/// Returns shell commands, a line each, that write `files` to `folder`, for a machine of the
/// cluster.
std::string snapshot_script(const std::string& folder, std::span<const SnapshotFile* const> files);

}  // namespace almanac::slurm
