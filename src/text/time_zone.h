// SPDX-License-Identifier: Apache-2.0

/// \file
/// Converts between UTC and the local time of time zones.
///
/// Source   RFC 8536 (TZif), POSIX.1 "TZ" for the years after a file's last change. The files are
/// those of the system: `TZDIR`, else /usr/share/zoneinfo.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::text {

/// The first and the last moment at which a clock shows a certain time. They differ only for the
/// hour that the clock shows twice when it goes back.
struct Moments {
  Time first{};
  Time last{};

  bool operator==(const Moments&) const = default;
};

class TimeZone {
 public:
  /// Finds the zone `name`: "Europe/Berlin", "UTC", or a fixed offset, "+05:30". Fails with usage
  /// if the tz database has no such name.
  static Result<TimeZone> find(const std::string& name);

  const std::string& name() const { return name_; }
  /// Returns local time minus UTC. Cost: logarithmic in the zone's changes.
  Duration offset_at(Time moment) const;
  /// Returns the moments at which the zone's clock shows `wall`. A time that the clock skips when
  /// it goes forward is interpreted with the offset before the change.
  Moments moments_of(Time wall) const;

 private:
  struct Change {
    Time at{};
    Duration offset{};
  };

  std::string name_;
  std::vector<Change> changes_;  // in order of time; the first has always held
};

}  // namespace almanac::text
