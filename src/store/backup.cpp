// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "store/database.h"
#include "store/failure.h"
#include "store/schema.h"
#include "store/seal.h"
#include "store/tables.h"

namespace almanac::store {
namespace {

namespace fs = std::filesystem;
using process::Descriptor;

[[noreturn]] void refuse(const std::string& what) {
  throw Refused{{Code::unavailable, fmt::format("cannot {}: {}", what, std::strerror(errno))}};
}

void sync(const std::string& path, int how) {
  const Descriptor file(::open(path.c_str(), how | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) refuse("sync to disk " + path);
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// What a path leads to, or the link itself with `nofollow`; nothing = nothing that can be looked
/// at.
std::optional<struct stat> look(const std::string& path, bool nofollow = false) {
  struct stat about {};
  const int done = nofollow ? ::lstat(path.c_str(), &about) : ::stat(path.c_str(), &about);
  return done == 0 ? std::optional(about) : std::nullopt;
}

bool are_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Fails unless `to` is a plain file, or nothing yet, outside the folder of the store. A copy takes
/// its place by a rename, which would replace a device, and the store itself.
Result<void> may_replace(const std::string& path, const std::string& to) {
  const auto refuse = [&](const std::string& why) {
    return fail(
        Code::invalid, why, {.file = to},
        "choose a file elsewhere, preferably on another disk: almanac backup /backup/almanac.db");
  };
  if (const auto there = look(to, true)) {
    if (!S_ISREG(there->st_mode)) return refuse("is not a regular file, and is left unchanged");
    for (const char* const part : {"", "-wal", "-shm", ".lock"}) {
      const auto store = look(path + part);
      if (store && are_same(*store, *there)) return refuse("is the store itself");
    }
  }
  const auto state = look(folder_of(path));
  std::error_code error;
  for (fs::path at = fs::canonical(folder_of(to), error); !error; at = at.parent_path()) {
    const auto folder = look(at.string());
    if (state && folder && are_same(*state, *folder)) {
      return refuse(fmt::format("is in the folder of the store, {}", folder_of(path)));
    }
    if (at == at.root_path()) break;
  }
  return {};
}

void rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) refuse("move " + from);
}

}  // namespace

void copy(Connection& connection, const std::string& to, Secrets secrets) {
  // Only the owner may read the file from the first byte on, because environments contain
  // passwords. The temporary name is unique, so no existing file is overwritten.
  std::string made = to + ".XXXXXX";
  const Descriptor file(::mkostemp(made.data(), O_CLOEXEC));
  if (!file) refuse("write next to " + to);
  try {
    SQLite::Statement copies(connection.database(), "VACUUM INTO ?");
    copies.bind(1, made);
    copies.exec();
    if (secrets == Secrets::of_unfinished) {
      Connection copied(made, Connection::Access::write);
      drop_environments(copied, Time::max());
    }
    if (secrets == Secrets::of_unfinished) {
      Seal(made).put();
    } else {
      sync(made, O_RDONLY);
    }
    rename(made, to);
  } catch (...) {
    ::unlink(made.c_str());
    throw;
  }
  sync(folder_of(to), O_RDONLY | O_DIRECTORY);
}

Result<void> back_up(const std::string& path, const std::string& to) {
  if (!fs::exists(path))
    return fail(Code::not_found, "there is no store", {.file = path},
                "name the service's state directory with --state");
  if (auto may = may_replace(path, to); !may) return may;
  return guarded(path, [&] {
    Connection connection(path, Connection::Access::read);
    copy(connection, to, Secrets::of_unfinished);
  });
}

Result<void> restore(const std::string& from, const std::string& path) {
  const auto there = look(from);
  if (!there)
    return fail(Code::not_found, "there is no such file", {.file = from},
                "give a file that almanac backup made");
  if (!S_ISREG(there->st_mode)) return fail(Code::invalid, "is not a regular file", {.file = from});
  if (const auto store = look(path); store && are_same(*store, *there)) {
    return fail(Code::invalid, "is the store itself", {.file = from}, "give a copy of it");
  }
  const auto whole = guarded(from, [&] { static_cast<void>(Seal(from).verify()); });
  if (!whole) return whole;
  return guarded(path, [&] {
    const Descriptor held = lock(path);
    const std::string made = path + ".restored";
    {
      // Damage, another program's file or a later version's shows itself here.
      Connection copied(from, Connection::Access::read);
      check(copied, Check::thorough);
      if (version_of(copied) == 0) throw Refused{{Code::invalid, from + " is empty, not a store"}};
      copy(copied, made, Secrets::all);
    }
    // The log goes with the file that it belongs to; a new file never meets an old log.
    for (const char* const part : {"", "-wal", "-shm"}) {
      const std::string replaced = fmt::format("{}.replaced{}", path, part);
      if (fs::exists(path + part)) {
        rename(path + part, replaced);
      } else {
        ::unlink(replaced.c_str());
      }
    }
    rename(made, path);
    sync(folder_of(path), O_RDONLY | O_DIRECTORY);
  });
}

}  // namespace almanac::store
