// SPDX-License-Identifier: Apache-2.0

/// \file
/// The alarm of backfill mode: StrictFIFO queues that wait for Almanac's order and do not get it.
#pragma once

#include <string>
#include <vector>

#include "kube/picture.h"
#include "service/manager.h"
#include "steer_kube/lines.h"
#include "steer_kube/settings.h"

namespace almanac::steer_kube {

/// Returns a sentence for each such queue, with why and the command that undoes it. `rests` is why
/// lever `order` does nothing; "" if it works.
std::vector<std::string> alarms_of(const std::vector<Line>& lines, const Settings& settings,
                                   const std::string& rests);

/// Returns what an operator should know of the queues that `settings` names, before anything is
/// wrong: what happens to a StrictFIFO queue if Almanac stops, and what another one lacks.
std::vector<std::string> notes_of(const kube::Picture& picture, const Settings& settings);

/// Backfill mode as a lever of its own, which rests while there is an alarm. Nothing if no queue
/// that `settings` names is StrictFIFO.
std::vector<service::LeverView> backfill_views(const std::vector<Line>& lines,
                                               const Settings& settings, const std::string& rests);

}  // namespace almanac::steer_kube
