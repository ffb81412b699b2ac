// SPDX-License-Identifier: Apache-2.0

/// \file
/// Gives a test a small disk, which it can fill.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <sys/mount.h>
#include <sys/stat.h>

namespace almanac {

/// A disk of 64 kB; only root can have one.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    ::mkdir(path_.c_str(), 0755);
    there_ = ::mount("almanac", path_.c_str(), "tmpfs", 0, "size=64k") == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (there_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool there() const { return there_; }
  /// Leaves no byte free.
  void fill() const {
    std::ofstream file(path_ + "/filling");
    while (file.put('x').flush()) {
    }
  }
  void clear() const { std::filesystem::remove(path_ + "/filling"); }

 private:
  std::string path_;
  bool there_ = false;
};

}  // namespace almanac
