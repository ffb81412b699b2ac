// SPDX-License-Identifier: Apache-2.0

/// \file
/// Faster memory allocation for short-lived programs that often need much memory.
#pragma once

namespace almanac {

/// Makes the allocator keep freed memory for later allocations, instead of returning it to the
/// kernel page by page. The process never shrinks below its peak.
void keep_memory();

}  // namespace almanac
