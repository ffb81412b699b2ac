// SPDX-License-Identifier: Apache-2.0

/// \file
/// Recognizes which of Slurm's commands or configuration files a text is.
#pragma once

#include <cstdint>
#include <string_view>

namespace almanac::site {

enum class Kind : std::uint8_t {
  none,
  slurm_conf,
  gres_conf,
  topology_conf,
  config,  ///< scontrol show config.
  nodes,   ///< scontrol show node; the next four likewise.
  partitions,
  reservations,
  licenses,
  topology,
  associations,  ///< sacctmgr show assoc.
  shares,        ///< sshare.
  qos,
  tres,
  events,
  diagnostics,  ///< sdiag.
  nothing,      ///< A command that found no records, "No reservations in the system".
};

/// Returns the kind of a text by its beginning; `name` is that of the file, without its folder.
/// Only a file called slurm.conf is one: others may be included by it.
Kind kind_of(std::string_view name, std::string_view head);

/// Whether a text of another name has lines of slurm.conf or gres.conf.
bool is_conf_text(std::string_view text);

}  // namespace almanac::site
