// SPDX-License-Identifier: Apache-2.0

/// \file
/// Layouts of cells and requests for them as `data/hived` has them. Private to the recipe `hived`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cells/layout.h"
#include "cluster/cells/scheduler.h"
#include "reproduce/read.h"

namespace almanac::reproduce::hived {

/// A pod and the gang that it is one of.
struct PodRequest {
  cells::Request gang{};
  int leaves = 0;  ///< Of this pod.
};

struct Inputs {
  std::map<std::string, cells::Layout> layouts{};  ///< By name.
  /// Pods by name, by the layout that they are for: what comes before `_requests` in the file's
  /// name.
  std::map<std::string, std::map<std::string, PodRequest>> pods{};

  const cells::Layout& layout(const std::string& name) const;
};

/// Takes a file of `data/hived` in, by the columns that it has.
void read_input(Inputs& inputs, const File& file);

/// Edits a layout as `text` says, "VC1 cells row 0 -> number 0; ..." Throws Malformed where that is
/// not understood.
void edit(cells::Layout& layout, const std::string& text);

/// The layout, built, or Malformed.
cells::Scheduler start(const cells::Layout& layout);

/// Calls `work` for each row; what it throws is told the row.
void each_row(Rows& rows, const std::function<void()>& work);

/// "2x16;1x8"
std::vector<cells::Member> read_members(std::string_view text);

/// Parts between separators, without spaces around them; none of an empty text.
std::vector<std::string> parts(std::string_view text, std::string_view separator);

/// A whole number within limits, or Malformed: "leaf: expected a whole number, found x".
int read_whole(std::string_view text, std::string_view what, int least, int most);

}  // namespace almanac::reproduce::hived
