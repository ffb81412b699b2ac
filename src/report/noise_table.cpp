// SPDX-License-Identifier: Apache-2.0
#include "report/noise_table.h"

#include <fmt/format.h>

#include "text/human.h"

namespace almanac::report {

figure::Listing noise_table(const std::vector<experiment::NoiseRow>& rows) {
  using experiment::NoiseRow;
  using figure::Cell;
  figure::Rows table(rows);
  table.add(figure::Tier::key, "policy", "POLICY", [](const NoiseRow& row) { return row.policy; });
  for (std::size_t at = 0; at < experiment::kNoise.size(); ++at) {
    table
        .add(figure::Tier::key, fmt::format("wait_s_{}", experiment::kNoise[at]),
             fmt::format("{}", experiment::kNoise[at]),
             [at](const NoiseRow& row) {
               return Cell(row.wait_s[at], text::human_time(row.wait_s[at]));
             })
        .right();
  }
  table
      .add(figure::Tier::key, "worse_from", "WORSE FROM",
           [](const NoiseRow& row) {
             return row.worse_from ? Cell(*row.worse_from, fmt::format("{:.2g}", *row.worse_from))
                                   : Cell::nothing("never");
           })
      .right();
  return table;
}

}  // namespace almanac::report
