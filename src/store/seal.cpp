// SPDX-License-Identifier: Apache-2.0
#include "store/seal.h"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/failure.h"
#include "table/digest.h"

namespace almanac::store {
namespace {

using process::Descriptor;

/// Behind the digest, so that one which was cut off is none.
constexpr std::string_view kMark = "AlmaSeal";
constexpr off_t kDigestSize = 64;
constexpr off_t kSealSize = kDigestSize + static_cast<off_t>(kMark.size());

[[noreturn]] void refuse(const char* what, const std::string& path) {
  throw Refused{
      {Code::unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))}};
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

std::string digest_of(const Descriptor& file, off_t bytes) {
  auto digest = table::sha256_start(file.get(), static_cast<std::uint64_t>(bytes));
  if (!digest) throw Refused{digest.error()};
  return *std::move(digest);
}

}  // namespace

Seal::Seal(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
  // A copy on a medium that cannot be written can be verified all the same.
  if (!file_) file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_) refuse("open", path);
}

bool Seal::verify() const {
  const std::string said = said_by(file_);
  if (said.empty()) return false;
  if (said != digest_of(file_, size_of(file_) - kSealSize)) {
    throw Refused{damaged("the checksum is wrong")};
  }
  return true;
}

void Seal::put() {
  const off_t size = size_of(file_);
  const std::string text = digest_of(file_, size) + std::string(kMark);
  if (::pwrite(file_.get(), text.data(), text.size(), size) == kSealSize &&
      ::fsync(file_.get()) == 0) {
    return;
  }
  const int number = errno;
  static_cast<void>(::ftruncate(file_.get(), size));
  errno = number;
  refuse("write", path_);
}

void Seal::take_off() {
  if (said_by(file_).empty()) return;
  // At once on the disk: pages that are written after this must never meet the seal again.
  if (::ftruncate(file_.get(), size_of(file_) - kSealSize) != 0 || ::fsync(file_.get()) != 0) {
    refuse("write", path_);
  }
}

}  // namespace almanac::store
