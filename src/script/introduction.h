// SPDX-License-Identifier: Apache-2.0

/// \file
/// Who the program is that decides: its first line.
#pragma once

#include <memory>

#include "base/result.h"
#include "policy/composition.h"
#include "script/talk.h"

namespace almanac::script {

/// The program at the other end, once it has said who it is.
struct Guest {
  std::shared_ptr<Talk> talk;
  policy::Composition composition;  ///< Of its estimate and placement; its slots decide nothing.
};

/// Waits for the first line. Fails where that is no introduction, or names what there is not.
Result<Guest> meet(int from, int to);

}  // namespace almanac::script
