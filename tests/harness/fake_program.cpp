// `warpath` with the fake technique: what the tests start, interrupt and kill.
#include "fake_technique.hpp"
#include "harness/program.hpp"

int main(int argc, char** argv) {
  return warpath::harness::run_program(argc, argv, {warpath::harness::fake::technique()});
}
