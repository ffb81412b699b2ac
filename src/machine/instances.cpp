// SPDX-License-Identifier: Apache-2.0
#include "machine/instances.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "cluster/slices/lattice.h"

namespace almanac::machine {
namespace {

using slices::Board;
using slices::Instance;

/// Drivers count what an instance keeps for itself each in its own way.
constexpr double kMemoryDiffers = 0.05;

bool is_that(const gpu::MigProfile& told, const slices::Profile& known) {
  return told.compute_slices == known.compute && told.multiprocessors == known.sm &&
         told.has_media == known.media &&
         std::abs(told.memory_gb - known.memory_gib) <= kMemoryDiffers * known.memory_gib;
}

/// The driver's for a profile of the board; null = it lists none.
const gpu::MigProfile* told_of(const std::vector<gpu::MigProfile>& told,
                               const slices::Profile& known) {
  const auto found = std::find_if(told.begin(), told.end(),
                                  [&](const auto& each) { return is_that(each, known); });
  return found == told.end() ? nullptr : &*found;
}

const Board* board_of(NodeId node, const Machine& machine) {
  return machine.cluster.classes[machine.cluster.nodes[index(node)].node_class].board;
}

int number_of(NodeId node, int gpu, const Machine& machine) {
  return machine.driver_numbers[index(node)][static_cast<std::size_t>(gpu)].value();
}

/// A GPU that the service cuts, as the driver tells of it.
class Cut {
 public:
  Cut(const gpu::Driver& driver, int number, const Board& board)
      : number_(number),
        board_(board),
        profiles_(driver.mig_profiles(number)),
        all_(driver.mig_instances(number)) {}

  const Result<std::vector<gpu::MigInstance>>& all() const { return all_; }
  /// Nothing = its profile is none of the board's.
  std::optional<Instance> known(const gpu::MigInstance& each) const {
    for (std::size_t at = 0; at < board_.profiles.size(); ++at) {
      const gpu::MigProfile* const told = told_of(profiles_, board_.profiles[at]);
      if (told == nullptr || told->id != each.profile) continue;
      return Instance{static_cast<int>(at), each.start};
    }
    return std::nullopt;
  }
  Result<slices::Layout> layout() const {
    slices::Layout made(board_);
    for (const gpu::MigInstance& each : *all_) {
      const auto instance = known(each);
      if (instance && made.create(*instance) == slices::Refusal::none) continue;
      return fail(Code::unavailable,
                  fmt::format("GPU {} has an instance ({} of the driver's profile {}, at slice {}) "
                              "that an {} cannot have",
                              number_, each.id, each.profile, each.start, board_.name));
    }
    return made;
  }
  const gpu::MigInstance* find(const Instance& wanted) const {
    for (const gpu::MigInstance& each : *all_) {
      if (known(each) == wanted) return &each;
    }
    return nullptr;
  }
  Result<void> remove(gpu::Driver& driver, const Instance& gone) const {
    return driver.destroy_mig_instance(number_, find(gone)->id);
  }
  Result<void> create(gpu::Driver& driver, const Instance& wanted) const {
    const gpu::MigProfile* const told = told_of(profiles_, board_[wanted.profile]);
    if (told == nullptr) {
      return fail(Code::unavailable,
                  fmt::format("the driver no longer has {}", board_[wanted.profile].name));
    }
    const auto made = driver.create_mig_instance(number_, *told, wanted.start);
    if (!made) return tl::unexpected(made.error());
    if (made->uuid.empty()) return fail(Code::unavailable, "the new instance has no device");
    return {};
  }

