// SPDX-License-Identifier: Apache-2.0

/// \file
/// Preloaded into a service: its disk is as slow as the file SLOW_MS says, in milliseconds a write
/// that is to be on the disk; no file = as it is.
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

namespace {

void wait() {
  const char* const path = std::getenv("SLOW_MS");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "re");
  if (file == nullptr) return;
  int milliseconds = 0;
  if (std::fscanf(file, "%d", &milliseconds) != 1) milliseconds = 0;
  std::fclose(file);
  constexpr int kLongest_ms = 10'000;
  constexpr useconds_t kMicroseconds = 1000;
  if (milliseconds > 0 && milliseconds <= kLongest_ms) {
    ::usleep(static_cast<useconds_t>(milliseconds) * kMicroseconds);
  }
}

}  // namespace

extern "C" {

int fsync(int file) {
  wait();
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"))(file);
}
int fdatasync(int file) {
  wait();
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fdatasync"))(file);
}
}
