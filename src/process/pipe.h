// SPDX-License-Identifier: Apache-2.0

/// \file
/// Reads the output of a process as it arrives.
#pragma once

#include <string>

#include "base/result.h"
#include "process/descriptor.h"

namespace almanac::process {

/// Neither end is inherited by programs that are started, but as Command::out or err.
struct Pipe {
  Descriptor read;  ///< Does not block.
  Descriptor write;

  static Result<Pipe> create();
};

/// Adds to `text` what can be read without waiting; false once all writers are gone.
bool read_available(const Descriptor& from, std::string& text);

}  // namespace almanac::process
