// SPDX-License-Identifier: Apache-2.0

/// \file
/// Time zones: what a clock on the wall shows, and which moments it may mean.
///
/// Source   RFC 8536 (TZif), POSIX.1 "TZ" for the years after a file's last change. The files are
/// those of the system: `TZDIR`, else /usr/share/zoneinfo.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace almanac::text {

/// The moments, first and last, at which a clock shows a time. They differ in the hour that a clock
/// shows twice when it goes back.
struct Moments {
  Time first{};
  Time last{};

  bool operator==(const Moments&) const = default;
};

class TimeZone {
 public:
  /// The zone called `name`: "Europe/Berlin", "UTC", or a fixed offset, "+05:30". Fails with usage
  /// for a name that the tz database does not have.
  static Result<TimeZone> find(const std::string& name);

  const std::string& name() const { return name_; }
  /// Local time minus UTC. Cost: logarithmic in the zone's changes.
  Duration offset_at(Time moment) const;
  /// The moments at which the zone's clock shows `wall`. A time that the clock skips when it goes
  /// forward is read as if it had not gone forward yet.
  Moments moments_of(Time wall) const;

 private:
  struct Change {
    Time at{};
    Duration offset{};
  };

  std::string name_;
  std::vector<Change> changes_;  // in order of time; the first holds since ever
};

}  // namespace almanac::text
