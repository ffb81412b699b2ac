// SPDX-License-Identifier: Apache-2.0

/// \file
/// All choices for the slots of a service. Each is one file in the folder of its slot.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inference/former.h"
#include "inference/request.h"
#include "inference/request_log.h"
#include "inference/router.h"
#include "inference/scaler.h"
#include "inference/slot.h"

namespace almanac::inference {

/// A format of request logs.
struct Format {
  /// Whether a file with this header line, or first line, has the format.
  std::function<bool(std::string_view)> knows;
  std::function<Result<Requests>(const std::string& path)> read;
  /// Reads only a part of the log's time, for formats that cannot be read at once; null if
  /// unsupported.
  std::function<Result<Requests>(const std::string& path, const LogPart& part)> read_part{};
};

struct ScalerChoice {
  std::function<std::unique_ptr<Scaler>(const ScalerCase&)> make;
  bool needs_rate = false;  ///< Whether it needs ScalerCase::replica_requests_per_s.
};

struct Registry {
  Slot<std::function<std::unique_ptr<Former>()>> formers{};
  Slot<std::function<std::unique_ptr<Router>(std::uint64_t seed)>> routers{};
  Slot<ScalerChoice> scalers{};
  Slot<Format> formats{};
};

/// Returns all choices; built at first use.
const Registry& registry();

// Generated: each calls every register_ function of its folder.
namespace former {
void register_former(Registry& registry);
}
namespace router {
void register_router(Registry& registry);
}
namespace scaler {
void register_scaler(Registry& registry);
}
namespace format {
void register_format(Registry& registry);
}

}  // namespace almanac::inference
