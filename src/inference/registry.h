// SPDX-License-Identifier: Apache-2.0

/// \file
/// Every choice for the slots of a service; each is one file in the folder of its slot.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inference/chooser.h"
#include "inference/deployment.h"
#include "inference/dispatch.h"
#include "inference/former.h"
#include "inference/request.h"
#include "inference/request_log.h"
#include "inference/router.h"
#include "inference/scaler.h"

namespace almanac::inference {

/// The choices for one slot, by name.
template <typename Make>
class Slot {
 public:
  struct Entry {
    std::string name;
    std::string summary;
    std::string source;  ///< Paper or program and section.
    Make make;
  };
  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<Entry>& entries() const { return entries_; }
  /// Null = no choice has that name.
  const Entry* find(std::string_view name) const {
    for (const Entry& each : entries_) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& each : entries_) names.push_back(each.name);
    return names;
  }

 private:
  std::vector<Entry> entries_;
};

/// A format of request logs.
struct Format {
  /// Whether a file with this header line, or first line, is of the format.
  std::function<bool(std::string_view)> knows;
  std::function<Result<Requests>(const std::string& path)> read;
  /// The same of a part of the time, for formats that cannot do all of it; null = there is none.
  std::function<Result<Requests>(const std::string& path, const LogPart& part)> read_part{};
};

struct ScalerChoice {
  std::function<std::unique_ptr<Scaler>(const ScalerCase&)> make;
  bool needs_rate = false;  ///< ScalerCase::replica_requests_per_s must be known.
};

/// Decides which variants of networks stand where.
struct PlannerChoice {
  std::function<Result<Deployment>(const PlanningCase&)> plan;
  bool mig = false;  ///< It plans GPUs with instances, and else those that MPS shares.
};

struct ChooserChoice {
  std::function<std::unique_ptr<Chooser>(const ChooserCase&)> make;
  bool needs_answers = false;  ///< ChooserCase::answers must be known.
};

struct Registry {
  Slot<std::function<std::unique_ptr<Former>()>> formers{};
  Slot<std::function<std::unique_ptr<Router>(std::uint64_t seed)>> routers{};
  Slot<ScalerChoice> scalers{};
  Slot<PlannerChoice> planners{};
  Slot<std::function<std::unique_ptr<Dispatcher>()>> dispatchers{};
  Slot<ChooserChoice> choosers{};
  Slot<Format> formats{};
};

/// All of them, made at first use.
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
namespace planner {
void register_planner(Registry& registry);
}
namespace dispatcher {
void register_dispatcher(Registry& registry);
}
namespace chooser {
void register_chooser(Registry& registry);
}
namespace format {
void register_format(Registry& registry);
}

}  // namespace almanac::inference
