// SPDX-License-Identifier: Apache-2.0

/// \file
/// Preloaded into a service: kills it with SIGKILL as it makes its CRASH_AT-th call of those that
/// change what others see (the disk, processes). With CRASH_COUNT=FILE it writes how many it made.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

namespace {

int calls = 0;

bool is_service() { return std::strcmp(program_invocation_short_name, "live_crash_test") == 0; }

void step() {
  if (!is_service()) return;
  ++calls;
  const char* const at = std::getenv("CRASH_AT");
  if (at != nullptr && calls == std::atoi(at)) ::kill(::getpid(), SIGKILL);
  const char* const count = std::getenv("CRASH_COUNT");
  if (count == nullptr) return;
  // The file is written over, never emptied: the test that reads it may have killed us in between.
  std::FILE* file = std::fopen(count, "r+");
  if (file == nullptr) file = std::fopen(count, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%8d\n", calls);
  std::fclose(file);
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int fsync(int file) {
  step();
  return next<int(int)>("fsync")(file);
}
int fdatasync(int file) {
  step();
  return next<int(int)>("fdatasync")(file);
}
int rename(const char* from, const char* to) {
  step();
  return next<int(const char*, const char*)>("rename")(from, to);
}
int mkdir(const char* path, mode_t mode) {
  step();
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}
int unlinkat(int folder, const char* path, int flags) {
  step();
  return next<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}
int flock(int file, int how) {
  step();
  return next<int(int, int)>("flock")(file, how);
}
pid_t fork() {
  step();
  const pid_t made = next<pid_t()>("fork")();
  if (made > 0) step();
  return made;
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  step();
  return next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(file, bytes, size, at);
}
int posix_spawn(pid_t* made, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* argv, char* const* environment) {
  step();
  const int result = next<decltype(posix_spawn)>("posix_spawn")(made, path, actions, attributes,
                                                                argv, environment);
  step();
  return result;
}
}
