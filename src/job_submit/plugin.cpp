// SPDX-License-Identifier: GPL-3.0-or-later

/// \file
/// Slurm's plugin job_submit/almanac: asks the service for the place of a new job before Slurm
/// first considers it, so that no job passes others only because it has no rank yet.
///
/// It runs within slurmctld, under its locks. It therefore waits for at most 10 ms, sends nothing
/// for 5 s after a missing answer, and accepts every job: if the service is dead or slow, Slurm
/// works as without it.
///
/// Each job is one question over the service's socket and one answer, both of lines "name value"
/// (docs/guide/slurm_levers.md). The socket is /var/lib/almanac/job_submit.sock, or the path in
/// ALMANAC_JOB_SUBMIT of slurmctld's environment.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include <poll.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct job_record;  // slurmctld's own

extern "C" {

// Exported by slurmctld.
void slurm_info(const char* format, ...);
void slurm_error(const char* format, ...);
char* slurm_xstrdup(const char* text);

extern const char plugin_name[] = "Almanac's rank of new jobs";
extern const char plugin_type[] = "job_submit/almanac";
extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{10};
constexpr std::chrono::seconds kRest{5};
constexpr std::size_t kLongest = 4096;

Clock::time_point rests_until;  // slurmctld calls one plugin at a time

class Socket {
 public:
  Socket() : number_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Socket() {
    if (number_ >= 0) ::close(number_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

const char* socket_path() {
  const char* const told = std::getenv("ALMANAC_JOB_SUBMIT");
  return told != nullptr ? told : "/var/lib/almanac/job_submit.sock";
}

bool is_ready(int socket, short what, Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  pollfd source{socket, what, 0};
  const int patience_ms = left.count() < 0 ? 0 : static_cast<int>(left.count());
  return ::poll(&source, 1, patience_ms) == 1 && (source.revents & what) != 0;
}

std::optional<std::string> ask(const std::string& question) {
  const auto until = Clock::now() + kPatience;
  const Socket socket;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string_view path = socket_path();
  if (socket.number() < 0 || path.size() >= sizeof address.sun_path) return std::nullopt;
  path.copy(address.sun_path, path.size());
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
          0 ||
      ::send(socket.number(), question.data(), question.size(), MSG_NOSIGNAL) < 0 ||
      !is_ready(socket.number(), POLLIN, until)) {
    return std::nullopt;
  }
  std::string answer(kLongest, '\0');
  const ssize_t length = ::recv(socket.number(), answer.data(), answer.size(), 0);
  if (length <= 0) return std::nullopt;
  answer.resize(static_cast<std::size_t>(length));
  return answer;
}

void add(std::string& question, const char* name, const char* value) {
  if (value == nullptr || *value == '\0') return;
  question += name;
  question += ' ';
  for (const char* at = value; *at != '\0'; ++at) question += *at == '\n' ? ' ' : *at;
  question += '\n';
}

void add(std::string& question, const char* name, std::uint64_t value, bool is_told) {
  if (is_told) add(question, name, std::to_string(value).c_str());
}

bool is_told(std::uint16_t value) { return value != NO_VAL16; }
bool is_told(std::uint32_t value) { return value != NO_VAL && value != INFINITE; }
bool is_told(std::uint64_t value) { return value != NO_VAL64; }

std::string question_of(const job_desc_msg_t& job, std::uint32_t uid) {
  std::string made = "almanac-job-submit 1\n";
  add(made, "uid", uid, true);
  add(made, "name", job.name);
  add(made, "account", job.account);
  add(made, "partition", job.partition);
  add(made, "qos", job.qos);
  add(made, "tres_per_job", job.tres_per_job);
  add(made, "tres_per_node", job.tres_per_node);
  add(made, "tres_per_task", job.tres_per_task);
  add(made, "array", job.array_inx);
  add(made, "nodes", job.min_nodes, is_told(job.min_nodes));
  add(made, "tasks", job.num_tasks, is_told(job.num_tasks));
  add(made, "cpus", job.min_cpus, is_told(job.min_cpus));
  add(made, "cpus_per_task", job.cpus_per_task, is_told(job.cpus_per_task));
  add(made, "memory_mb", job.pn_min_memory & ~MEM_PER_CPU,
      is_told(job.pn_min_memory) && (job.pn_min_memory & MEM_PER_CPU) == 0);
  add(made, "limit_min", job.time_limit, is_told(job.time_limit));
  return made;
}

/// Jobs whose user, or another manager, has said how they stand.
bool is_ours_to_rank(const job_desc_msg_t& job) {
  const bool held = job.priority == 0;
  const bool ranked = job.priority != NO_VAL && job.priority != INFINITE;
  const bool of_several = job.het_job_offset != NO_VAL;
  return !held && !ranked && !of_several;
}

/// Holds a job for `lease_s` seconds, which Almanac may extend. The administrator's comment marks
/// the job, as the lever `placement` does, so that the lever recognizes it. A job that has another
/// such comment, requests nodes, or has a begin time or a deadline is left to Slurm.
void hold(job_desc_msg_t& job, long lease_s) {
  const std::time_t now = std::time(nullptr);
  const bool is_timed = job.begin_time > now || job.deadline != 0;
  if (job.admin_comment != nullptr || job.req_nodes != nullptr || is_timed) return;
  job.begin_time = now + lease_s;
  const std::string mark = "placed by almanac until " + std::to_string(job.begin_time);
  job.admin_comment = slurm_xstrdup(mark.c_str());
}

/// The number that follows `name` at the beginning of a line.
std::optional<long> number_after(const std::string& answer, const char* name) {
  const std::string wanted = std::string(name) + ' ';
  const auto at = answer.starts_with(wanted) ? 0 : answer.find('\n' + wanted);
  if (at == std::string::npos) return std::nullopt;
  const char* const digits = answer.c_str() + answer.find(' ', at + (at == 0 ? 0 : 1)) + 1;
  char* end = nullptr;
  const long number = std::strtol(digits, &end, 10);
  if (end == digits) return std::nullopt;
  return number;
}

}  // namespace

extern "C" {

int init(void) {
  slurm_info("almanac: ranks new jobs as %s says", socket_path());
  return SLURM_SUCCESS;
}

int fini(void) { return SLURM_SUCCESS; }

int job_submit(job_desc_msg_t* job, std::uint32_t uid, char** /*message*/) {
  if (!is_ours_to_rank(*job) || Clock::now() < rests_until) return SLURM_SUCCESS;
  const auto answer = ask(question_of(*job, uid));
  if (!answer) {
    rests_until = Clock::now() + kRest;
    slurm_error("almanac: no answer at %s; jobs pass unranked for a while", socket_path());
    return SLURM_SUCCESS;
  }
  if (const auto factor = number_after(*answer, "site_factor");
      factor && *factor > -static_cast<long>(NICE_OFFSET) &&
      *factor < static_cast<long>(NICE_OFFSET)) {
    job->site_factor = static_cast<std::uint32_t>(static_cast<long>(NICE_OFFSET) + *factor);
  }
  constexpr long kLongestLease_s = 86400;
  if (const auto lease_s = number_after(*answer, "hold");
      lease_s && *lease_s > 0 && *lease_s <= kLongestLease_s) {
    hold(*job, *lease_s);
  }
  return SLURM_SUCCESS;
}

int job_modify(job_desc_msg_t* /*job*/, job_record* /*record*/, std::uint32_t /*uid*/) {
  return SLURM_SUCCESS;
}
}
