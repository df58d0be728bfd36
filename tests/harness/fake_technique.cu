#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/cuda_check.cuh"
#include "core/launch.cuh"
#include "fake_technique.hpp"

namespace warpath::harness::fake {
namespace {

__global__ void double_kernel(const int* input, int* output, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) output[i] = 2 * input[i];
}

/// The device is left as after an illegal access.
__global__ void trap_kernel() {
  __trap();
}

class DeviceInts {
 public:
  explicit DeviceInts(int count) {
    WARPATH_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&data_),
                                  sizeof(int) * static_cast<std::size_t>(count)));
  }
  ~DeviceInts() { cudaFree(data_); }
  DeviceInts(const DeviceInts&) = delete;
  DeviceInts& operator=(const DeviceInts&) = delete;
  [[nodiscard]] int* get() const { return data_; }

 private:
  int* data_ = nullptr;
};

class Doubling : public Problem {
 public:
  explicit Doubling(const Parameters& problem)
      : n_(static_cast<int>(problem.integer("n"))),
        fault_(problem.text("fault")),
        faulty_(problem.text("faulty")),
        when_(problem.text("when")),
        delay_ms_(problem.real("delay_ms")),
        input_(static_cast<std::size_t>(n_)),
        device_input_(n_),
        device_output_(n_) {
    if (fault_ == "no_problem") throw NotHere("needs 16 GPUs: this machine has 1");
    for (int i = 0; i < n_; ++i) {
      input_[static_cast<std::size_t>(i)] = i + static_cast<int>(problem.integer("seed"));
    }
    WARPATH_CUDA_CHECK(
        cudaMemcpy(device_input_.get(), input_.data(), bytes(), cudaMemcpyHostToDevice));
  }

  Execution prepare(const Parameters& point) override {
    const std::string variant = point.text("variant");
    if (fault_ == "not_here" && variant == faulty_) {
      throw NotHere(variant + " does not fit this machine");
    }
    if (fault_ == "no_room" && variant == faulty_) throw NoRoom(variant + " needs 8 bytes more");
    const bool host = variant.starts_with("host_") || variant == "oracle";
    choices_.clear();
    if (variant == "host_fast") choices_["loop"] = n_ % 2 == 0 ? "even" : "odd";
    return [this, variant, host, runs = 0](cudaStream_t stream) mutable {
      executions().push_back(variant);
      // The first execution is the one that is verified.
      const bool now = (runs++ == 0) == (when_ == "verifying");
      const bool fails = now && variant == faulty_;
      if (fails) misbehave(stream);
      host ? on_host(stream) : on_device(stream);
      if (fails && fault_ == "wrong_answer") spoil(stream);
    };
  }

