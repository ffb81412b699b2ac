// SPDX-License-Identifier: Apache-2.0

/// \file
/// A file system that does not answer, as one on a network whose server is gone: FUSE, with this
/// test behind it.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process/descriptor.h"

namespace almanac::machine {

class HungFiles {
 public:
  enum class Server {
    hears_nothing,    ///< Who waits for it can be killed.
    answers_nothing,  ///< It has the question: who waits for the answer cannot.
    writes_nothing,   ///< It makes files, and answers no write.
  };

  /// Over a folder that is there, for this process and its children alone. See trouble().
  HungFiles(std::string at, Server how) : at_(std::move(at)), how_(how) {
    trouble_ = mount();
    if (trouble_.empty() && how_ != Server::hears_nothing) {
      server_ = std::thread([this] { serve(); });
    }
  }
  HungFiles(const HungFiles&) = delete;
  HungFiles& operator=(const HungFiles&) = delete;
  /// All that waited has an error.
  ~HungFiles() {
    if (!trouble_.empty()) return;
    ::umount2(at_.c_str(), MNT_FORCE);
    if (server_.joinable()) server_.join();
    device_.close();
    ::umount2(at_.c_str(), MNT_DETACH);
  }

  /// Why there is none; "" = there is.
  const std::string& trouble() const { return trouble_; }

  /// Whether somebody waits for an answer.
  bool is_waited_for() {
    const std::lock_guard lock(mutex_);
    return !unanswered_.empty();
  }
  /// Answers what was asked, and all that comes but writes.
  void come_back() {
    const std::lock_guard lock(mutex_);
    how_ = Server::writes_nothing;
    for (const fuse_in_header& asked : std::exchange(unanswered_, {})) answer(asked);
  }

 private:
  static constexpr std::uint64_t kFile = 2;  // its one file

  /// Why that cannot be; "" = it is done.
  std::string mount() {
    const auto refused = [](const char* what) {
      return fmt::format("{}: {}", what, std::strerror(errno));
    };
    device_ = process::Descriptor(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
    if (!device_) return refused("/dev/fuse cannot be opened");
    // Whatever becomes of the test, nothing stays mounted.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      return refused("no mounts of its own");
    }
    const std::string options =
        fmt::format("fd={},rootmode=40000,user_id=0,group_id=0,allow_other", device_.get());
    const int mounted = ::mount("hung", at_.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str());
    return mounted == 0 ? "" : refused("FUSE cannot be mounted");
  }

  void serve() {
    alignas(fuse_in_header) std::array<std::byte, 1U << 18U> question{};
    for (;;) {
      const ssize_t size = ::read(device_.get(), question.data(), question.size());
      if (size < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
      if (size < 0) return;  // unmounted
      const std::lock_guard lock(mutex_);
      answer(*reinterpret_cast<const fuse_in_header*>(question.data()));
    }
  }

  void answer(const fuse_in_header& asked) {
    if (asked.opcode == FUSE_INIT) {
      fuse_init_out init{};
      init.major = FUSE_KERNEL_VERSION;
      init.minor = 31;
      init.max_write = 4096;
      return reply(asked, init);
    }
    if (how_ == Server::answers_nothing) return unanswered_.push_back(asked);
    switch (asked.opcode) {
      case FUSE_GETATTR:
      case FUSE_SETATTR:
        return reply(asked, fuse_attr_out{3600, 0, 0, attributes(asked.nodeid)});
      case FUSE_LOOKUP:
        return reply(asked, ENOENT);
      case FUSE_CREATE: {
        struct {
          fuse_entry_out entry;
          fuse_open_out open;
        } made{};
        made.entry.nodeid = kFile;
        made.entry.entry_valid = made.entry.attr_valid = 3600;
        made.entry.attr = attributes(kFile);
        made.open.open_flags = FOPEN_DIRECT_IO;
        return reply(asked, made);
      }
      case FUSE_WRITE:
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;
      case FUSE_ACCESS:
      case FUSE_FLUSH:
      case FUSE_RELEASE:
      case FUSE_OPENDIR:
      case FUSE_RELEASEDIR:
        return reply(asked, 0);
      default:
        return reply(asked, ENOSYS);
    }
  }

  static fuse_attr attributes(std::uint64_t node) {
    fuse_attr made{};
    made.ino = node;
    made.mode = node == kFile ? S_IFREG | 0666U : S_IFDIR | 0777U;
    made.nlink = 1;
    made.blksize = 4096;
    return made;
  }

  void reply(const fuse_in_header& asked, int error) {
    fuse_out_header head{sizeof head, -error, asked.unique};
    static_cast<void>(::write(device_.get(), &head, sizeof head));
  }
  template <typename Body>
  void reply(const fuse_in_header& asked, Body body) {
    fuse_out_header head{sizeof head + sizeof body, 0, asked.unique};
    const std::array<iovec, 2> parts{{{&head, sizeof head}, {&body, sizeof body}}};
    static_cast<void>(::writev(device_.get(), parts.data(), parts.size()));
  }

  std::string at_;
  std::mutex mutex_;  // of the two that follow, once there is a server
  Server how_;
  std::vector<fuse_in_header> unanswered_;
  process::Descriptor device_;
  std::thread server_;
  std::string trouble_;
};

}  // namespace almanac::machine
