// SPDX-License-Identifier: Apache-2.0
#include "gpu/amd.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace almanac::gpu {
namespace {

namespace fs = std::filesystem;

/// The first line of a file; "" if it cannot be read.
std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<double> number_of(const std::string& path) {
  return number_in<double>(line_of(path));
}

/// The lines "name value" of a file.
std::map<std::string, std::uint64_t> properties_of(const std::string& path) {
  std::map<std::string, std::uint64_t> made;
  std::ifstream file(path);
  std::uint64_t value = 0;
  for (std::string name; file >> name >> value;) made[name] = value;
  return made;
}

/// The entries of a folder whose names are numbers, in their order.
std::vector<std::uint64_t> numbered(const std::string& folder) {
  std::vector<std::uint64_t> made;
  std::error_code none;
  for (const auto& each : fs::directory_iterator(folder, none)) {
    const std::string name = each.path().filename();
    const auto number = number_in<std::uint64_t>(name);
    if (number && std::to_string(*number) == name) made.push_back(*number);
  }
  std::sort(made.begin(), made.end());
  return made;
}

/// The folder of a device's sensors; "" if none.
std::string sensors_of(const std::string& device) {
  std::vector<std::string> all;
  std::error_code none;
  for (const auto& each : fs::directory_iterator(device + "/hwmon", none))
    all.push_back(each.path());
  std::sort(all.begin(), all.end());
  return all.empty() ? "" : all.front();
}

/// "gfx942" of 90402: two digits each for minor version and stepping, which is hexadecimal.
std::string isa_of(std::uint64_t version) {
  return version == 0
             ? ""
             : fmt::format("gfx{}{}{:x}", version / 10'000, version / 100 % 100, version % 100);
}

}  // namespace

std::vector<Amd::Card> Amd::find_cards(const std::string& sys) {
  std::vector<Card> made;
  const std::string nodes = sys + "/class/kfd/kfd/topology/nodes/";
  for (const std::uint64_t number : numbered(nodes)) {
    const std::string node = nodes + std::to_string(number);
    // The id of a processor is 0; that of a GPU which we may not use cannot be read.
    const std::string id = line_of(node + "/gpu_id");
    if (id.empty() || id == "0") continue;
    const auto properties = properties_of(node + "/properties");
    const auto value = [&](const char* name) {
      const auto found = properties.find(name);
      return found == properties.end() ? 0 : found->second;
    };
    const std::string device =
        fmt::format("{}/class/drm/renderD{}/device", sys, value("drm_render_minor"));
    const std::uint64_t unique = value("unique_id");
    made.push_back({.kfd_id = id,
                    .device = device,
                    .sensors = sensors_of(device),
                    .isa = isa_of(value("gfx_target_version")),
                    .uuid = unique == 0 ? "" : fmt::format("GPU-{:016x}", unique)});
  }
  return made;
}

Result<Amd> Amd::open(const std::string& sys) {
  std::vector<Card> cards = find_cards(sys);
  if (cards.empty()) {
    return fail(Code::unavailable, fmt::format("no AMD GPU: {}/class/kfd lists none", sys));
  }
  return Amd(sys, std::move(cards));
}

Amd::Amd(std::string sys, std::vector<Card> cards)
    : sys_(std::move(sys)), cards_(std::move(cards)) {}
Amd::Amd(Amd&& other) noexcept : sys_(std::move(other.sys_)), cards_(std::move(other.cards_)) {}

const Amd::Card* Amd::at(int gpu) const {
  return gpu >= 0 && gpu < count() ? &cards_[static_cast<std::size_t>(gpu)] : nullptr;
}

std::string Amd::name(int gpu) const {
  const Card* const card = at(gpu);
  if (card == nullptr) return "";
  std::string name = line_of(card->device + "/product_name");
  if (!name.empty()) return name;
  return card->isa.empty() ? "AMD GPU" : "AMD " + card->isa;
}

std::string Amd::uuid(int gpu) const {
  const Card* const card = at(gpu);
  return card == nullptr ? "" : card->uuid;
}

std::optional<double> Amd::memory_gb(int gpu) const {
  const Card* const card = at(gpu);
  const auto bytes =
      card == nullptr ? std::nullopt : number_of(card->device + "/mem_info_vram_total");
  return bytes ? std::optional(*bytes / kGigabyte) : std::nullopt;
}

Sample Amd::sample(int gpu) const {
  Sample made;
  const Card* const card = at(gpu);
  if (card == nullptr) return made;
  if (const auto percent = number_of(card->device + "/gpu_busy_percent")) made.use = *percent / 100;
  if (const auto bytes = number_of(card->device + "/mem_info_vram_used")) {
    made.memory_gb = *bytes / kGigabyte;
  }
  // Older boards report a mean, newer ones the power of now.
  auto microwatts = number_of(card->sensors + "/power1_average");
  if (!microwatts) microwatts = number_of(card->sensors + "/power1_input");
  if (microwatts) made.power_w = *microwatts / 1e6;
  return made;
}

Result<std::vector<Holder>> Amd::holders(int gpu) const {
  const Card* const card = at(gpu);
  const std::string processes = sys_ + "/class/kfd/kfd/proc";
  std::error_code none;
  if (card == nullptr || !fs::is_directory(processes, none)) {
    return fail(Code::unavailable, "the driver does not list processes");
  }
  std::vector<Holder> made;
  for (const std::uint64_t process : numbered(processes)) {
    const auto bytes = number_of(fmt::format("{}/{}/vram_{}", processes, process, card->kfd_id));
    // A process opens all GPUs that it sees, and computes on those where it has memory.
    if (bytes && *bytes > 0) made.push_back({static_cast<pid_t>(process), *bytes / kGigabyte});
  }
  return made;
}

std::string Amd::trouble(int gpu) const {
  const Card* const card = at(gpu);
  if (card == nullptr) return "";
  std::ifstream file(card->device + "/ras/umc_err_count");
  std::uint64_t count = 0;
  for (std::string name; file >> name >> count;) {
    if (name == "ue:" && count > 0) {
      return fmt::format("{} uncorrectable memory errors since the driver was loaded", count);
    }
  }
  return "";
}

Result<void> Amd::limit_power(int gpu, double watts) {
  const Card* const card = at(gpu);
  if (card == nullptr || card->sensors.empty()) {
    return fail(Code::unavailable, "the driver has no power limits");
  }
  std::ofstream file(card->sensors + "/power1_cap");
  file << std::llround(watts * 1e6) << std::flush;
  if (!file) return fail(Code::unavailable, std::strerror(errno));
  return {};
}

Route Amd::route(int gpu, int other) const {
  const auto socket = [&](int of) {
    const Card* const card = at(of);
    return card == nullptr ? std::nullopt : number_of(card->device + "/numa_node");
  };
  const auto from = socket(gpu);
  const auto to = socket(other);
  // -1 where the firmware does not say.
  if (!from || !to || *from < 0 || *to < 0) return {};
  return {.by = *from == *to ? Ancestor::socket : Ancestor::system};
}

}  // namespace almanac::gpu