 private:
  int number_;
  const Board& board_;
  std::vector<gpu::MigProfile> profiles_;
  Result<std::vector<gpu::MigInstance>> all_;
};

/// Returns the slices of a place. A place from an earlier cluster file that this board cannot have
/// counts as the whole board.
slices::SliceMask mask_of(const Place& place, const Board& board) {
  return place.profile < 0 ? ~slices::SliceMask{0} : board[place.profile].mask(place.slice);
}

bool is_held(const Instance& instance, NodeId node, int gpu, const Board& board,
             std::span<const cluster::Grant> others, const Machine& machine) {
  const slices::SliceMask own = board[instance.profile].mask(instance.start);
  return std::any_of(others.begin(), others.end(), [&](const cluster::Grant& each) {
    if (each.node != node || (each.gpus >> gpu & 1U) == 0) return false;
    return (mask_of(place_of(each, machine), board) & own) != 0;
  });
}

Result<void> make_one(gpu::Driver& driver, const Machine& machine, NodeId node, int gpu,
                      const Instance& wanted, std::span<const cluster::Grant> others) {
  const Board& board = *board_of(node, machine);
  const Cut cut(driver, number_of(node, gpu, machine), board);
  if (!cut.all()) return tl::unexpected(cut.all().error());
  auto layout = cut.layout();
  if (!layout) return tl::unexpected(layout.error());
  std::vector<Instance> gone = layout->change_for(wanted).destroyed;
  if (layout->has(wanted)) {
    if (!cut.find(wanted)->uuid.empty()) return {};
    gone.push_back(wanted);
  }
  for (const Instance& each : gone) {
    if (is_held(each, node, gpu, board, others, machine)) {
      return fail(Code::unavailable, fmt::format("a job uses the {} at slice {}, which overlaps",
                                                 board[each.profile].name, each.start));
    }
    if (auto removed = cut.remove(driver, each); !removed) return removed;
  }
  return cut.create(driver, wanted);
}

void look(const gpu::Driver& driver, const Machine& machine, NodeId node, int gpu,
          std::vector<Standing>& into) {
  const Cut cut(driver, number_of(node, gpu, machine), *board_of(node, machine));
  if (!cut.all()) return;
  for (const gpu::MigInstance& each : *cut.all()) {
    const auto known = cut.known(each);
    if (!known || each.uuid.empty()) continue;
    into.push_back({{known->profile, known->start}, node, gpu, each.uuid});
  }
}

}  // namespace

const Board* board_of(const std::vector<gpu::MigProfile>& told) {
  for (const Board& board : slices::boards()) {
    const bool has_all =
        std::all_of(board.profiles.begin(), board.profiles.end(),
                    [&](const slices::Profile& each) { return told_of(told, each) != nullptr; });
    if (has_all) return &board;
  }
  return nullptr;
}

Place place_of(const cluster::Grant& grant, const Machine& machine) {
  const Board& board = *board_of(grant.node, machine);
  if (grant.profile != slices::kNoProfile) {
    return {slices::position(board, grant.profile), grant.slice};
  }
  const auto all = std::find_if(board.profiles.begin(), board.profiles.end(),
                                [&](const auto& each) { return each.memory == board.memory; });
  return {static_cast<int>(all - board.profiles.begin()), 0};
}

bool overlap(const cluster::Grant& one, const cluster::Grant& other, const Machine& machine) {
  if (one.node != other.node || (one.gpus & other.gpus) == 0) return false;
  const Board* const board = board_of(one.node, machine);
  if (board == nullptr) return false;
  return (mask_of(place_of(one, machine), *board) & mask_of(place_of(other, machine), *board)) != 0;
}

std::vector<Standing> standing_instances(const gpu::Driver& driver, const Machine& machine) {
  std::vector<Standing> made;
  for (std::uint32_t at = 0; at < machine.cluster.nodes.size(); ++at) {
    if (board_of(NodeId{at}, machine) == nullptr) continue;
    for (int gpu = 0; gpu < machine.cluster.gpus(NodeId{at}); ++gpu) {
      look(driver, machine, NodeId{at}, gpu, made);
    }
  }
  return made;
}

Result<void> make_instances(gpu::Driver& driver, const Machine& machine,
                            std::span<const cluster::Grant> held,
                            std::span<const cluster::Grant> others,
                            std::vector<Standing>& standing) {
  for (const cluster::Grant& grant : held) {
    if (board_of(grant.node, machine) == nullptr) continue;
    const Place place = place_of(grant, machine);
    for (cluster::GpuMask rest = grant.gpus; rest != 0; rest &= rest - 1) {
      const int gpu = std::countr_zero(rest);
      const auto made =
          make_one(driver, machine, grant.node, gpu, {place.profile, place.slice}, others);
      std::erase_if(standing, [&](const Standing& each) {
        return each.node == grant.node && each.gpu == gpu;
      });
      look(driver, machine, grant.node, gpu, standing);
      if (!made) {
        return fail(
            Code::unavailable,
            fmt::format("GPU {}: {}", number_of(grant.node, gpu, machine), made.error().message));
      }
    }
  }
  return {};
}

}  // namespace almanac::machine
