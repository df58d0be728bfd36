// main() of every test program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/checked.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  warpath::set_checked(true);
  return RUN_ALL_TESTS();
}
