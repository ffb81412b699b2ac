// SPDX-License-Identifier: Apache-2.0

/// \file
/// almanac show: everything that the service knows about a job.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/job_list.h"
#include "cli/job_words.h"
#include "cli/program.h"
#include "cli/service_options.h"
#include "cli/wall_clock.h"
#include "store/ask.h"
#include "text/duration.h"
#include "text/human.h"

namespace almanac::cli {
namespace {

struct ShowOptions {
  ServiceOptions service;
  std::string job;
  std::string output;
};

void line(const char* name, const std::string& value) {
  if (!value.empty()) fmt::print("{:<12} {}\n", name, value);
}

/// The value of an attribute; "" = it is missing.
template <typename T>
std::string value_text(const store::About& about, const T& value, Time now) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "yes" : "";
  } else if constexpr (std::is_same_v<T, trace::Requeue>) {
    return std::string(to_string(value));
  } else if constexpr (std::is_same_v<T, Time>) {
    return clock_text(value, now);
  } else if constexpr (std::is_same_v<T, Duration>) {
    return value == kNoDuration ? "" : text::format_duration(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? value_text(about, *value, now) : "";
  } else if constexpr (std::is_arithmetic_v<T>) {
    if constexpr (std::is_integral_v<T>) {
      if (value == 0) return "";
    }
    return *about.unit == '\0' ? fmt::format("{:g}", static_cast<double>(value))
                               : fmt::format("{:.4g} {}", static_cast<double>(value), about.unit);
  } else {
    return fmt::format("{}", fmt::join(value, ", "));
  }
}

/// "1.25 kWh, measured"; "" = none is known.
std::string energy_text(const store::Energy& energy) {
  if (energy.total_j() <= 0) return "";
  const auto amount = [](double joules) {
    const double wh = joules / 3600;
    return wh < 1000 ? fmt::format("{:.3g} Wh", wh) : fmt::format("{:.4g} kWh", wh / 1000);
  };
  const std::string all = amount(energy.total_j());
  if (energy.modelled_j <= 0) return all + ", measured";
  if (energy.measured_j <= 0) return all + ", estimated";
  return fmt::format("{}, of which {} measured and the rest estimated", all,
                     amount(energy.measured_j));
}

/// "step 1200 of 5000, metric 0.91 at step 1000"; "" = it says nothing.
std::string training_text(const service::JobView& view) {
  if (!view.step) return "";
  const std::int64_t steps = view.job.asked->steps;
  std::string text = fmt::format("step {:g}", *view.step);
  if (steps > 0) text += fmt::format(" of {}", steps);
  if (view.metric) {
    text += fmt::format(", metric {:g} at step {:g}", *view.metric, view.metric_step.value_or(0));
  }
  return text;
}

void say(const serve::ListedJob& listed, Time now) {
  const store::Job& job = listed.view.job;
  const store::Submission& asked = job.asked;
  line("Job", asked.name.empty() ? listed.id : fmt::format("{} ({})", listed.id, asked.name));
  line("User", asked.user);
  line("State", fmt::format("{}{}", trace::to_string(job.state), job.held ? ", held" : ""));
  line("Why", listed.view.why);
  line(job.end == kNoTime ? "To end" : "Ended", job.reason);
  if (job.exit_status) line("Exit", std::to_string(*job.exit_status));
  if (job.signal != 0) line("Signal", std::to_string(job.signal));
  line("Output", lost_text(job.lost_output));
  line("GPUs", gpus_text(asked));
  store::each_ask([&](const auto& ask) {
    if (*ask.label != '\0') line(ask.label, value_text(ask, asked.*ask.member, now));
  });
  line("Held by", listed.view.limits_by);
  line("Submitted", clock_text(job.submit, now));
  const bool waits = job.state == trace::JobState::pending;
  line(waits ? "First start" : "Started", clock_text(job.start, now));
  line("Ended at", clock_text(job.end, now));
  if (job.start != kNoTime) line("Ran", text::format_duration(ran(job, now)));
  if (listed.view.expected) {
    const bool runs = job.state == trace::JobState::running;
    line("Expected",
         runs ? end_in_words(*listed.view.expected, now) : in_words(*listed.view.expected, now));
    if (listed.view.expected->other_gpus) {
      for (const service::WithGpus& each : *listed.view.expected->other_gpus) {
        line("", in_words(each, now));
      }
    }
  }
  if (listed.view.believed) line("Believed", text::format_duration(*listed.view.believed));
  if (job.attempts > 1) line("Runs", std::to_string(job.attempts));
  if (job.preemptions > 0) {
    line("Stopped",
         text::counted(static_cast<std::uint64_t>(job.preemptions), "time") + " for other jobs");
  }
  if (!waits) {
    line(job.end == kNoTime ? "Holds" : "Held",
         listed.gpus_held.empty() ? listed.nodes : listed.gpus_held);
  }
  if (listed.view.gpu_use >= 0) line("GPU use", fmt::format("{:.0f} %", 100 * listed.view.gpu_use));
  line("Training", training_text(listed.view));
  line("Energy", energy_text(job.energy));
  if (listed.view.cpu_use >= 0) line("Cores busy", fmt::format("{:.1f}", listed.view.cpu_use));
  if (listed.view.memory_gb >= 0)
    line("In memory", fmt::format("{:.1f} GB", listed.view.memory_gb));
  if (listed.view.gpu_memory_gb >= 0)
    line("On GPUs", fmt::format("{:.1f} GB", listed.view.gpu_memory_gb));
  if (listed.view.pace) line("Speed", in_words(*listed.view.pace));
  const std::string words = fmt::format("{}", fmt::join(asked.argv, " "));
  const char* const with = words.empty() ? "" : ", with arguments: ";
  line("Command", listed.is_script ? fmt::format("batch script{}{}", with, words) : words);
}

Result<int> show(const ShowOptions& options) {
  auto client = options.service.client();
  if (!client) return tl::unexpected(client.error());
  const std::string path = "/v1/jobs/" + options.job;
  if (options.output == "json") return relay_answer(*client, path);
  const auto said = client->get(path);
  if (!said) return tl::unexpected(said.error());
  const auto job = serve::read_job(said->body);
  if (!job) return tl::unexpected(job.error());
  say(*job, wall_clock());
  return kDone;
}

}  // namespace

void register_show(Program& program) {
  CLI::App& command = program.command(Purpose::jobs, "show", "Show details of a job");
  const auto options = std::make_shared<ShowOptions>();
  command.add_option("JOB", options->job, "Job id: 17, or 12_3 for a task of an array")->required();
  add_output(command, options->output, {"table", "json"});
  options->service.add_to(command);
  add_example(command, "almanac show 17");
  program.on(command, [options] { return show(*options); });
}

}  // namespace almanac::cli
