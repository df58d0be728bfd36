#include "harness/provenance.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "build_info.hpp"
#include "git_version.hpp"

namespace warpath::harness {
namespace {

Json or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json or_null(std::int64_t number) {
  return number == 0 ? Json(nullptr) : Json(number);
}

Json or_null(std::optional<bool> known) {
  return known ? Json(*known) : Json(nullptr);
}

Json describe(const Device& device) {
  Json topology = nullptr;
  if (!device.peer_access.empty()) topology = {{"peer_access", device.peer_access}};
  return {{"name", device.name},
          {"uuid", or_null(device.uuid)},
          {"sm_count", or_null(device.sm_count)},
          {"compute_capability", or_null(device.compute_capability)},
          {"memory_bytes", or_null(device.memory_bytes)},
          {"l2_bytes", or_null(device.l2_bytes)},
          {"count", device.count},
          {"topology", topology}};
}

/// Goes on from the hash of what came before.
std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  return hash;
}

std::string in_hexadecimal(std::uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

}  // namespace

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

std::string hash_text(std::string_view bytes) {
  return in_hexadecimal(fnv1a(bytes));
}

std::string build_id() {
  static const std::string id = [] {
    std::ifstream program("/proc/self/exe", std::ios::binary);
    std::uint64_t hash = fnv1a({});
    std::vector<char> block(1 << 20);
    while (program) {
      program.read(block.data(), static_cast<std::streamsize>(block.size()));
      hash = fnv1a({block.data(), static_cast<std::size_t>(program.gcount())}, hash);
    }
    return in_hexadecimal(hash);
  }();
  return id;
}

std::string version() {
  return std::string(project_version) + " (commit " + git_commit +
         (git_dirty.value_or(false) ? ", changed" : "") + ", backend " +
         (emulated ? "emulated" : "cuda") + ")";
}

Json provenance(const Device& device) {
  return {{"git_commit", git_commit},
          {"git_dirty", or_null(git_dirty)},
          {"compiler", build_compiler},
          {"flags", build_flags},
          {"build_type", build_type},
          {"build_id", build_id()},
          {"cuda_version", or_null(device.cuda_version)},
          {"driver", or_null(device.driver)},
          {"backend", emulated ? "emulated" : "cuda"},
          {"device", describe(device)},
          {"host", {{"cpu", cpu_name()}, {"cores", std::thread::hardware_concurrency()}}},
          {"time", utc_now()}};
}

}  // namespace warpath::harness
