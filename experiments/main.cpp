#include "harness/program.hpp"
#include "techniques.hpp"

int main(int argc, char** argv) {
  return warpath::harness::run_program(argc, argv, warpath::techniques());
}
