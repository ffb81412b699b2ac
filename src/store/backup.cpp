// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "process/descriptor.h"
#include "store/database.h"
#include "store/failure.h"
#include "store/schema.h"
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
  if (!file || ::fsync(file.get()) != 0) refuse("put on the disk " + path);
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

void rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) refuse("move " + from);
}

}  // namespace

void copy(Connection& connection, const std::string& to, Secrets secrets) {
  const std::string made = to + ".new";
  ::unlink(made.c_str());
  // For its owner alone from the first byte on: environments have passwords in them.
  const Descriptor file(
      ::open(made.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) refuse("write " + made);
  try {
    SQLite::Statement copies(connection.database(), "VACUUM INTO ?");
    copies.bind(1, made);
    copies.exec();
    if (secrets == Secrets::of_unfinished) {
      Connection copied(made, Connection::Access::write);
      drop_environments(copied, Time::max());
    }
    sync(made, O_RDONLY);
    rename(made, to);
  } catch (...) {
    ::unlink(made.c_str());
    throw;
  }
  sync(folder_of(to), O_RDONLY | O_DIRECTORY);
}

Result<void> back_up(const std::string& path, const std::string& to) {
  if (!fs::exists(path)) return fail(Code::not_found, "there is no store", {.file = path});
  return guarded(path, [&] {
    Connection connection(path, Connection::Access::read);
    copy(connection, to, Secrets::of_unfinished);
  });
}

Result<void> restore(const std::string& from, const std::string& path) {
  if (!fs::exists(from)) return fail(Code::not_found, "there is no copy", {.file = from});
  return guarded(path, [&] {
    const Descriptor held = lock(path);
    const std::string made = path + ".restored";
    {
      // Damage, another program's file or a later version's shows itself here.
      Connection copied(from, Connection::Access::read);
      check(copied);
      if (version_of(copied) == 0) throw Refused{{Code::invalid, from + " is empty, no store"}};
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
