// The GPU's clocks, through the driver's management library, loaded while running: it is not on
// every machine.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace warpath::harness {

class Nvml {
 public:
  /// Where the library or the device is missing, every answer is empty.
  explicit Nvml(const std::string& pci_bus);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::optional<unsigned> max_sm_clock_mhz() const;
  [[nodiscard]] std::optional<std::string> driver() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace warpath::harness
