// SPDX-License-Identifier: Apache-2.0

/// \file
/// Memory for programs that need much of it again and again, and soon end.
#pragma once

namespace almanac {

/// From now on what is freed is kept for what is allocated next, instead of being given to the
/// kernel page by page and asked back: the process stays as large as it ever was.
void keep_memory();

}  // namespace almanac
