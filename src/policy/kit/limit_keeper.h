// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an Allocator is beside, that keeps the limits of tenants by itself.
#pragma once

namespace almanac::policy {

/// It is asked about jobs too for which a limit leaves no room, since it stops others of the same
/// tenants for them: those that it does not name give their room back before the ones that it does
/// are placed.
class LimitKeeper {
 public:
  virtual ~LimitKeeper() = default;
};

}  // namespace almanac::policy
