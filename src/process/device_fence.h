// SPDX-License-Identifier: Apache-2.0

/// \file
/// Denies devices to the processes of a control group (cgroup v2), by a program that the kernel
/// runs whenever one of them opens or creates a device. Devices that are already open stay open.
///
/// Needs CAP_BPF and CAP_NET_ADMIN, which root has, or CAP_SYS_ADMIN, and a kernel with
/// CONFIG_CGROUP_BPF. The program lives as long as the group.
///
/// Source   Linux, Documentation/admin-guide/cgroup-v2.rst, "Device controller";
///          Documentation/bpf/standardization/instruction-set.rst.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace almanac::process {

/// Character devices of one driver: those whose minor numbers are below `end` are closed, but for
/// those in `open`.
struct DeviceFence {
  int major = 0;
  int end = 0;
  std::vector<int> open{};
};

/// For all processes of the group in the folder `cgroup` and of those within it; a group may have
/// several, and each may close a device. Fails with unsupported, and the kernel's words.
Result<void> close_devices(const std::string& cgroup, const DeviceFence& fence);

}  // namespace almanac::process
