// SPDX-License-Identifier: Apache-2.0

/// \file
/// The header of a log in the Standard Workload Format: when it starts, its machine, the names of
/// queues and partitions.
///
/// Times of such a log count from its start, which is UnixStartTime, or StartTime in the zone that
/// the user names, that of TimeZoneString, or UTC, in this order.
///
/// Source   SWF 2.2, cs.huji.ac.il/labs/parallel/workload/swf.html.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/names.h"
#include "base/time.h"
#include "text/time_zone.h"
#include "trace/trace.h"

namespace almanac::trace {

class SwfHeader {
 public:
  /// Takes a comment line without its semicolon, "MaxProcs: 128"; gives "", or what is wrong with
  /// it. A comment that is no field is passed over.
  std::string read(std::string_view text);

  /// Returns the name of a queue or partition; its number if the header gives no name; kNoName if
  /// negative.
  NameId queue(double number, Names& names) const { return named(queues_, number, names); }
  NameId partition(double number, Names& names) const { return named(partitions_, number, names); }

  /// Sets the machine of `trace`, once it has its jobs, and drops a partition that all jobs share
  /// and that has no name. Its times, which count from the start of the log, become moments; `zone`
  /// is the one that the user named. Notes what is missing, assumed, or contradicts the jobs.
  void conclude(Trace& trace, const std::optional<text::TimeZone>& zone) const;

 private:
  using NamesOf = std::map<double, std::string>;
  static NameId named(const NamesOf& known, double number, Names& names);
  void judge_machine(Trace& trace) const;
  /// Returns the time of second 0; kNoTime if the header does not say. Adds notes on assumptions.
  Time start(Trace& trace, const std::optional<text::TimeZone>& zone) const;

  Time unix_start_ = kNoTime;
  std::string start_;  // StartTime, as written
  std::string zone_;
  std::map<std::string, std::string, std::less<>> sizes_;  // MaxProcs and MaxNodes, as written
  NamesOf queues_, partitions_;
};

}  // namespace almanac::trace
