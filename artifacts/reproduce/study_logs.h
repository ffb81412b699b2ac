// SPDX-License-Identifier: Apache-2.0

/// \file
/// What recipes of the Helios and Philly studies share: the public job logs, studied, and the data
/// that were read off the papers' figures. Private to this room.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "figure/figure.h"
#include "reproduce/read.h"
#include "study/study.h"
#include "trace/select.h"

namespace almanac::reproduce {

/// For the needs of recipes.
Need published_figures();
Need helios_logs();
Need philly_logs();

/// All members of all files of published_figures(), as one object.
Json read_published_figures(Bench& bench);
/// The member `key`; throws Malformed when there is none.
const Json& member(const Json& published, const std::string& key);

/// A public log and what the study makes of it.
struct StudiedLog {
  const File& file;
  std::string cluster;  ///< "Venus"
  const study::Study& study;

  /// The figure `id`; throws Malformed when the log lacks what it needs.
  figure::Figure drawn(std::string_view id) const;
};

/// Calls `work` for what `sample` keeps of each log of `need`, one of helios_logs() and
/// philly_logs(). A note says of which time that is, and of which `paper` is.
void each_log(Bench& bench, const Need& need, const trace::Sample& sample, const std::string& paper,
              const std::function<void(const StudiedLog&)>& work);
/// Compares each log of helios_logs() with the published figures, if they are there.
void compare_helios_logs(Bench& bench,
                         void (*compare)(Bench&, const StudiedLog&, const Json& published));

}  // namespace almanac::reproduce
