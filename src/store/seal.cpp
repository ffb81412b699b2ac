// SPDX-License-Identifier: Apache-2.0
#include "store/seal.h"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "store/failure.h"
#include "table/digest.h"

namespace almanac::store {
namespace {

using process::Descriptor;

/// Behind the digest, so that one which was cut off is none.
constexpr std::string_view kMark = "AlmaSeal";
constexpr off_t kDigestSize = 64;
constexpr off_t kSealSize = kDigestSize + static_cast<off_t>(kMark.size());

Descriptor open_file(const std::string& path, int how) {
  Descriptor file(::open(path.c_str(), how | O_CLOEXEC));
  if (!file) {
    throw Refused{
        {Code::unavailable, fmt::format("cannot open {}: {}", path, std::strerror(errno))}};
  }
  return file;
}

off_t size_of(const Descriptor& file) {
  struct stat about {};
  return ::fstat(file.get(), &about) == 0 ? about.st_size : 0;
}

/// The digest that the file says it has; "" = it has no seal.
std::string said_by(const Descriptor& file) {
  const off_t size = size_of(file);
  std::string seal(kSealSize, '\0');
  if (size < kSealSize || ::pread(file.get(), seal.data(), seal.size(), size - kSealSize) !=
                              static_cast<ssize_t>(seal.size())) {
    return {};
  }
  if (std::string_view(seal).substr(kDigestSize) != kMark) return {};
  return seal.substr(0, kDigestSize);
}

std::string digest_of(const std::string& path, off_t bytes) {
  auto digest = table::sha256_file(path, static_cast<std::uint64_t>(bytes));
  if (!digest) throw Refused{digest.error()};
  return *std::move(digest);
}

/// A log that has something: the file alone is not all there is.
bool has_log(const std::string& path) {
  struct stat about {};
  return ::stat((path + "-wal").c_str(), &about) == 0 && about.st_size > 0;
}

}  // namespace

void seal(const std::string& path) {
  const Descriptor file = open_file(path, O_RDWR);
  const off_t size = size_of(file);
  const std::string text = digest_of(path, size) + std::string(kMark);
  if (::pwrite(file.get(), text.data(), text.size(), size) != kSealSize ||
      ::fsync(file.get()) != 0) {
    const int number = errno;
    static_cast<void>(::ftruncate(file.get(), size));
    throw Refused{
        {Code::unavailable, fmt::format("cannot write {}: {}", path, std::strerror(number))}};
  }
}

bool is_sealed(const std::string& path) {
  const Descriptor file = open_file(path, O_RDONLY);
  const std::string said = said_by(file);
  if (said.empty()) return false;
  if (said != digest_of(path, size_of(file) - kSealSize)) {
    throw Refused{damaged("its checksum is wrong")};
  }
  return true;
}

bool unseal(const std::string& path) {
  const Descriptor file = open_file(path, O_RDWR);
  if (said_by(file).empty()) return false;
  const bool was_written = has_log(path);
  if (!was_written) is_sealed(path);
  if (::ftruncate(file.get(), size_of(file) - kSealSize) != 0) {
    throw Refused{
        {Code::unavailable, fmt::format("cannot write {}: {}", path, std::strerror(errno))}};
  }
  return !was_written;
}

Sealing::Sealing(std::string path) : path_(std::move(path)), is_wanted_(unseal(path_)) {}

Sealing::~Sealing() {
  if (!is_wanted_) return;
  try {
    if (!has_log(path_)) seal(path_);
  } catch (const Refused&) {
    // The next to open it reads it without: a full disk is no damage.
  }
}

}  // namespace almanac::store