  void poison(cudaStream_t stream) override {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(device_output_.get(), 0xFF, bytes(), stream));
  }

  std::optional<std::string> mismatch(const Parameters&, cudaStream_t stream) override {
    std::vector<int> output(input_.size());
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(output.data(), device_output_.get(), bytes(),
                                       cudaMemcpyDeviceToHost, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (output[i] != 2 * input_[i]) {
        return "element " + std::to_string(i) + " is " + std::to_string(output[i]) + ", expected " +
               std::to_string(2 * input_[i]);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Cost cost() const override {
    Cost cost;
    cost.items = n_;
    cost.bytes_min = 2 * static_cast<std::int64_t>(bytes());
    return cost;
  }

  [[nodiscard]] std::map<std::string, double> counters() const override {
    return {{"blocks_count", static_cast<double>((n_ + 255) / 256)}};
  }

  [[nodiscard]] std::map<std::string, std::string> choices() const override { return choices_; }

 private:
  [[nodiscard]] std::size_t bytes() const { return sizeof(int) * input_.size(); }

  void on_device(cudaStream_t stream) {
    launch({.blocks = static_cast<unsigned>((n_ + 255) / 256), .threads = 256, .stream = stream},
           double_kernel, device_input_.get(), device_output_.get(), n_);
  }

  void on_host(cudaStream_t stream) {
    std::vector<int> output;
    for (const int value : input_) output.push_back(2 * value);
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(delay_ms_));
    WARPATH_CUDA_CHECK(cudaMemcpyAsync(device_output_.get(), output.data(), bytes(),
                                       cudaMemcpyHostToDevice, stream));
    WARPATH_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  void misbehave(cudaStream_t stream) {
    if (fault_ == "exception") throw std::runtime_error("the fake went wrong");
    if (fault_ == "cuda_error") {
      WARPATH_CUDA_CHECK(cudaMemcpyAsync(device_output_.get(), device_input_.get(), bytes(),
                                         static_cast<cudaMemcpyKind>(42), stream));
    }
    if (fault_ == "device_vanishes") {
      // Another process finds no device.
      setenv("CUDA_VISIBLE_DEVICES", "", 1);
      setenv("SIMT_DEVICES", "0", 1);
    }
    if (fault_ == "device_lost" || fault_ == "device_vanishes") {
      launch({.blocks = 1, .threads = 32, .stream = stream}, trap_kernel);
    }
  }

  /// The last element keeps what it was poisoned with.
  void spoil(cudaStream_t stream) {
    WARPATH_CUDA_CHECK(cudaMemsetAsync(device_output_.get() + n_ - 1, 0xFF, sizeof(int), stream));
  }

  int n_;
  std::string fault_;
  std::string faulty_;
  std::string when_;
  double delay_ms_;
  std::map<std::string, std::string> choices_;
  std::vector<int> input_;
  DeviceInts device_input_;
  DeviceInts device_output_;
};

Parameter parameter(std::string name, Value default_value, std::vector<std::string> choices,
                    std::string help) {
  Parameter made;
  made.name = std::move(name);
  made.default_value = std::move(default_value);
  made.choices = std::move(choices);
  made.help = std::move(help);
  return made;
}

}  // namespace

std::vector<std::string>& executions() {
  static std::vector<std::string> log;
  return log;
}

Technique technique() {
  Technique fake;
  fake.name = "fake";
  fake.summary = "doubles integers";
  fake.source = "this test";
  fake.variants = {{"kernel", Role::technique, Runs::anywhere, "one thread an element"},
                   {"naive", Role::naive, Runs::anywhere, "the same"},
                   {"library", Role::peer, Runs::gpu, "stands for a device library"},
                   {"host_fast", Role::technique, Runs::host, "a loop"},
                   {"host_slow", Role::peer, Runs::host, "the same"},
                   {"oracle", Role::oracle, Runs::host, "the same"}};
  Parameter n = parameter("n", std::int64_t{1024}, {}, "elements");
  n.least = 1;
  n.most = 1 << 28;
  Parameter scale = parameter("scale", 0.5, {}, "a share");
  scale.most = 1;
  Parameter delay = parameter("delay_ms", 0.0, {}, "pause of each host execution, in ms");
  delay.most = 10'000;
  Parameter tuning = parameter("tuning", std::int64_t{1}, {}, "configures the variants only");
  tuning.shapes_problem = false;
  fake.parameters = {
      n,
      scale,
      tuning,
      delay,
      parameter("fault", std::string("none"),
                {"none", "wrong_answer", "exception", "cuda_error", "device_lost",
                 "device_vanishes", "too_large", "not_here", "no_room", "no_problem", "endless"},
                "what goes wrong"),
      parameter("faulty", std::string("none"), {}, "the variant that goes wrong"),
      parameter("when", std::string("verifying"), {"verifying", "timing"}, "when it goes wrong"),
      parameter("seed", std::int64_t{42}, {}, "of the input")};
  fake.device_bytes = [](const Parameters& problem) {
    return problem.text("fault") == "too_large" ? std::int64_t{1} << 60 : 8 * problem.integer("n");
  };
  fake.make_problem = [](const Parameters& problem) { return std::make_unique<Doubling>(problem); };
  // So says "endless"; it is as quick as the others.
  fake.steps = [](const Parameters& problem) {
    return problem.real("n") * (problem.text("fault") == "endless" ? 1e9 : 1);
  };
  fake.uses_links = [](const Parameters& problem) { return problem.real("scale") == 1; };
  fake.demonstration = [] { return std::string("twice 21 is 42\n"); };
  return fake;
}

}  // namespace warpath::harness::fake
