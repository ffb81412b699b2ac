// SPDX-License-Identifier: Apache-2.0

/// \file
/// Content as a file in memory, for libraries that read keys from files only. A private key never
/// reaches a disk.
#pragma once

#include <string>
#include <string_view>

#include "process/descriptor.h"

namespace almanac::kube {

class MemoryFile {
 public:
  /// Without content, or memory for it, there is no file: path() is "".
  explicit MemoryFile(std::string_view content);
  std::string path() const;

 private:
  process::Descriptor file_;
};

}  // namespace almanac::kube
