// SPDX-License-Identifier: Apache-2.0

#include "inference/profile/board.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inference/profile/named.h"

namespace almanac::inference {
namespace {

/// Shares that iterations reach: of boards with HBM, and of those with GDDR.
///
/// Source   H100, A100 and L40S: fitted, with Roofline's fixed times, to the time per token of 56
///          stages of vLLM runs that inference-sim published and, of the H100's arithmetic, of 4
///          that inference-perf did (docs/guide/inference.md#the-roofline); of the other two the
///          share of the peak is set. Other boards take those of the board with the same memory.
struct Reached {
  double memory = 0, compute = 0;
};
constexpr Reached kHopper{0.89, 0.48}, kAmpere{0.70, 0.50}, kGddr{0.75, 0.40};

struct Figures {
  const char* name;
  std::vector<std::string> aliases;
  double memory_bytes, bandwidth_gbs, bf16, fp8, int8, fp4;  // peaks in 10^12 a second
  Reached reached;
  double peer_gbs, host_gbs;
  double idle_w, prefill_w, decode_w;
};

constexpr double kGib = 1024.0 * 1024 * 1024;

/// Source   data sheets, as AIConfigurator and ml-engineering list them; dense peaks. Memory: as
///          the driver reports it, where known. Power: Patel et al., ISCA'24 (Splitwise),
///          simulator, of H100 and A100; else the limit, and the rest in their proportions.
const std::vector<Figures>& figures() {
  static const std::vector<Figures> made{
      {"h100",
       {"h100-sxm", "h100-sxm-80gb", "h100_sxm"},
       80 * kGib,
       3350,
       989,
       1979,
       1979,
       0,
       kHopper,
       450,
       64,
       75,
       700,
       380},
      {"h100-pcie",
       {"h100_pcie"},
       80 * kGib,
       2000,
       756.5,
       1513,
       1513,
       0,
       kHopper,
       64,
       64,
       40,
       350,
       190},
      {"h100-nvl", {"h100_nvl"}, 94e9, 3900, 835.5, 1671, 1671, 0, kHopper, 300, 64, 45, 400, 217},
      {"h200",
       {"h200-sxm", "h200_sxm"},
       141 * kGib,
       4800,
       989,
       1979,
       1979,
       0,
       kHopper,
       450,
       64,
       80,
       700,
       380},
      {"b200",
       {"b200-sxm", "b200_sxm"},
       180 * kGib,
       7700,
       2250,
       4500,
       4500,
       9000,
       kHopper,
       900,
       64,
       110,
       1000,
       543},
      {"a100",
       {"a100-sxm", "a100-80gb", "a100-sxm-80gb", "a100_sxm_80"},
       80 * kGib,
       2039,
       312,
       0,
       624,
       0,
       kAmpere,
       300,
       32,
       63,
       400,
       250},
      {"a100-40gb",
       {"a100-sxm-40gb", "a100_sxm_40"},
       40 * kGib,
       1555,
       312,
       0,
       624,
       0,
       kAmpere,
       300,
       32,
       63,
       400,
       250},
      {"a100-pcie",
       {"a100-pcie-80gb", "a100_pcie_80"},
       80 * kGib,
       1935,
       312,
       0,
       624,
       0,
       kAmpere,
       32,
       32,
       50,
       300,
       188},
      {"l40s", {}, 48'305'799'168, 864, 362.05, 733, 733, 0, kGddr, 32, 32, 55, 350, 219},
      {"l4", {}, 24 * kGib, 300, 121, 242, 242, 0, kGddr, 32, 32, 12, 72, 45},
      {"a10", {}, 24 * kGib, 600, 125, 0, 250, 0, kGddr, 32, 32, 24, 150, 94},
  };
  return made;
}

}  // namespace

double Board::peak(Arithmetic arithmetic) const {
  const double narrow = arithmetic == Arithmetic::fp8    ? fp8_flops
                        : arithmetic == Arithmetic::int8 ? int8_flops
                        : arithmetic == Arithmetic::fp4  ? fp4_flops
                                                         : 0;
  return narrow > 0 ? narrow : bf16_flops;
}

Result<Board> find_board(std::string_view name) {
  const auto found = find_named(figures(), name);
  if (!found) return no_such("board", name, figures());
  const Figures& of = **found;
  return Board{.name = of.name,
               .memory_bytes = of.memory_bytes,
               .bandwidth = of.bandwidth_gbs * 1e9,
               .bf16_flops = of.bf16 * 1e12,
               .fp8_flops = of.fp8 * 1e12,
               .int8_flops = of.int8 * 1e12,
               .fp4_flops = of.fp4 * 1e12,
               .memory_use = of.reached.memory,
               .compute_use = of.reached.compute,
               .peer_bandwidth = of.peer_gbs * 1e9,
               .host_bandwidth = of.host_gbs * 1e9,
               .idle_w = of.idle_w,
               .prefill_w = of.prefill_w,
               .decode_w = of.decode_w};
}

std::string board_names() {
  std::vector<std::string> names;
  for (const Figures& each : figures()) names.emplace_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace almanac::inference
