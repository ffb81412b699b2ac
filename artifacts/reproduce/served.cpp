// SPDX-License-Identifier: Apache-2.0

#include "reproduce/served.h"

#include <utility>

namespace almanac::reproduce {

Recipe served(std::string name, std::string summary, std::string paper, Kind kind,
              inference::Compare compare, std::string files) {
  if (files.empty()) files = "golden/" + name + "/*";
  return {.name = name,
          .summary = std::move(summary),
          .paper = paper,
          .kind = kind,
          .needs = {{files, std::move(paper)}},
          .make = [files, compare](Bench& bench) {
            bool some = false;
            bench.each(files, [&](const File&) { some = true; });
            if (!some) return;
            const auto made = compare({bench.folder() + "/data", bench.folder() + "/golden"});
            if (!made) return bench.add(made.error());
            for (const inference::Figure& each : made->figures()) {
              bench.add(each.what, each.published, each.ours, each.unit);
            }
            for (const Error& error : made->errors()) bench.add(error);
          }};
}

}  // namespace almanac::reproduce
