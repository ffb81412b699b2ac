// SPDX-License-Identifier: Apache-2.0
#include "shepherd/log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/pipe.h"

namespace almanac::shepherd {
namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;

}  // namespace

Log::Log(process::Descriptor from, process::Descriptor to, double limit_gb)
    : from_(std::move(from)),
      to_(std::move(to)),
      limit_gb_(limit_gb),
      room_(static_cast<std::size_t>(limit_gb * kGigabyte)) {
  struct stat file {};
  // What earlier runs wrote counts: a job that fails and is tried again must not fill the disk.
  if (::fstat(to_.get(), &file) == 0 && S_ISREG(file.st_mode)) {
    room_ -= std::min(room_, static_cast<std::size_t>(file.st_size));
  }
}

bool Log::pump() {
  if (!from_) return false;
  block_.clear();
  const bool more = process::read_available(from_, block_);
  if (!block_.empty()) write(block_);
  if (!more) from_.close();
  return more;
}

void Log::close() {
  pump();
  from_.close();
  tell();
}

void Log::write(std::string_view text) {
  tell();
  const std::string_view fits = text.substr(0, std::min(text.size(), room_));
  const std::size_t lost = put(fits);
  room_ -= fits.size() - lost;
  untold_ += lost;
  dropped_ += static_cast<std::int64_t>(text.size() - fits.size() + lost);
  if (fits.size() < text.size() && !std::exchange(full_, true)) {
    put(fmt::format("\nalmanac: output beyond {:g} GB dropped\n", limit_gb_));
  }
}

void Log::tell() {
  if (untold_ == 0) return;
  const std::string notice =
      fmt::format("\nalmanac: {} bytes of output dropped: {}\n", untold_, std::strerror(why_));
  if (put(notice) == 0) untold_ = 0;
}

std::size_t Log::put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(to_.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      why_ = errno;
      break;
    }
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return text.size();
}

}  // namespace almanac::shepherd
