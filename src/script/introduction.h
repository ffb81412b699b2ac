// SPDX-License-Identifier: Apache-2.0

/// \file
/// The first line of a program that decides, in which it introduces itself.
#pragma once

#include <memory>

#include "base/result.h"
#include "policy/composition.h"
#include "script/talk.h"

namespace almanac::script {

/// The program, after its introduction.
struct Guest {
  std::shared_ptr<Talk> talk;
  policy::Composition composition;  ///< Has its estimate and placement; its other slots do nothing.
};

/// Waits for the first line. Fails with invalid if it is not an introduction, with unsupported for
/// another version of the protocol, and as Registry::compose() does for an unknown choice.
Result<Guest> meet(int from, int to);

}  // namespace almanac::script
