// SPDX-License-Identifier: Apache-2.0

#include "inference/published/mig.h"

#include <algorithm>

#include <fmt/format.h>

#include "inference/recipe/sheet.h"
#include "text/number.h"

namespace almanac::inference {

int MigCard::find(std::string_view profile) const {
  for (std::size_t each = 0; each < profiles.size(); ++each) {
    if (profiles[each].name == profile) return static_cast<int>(each);
  }
  return -1;
}

Result<std::vector<MigCard>> read_mig_cards(const std::string& path) {
  const auto sheet = Sheet::read(path, {"gpu", "profile", "max_instances", "profile_compute_slices",
                                        "profile_memory_slices", "starts", "sm", "media"});
  if (!sheet) return tl::unexpected(sheet.error());
  std::vector<MigCard> cards;
  for (std::size_t row = 0; row < sheet->rows(); ++row) {
    MigProfile profile{.name = sheet->text("profile", row)};
    const auto read = [&](const char* column, auto& into) -> Result<void> {
      const auto value = sheet->number(column, row);
      if (!value) return tl::unexpected(value.error());
      into = static_cast<std::remove_reference_t<decltype(into)>>(*value);
      return {};
    };
    for (const auto& done :
         {read("max_instances", profile.most), read("profile_compute_slices", profile.compute),
          read("profile_memory_slices", profile.memory), read("sm", profile.sm),
          read("media", profile.media)}) {
      if (!done) return tl::unexpected(done.error());
    }
    const std::string& starts = sheet->text("starts", row);
    for (std::size_t at = 0; at < starts.size();) {
      const std::size_t end = std::min(starts.find(' ', at), starts.size());
      const auto start = text::parse_whole(std::string_view(starts).substr(at, end - at));
      if (!start || *start < 0 || *start + profile.memory > 31) {
        return fail(Code::invalid, fmt::format("starts: \"{}\" is no list of slices", starts),
                    {.file = path});
      }
      profile.starts.push_back(static_cast<int>(*start));
      at = end + 1;
    }
    const std::string& name = sheet->text("gpu", row);
    auto card = std::find_if(cards.begin(), cards.end(),
                             [&](const MigCard& each) { return each.name == name; });
    if (card == cards.end()) card = cards.insert(cards.end(), MigCard{.name = name});
    card->profiles.push_back(std::move(profile));
  }
  return cards;
}

std::string_view to_string(MigRefusal refusal) {
  switch (refusal) {
    case MigRefusal::none:
      return "";
    case MigRefusal::start_not_allowed:
      return "start_not_allowed";
    case MigRefusal::overlap:
      return "overlap";
    case MigRefusal::instance_limit:
      return "instance_limit";
    case MigRefusal::media_taken:
      break;
  }
  return "media_taken";
}

std::uint32_t MigGpu::mask(int profile, int start) const {
  const int size = card_->profiles[static_cast<std::size_t>(profile)].memory;
  return ((1U << size) - 1) << start;
}

MigRefusal MigGpu::refusal(int profile, int start) const {
  const MigProfile& asked = card_->profiles[static_cast<std::size_t>(profile)];
  if (std::find(asked.starts.begin(), asked.starts.end(), start) == asked.starts.end()) {
    return MigRefusal::start_not_allowed;
  }
  if ((taken_ & mask(profile, start)) != 0) return MigRefusal::overlap;
  int alike = 0;
  bool media = false;
  for (const Instance& each : instances_) {
    alike += each.profile == profile;
    media = media || card_->profiles[static_cast<std::size_t>(each.profile)].media;
  }
  if (alike >= asked.most) return MigRefusal::instance_limit;
  return asked.media && media ? MigRefusal::media_taken : MigRefusal::none;
}

MigRefusal MigGpu::create(int profile, int start) {
  const MigRefusal refused = refusal(profile, start);
  if (refused != MigRefusal::none) return refused;
  instances_.push_back({profile, start});
  taken_ |= mask(profile, start);
  return refused;
}

void MigGpu::destroy(const Instance& instance) {
  taken_ &= ~mask(instance.profile, instance.start);
  instances_.erase(std::find(instances_.begin(), instances_.end(), instance));
}

int MigGpu::room(int profile) const {
  MigGpu what_if = *this;
  int created = 0;
  for (const int start : card_->profiles[static_cast<std::size_t>(profile)].starts) {
    created += what_if.create(profile, start) == MigRefusal::none;
  }
  return created;
}

}  // namespace almanac::inference
