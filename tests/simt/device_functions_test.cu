// Device functions of one thread, against values computed by hand or by an obvious loop.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "launch.hpp"

namespace {

TEST(Bits, Count) {
  EXPECT_EQ(__popc(0xF0F0u), 8);
  EXPECT_EQ(__popcll(~0ull), 64);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clz(-1), 0);
  EXPECT_EQ(__clzll(0), 64);
  EXPECT_EQ(__clzll(1ll << 40), 23);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(0x80), 8);
  EXPECT_EQ(__ffsll(1ll << 40), 41);
}

TEST(Bits, Reverse) {
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__brev(0x12345678u), 0x1E6A2C48u);
  EXPECT_EQ(__brevll(1ull), 1ull << 63);
  EXPECT_EQ(__brevll(0x12345678ull), 0x1E6A2C4800000000ull);
}

TEST(Bits, FunnelShift) {
  const unsigned low = 0x89ABCDEFu, high = 0x01234567u;
  EXPECT_EQ(__funnelshift_l(low, high, 0), high);
  EXPECT_EQ(__funnelshift_l(low, high, 8), 0x23456789u);
  EXPECT_EQ(__funnelshift_l(low, high, 40), 0x23456789u);
  EXPECT_EQ(__funnelshift_lc(low, high, 40), low);
  EXPECT_EQ(__funnelshift_r(low, high, 0), low);
  EXPECT_EQ(__funnelshift_r(low, high, 8), 0x6789ABCDu);
  EXPECT_EQ(__funnelshift_r(low, high, 40), 0x6789ABCDu);
  EXPECT_EQ(__funnelshift_rc(low, high, 40), high);
}

TEST(Bits, BytePermutation) {
  const unsigned x = 0x33221100u, y = 0x77665544u;
  EXPECT_EQ(__byte_perm(x, y, 0x3210), x);
  EXPECT_EQ(__byte_perm(x, y, 0x7654), y);
  EXPECT_EQ(__byte_perm(x, y, 0x0123), 0x00112233u);
  EXPECT_EQ(__byte_perm(0x0000807Fu, 0, 0x9898), 0xFF00FF00u);
}

TEST(Bits, FindNthSet) {
  const unsigned mask = 0b1011'0010u;  // bits 1, 4, 5, 7
  EXPECT_EQ(__fns(mask, 0, 1), 1u);
  EXPECT_EQ(__fns(mask, 0, 3), 5u);
  EXPECT_EQ(__fns(mask, 4, 1), 4u);
  EXPECT_EQ(__fns(mask, 4, 2), 5u);
  EXPECT_EQ(__fns(mask, 0, 5), ~0u);
  EXPECT_EQ(__fns(mask, 7, -1), 7u);
  EXPECT_EQ(__fns(mask, 7, -2), 5u);
  EXPECT_EQ(__fns(mask, 4, 0), 4u);
  EXPECT_EQ(__fns(mask, 3, 0), ~0u);
}

TEST(Casts, KeepBits) {
  EXPECT_EQ(__float_as_uint(1.0f), 0x3F800000u);
  EXPECT_EQ(__uint_as_float(0x40000000u), 2.0f);
  EXPECT_EQ(__float_as_int(-0.0f), std::numeric_limits<int>::min());
  EXPECT_EQ(__int_as_float(0x3F800000), 1.0f);
  EXPECT_EQ(__double_as_longlong(1.0), 0x3FF0000000000000ll);
  EXPECT_EQ(__longlong_as_double(0x4000000000000000ll), 2.0);
  EXPECT_EQ(__double2hiint(1.0), 0x3FF00000);
  EXPECT_EQ(__double2loint(1.0), 0);
  EXPECT_EQ(__hiloint2double(0x40000000, 0), 2.0);
}

TEST(Arithmetic, HighHalves) {
  EXPECT_EQ(__mulhi(-2, 1 << 30), -1);
  EXPECT_EQ(__umulhi(~0u, ~0u), ~0u - 1);
  EXPECT_EQ(__mul64hi(-1ll, 1ll), -1ll);
  EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
  EXPECT_EQ(__sad(-3, 4, 1u), 8u);
  EXPECT_EQ(__usad(3u, 4u, 1u), 2u);
}

TEST(Arithmetic, FloatingPoint) {
  EXPECT_EQ(__fmaf_rn(2.0f, 3.0f, 4.0f), 10.0f);
  EXPECT_EQ(__fma_rn(2.0, 3.0, 4.0), 10.0);
  EXPECT_EQ(exp2f(5.0f), 32.0f);
  EXPECT_EQ(rsqrtf(4.0f), 0.5f);
  EXPECT_EQ(rsqrt(4.0), 0.5);
  EXPECT_EQ(__fdividef(6.0f, 3.0f), 2.0f);
  EXPECT_EQ(__saturatef(-1.0f), 0.0f);
  EXPECT_EQ(__saturatef(0.25f), 0.25f);
  EXPECT_EQ(__saturatef(7.0f), 1.0f);
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rz(-2.9f), -2);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__float2int_ru(2.1f), 3);
}

// PTX ISA, cvt: saturating; NaN gives 0 from float to 32 bits, else the topmost bit.
TEST(Conversions, ToIntegersSaturate) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr int least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  constexpr long long least_64 = std::numeric_limits<long long>::min();
  constexpr long long most_64 = std::numeric_limits<long long>::max();
  constexpr unsigned long long all_64 = ~0ull, top_64 = 1ull << 63;
  for (const auto convert : {__float2int_rn, __float2int_rz, __float2int_rd, __float2int_ru}) {
    EXPECT_EQ(convert(3e9f), most);
    EXPECT_EQ(convert(-3e9f), least);
    EXPECT_EQ(convert(0x1p31f), most) << "the first that is too great";
    EXPECT_EQ(convert(0x1.fffffep30f), 0x7fffff80);
    EXPECT_EQ(convert(-0x1p31f), least);
    EXPECT_EQ(convert(inf), most);
    EXPECT_EQ(convert(-inf), least);
    EXPECT_EQ(convert(nan), 0);
    EXPECT_EQ(convert(-5.0f), -5);
  }
  for (const auto convert : {__float2uint_rn, __float2uint_rz, __float2uint_rd, __float2uint_ru}) {
    EXPECT_EQ(convert(5e9f), ~0u);
    EXPECT_EQ(convert(3e9f), 3000000000u);
    EXPECT_EQ(convert(-1.0f), 0u);
    EXPECT_EQ(convert(-inf), 0u);
    EXPECT_EQ(convert(nan), 0u);
  }
  for (const auto convert : {__float2ll_rn, __float2ll_rz, __float2ll_rd, __float2ll_ru}) {
    EXPECT_EQ(convert(1e19f), most_64);
    EXPECT_EQ(convert(-1e19f), least_64);
    EXPECT_EQ(convert(nan), least_64);
    EXPECT_EQ(convert(0x1p40f), 1ll << 40);
  }
  for (const auto convert : {__float2ull_rn, __float2ull_rz, __float2ull_rd, __float2ull_ru}) {
    EXPECT_EQ(convert(1e20f), all_64);
    EXPECT_EQ(convert(-1e20f), 0u);
    EXPECT_EQ(convert(nan), top_64);
  }
  for (const auto convert : {__double2int_rn, __double2int_rz, __double2int_rd, __double2int_ru}) {
    EXPECT_EQ(convert(2147483648.0), most);
    EXPECT_EQ(convert(2147483647.0), most);
    EXPECT_EQ(convert(-2147483649.0), least);
    EXPECT_EQ(convert(nan), least);
  }
  for (const auto convert :
       {__double2uint_rn, __double2uint_rz, __double2uint_rd, __double2uint_ru}) {
    EXPECT_EQ(convert(4294967295.0), ~0u);
    EXPECT_EQ(convert(4294967296.0), ~0u);
    EXPECT_EQ(convert(-1.0), 0u);
    EXPECT_EQ(convert(nan), 1u << 31);
  }
  for (const auto convert : {__double2ll_rn, __double2ll_rz, __double2ll_rd, __double2ll_ru}) {
    EXPECT_EQ(convert(0x1p63), most_64);
    EXPECT_EQ(convert(-0x1p63), least_64);
    EXPECT_EQ(convert(0x1.fffffffffffffp62), 0x7ffffffffffffc00ll);
    EXPECT_EQ(convert(nan), least_64);
  }
  for (const auto convert : {__double2ull_rn, __double2ull_rz, __double2ull_rd, __double2ull_ru}) {
    EXPECT_EQ(convert(0x1p64), all_64);
    EXPECT_EQ(convert(0x1p63), top_64);
    EXPECT_EQ(convert(-2.0), 0u);
    EXPECT_EQ(convert(nan), top_64);
  }
}

TEST(Conversions, RoundAsTheirNamesSay) {
  const double half = 2.5;
  EXPECT_EQ(__double2int_rn(half), 2);
  EXPECT_EQ(__double2int_rn(3.5), 4);
  EXPECT_EQ(__double2int_rz(-half), -2);
  EXPECT_EQ(__double2int_rd(-half), -3);
  EXPECT_EQ(__double2int_ru(half), 3);
  EXPECT_EQ(__float2uint_rd(2.9f), 2u);
  EXPECT_EQ(__float2uint_ru(2.1f), 3u);
  EXPECT_EQ(__float2ll_ru(-2.9f), -2);
  const int odd = (1 << 24) + 1;  // halfway between two floats
  EXPECT_EQ(__int2float_rn(odd), 0x1p24f);
  EXPECT_EQ(__int2float_rz(odd), 0x1p24f);
  EXPECT_EQ(__int2float_rd(odd), 0x1p24f);
  EXPECT_EQ(__int2float_ru(odd), 0x1p24f + 2);
  EXPECT_EQ(__int2float_rd(-odd), -0x1p24f - 2);
  EXPECT_EQ(__int2float_rz(-odd), -0x1p24f);
  EXPECT_EQ(__uint2float_rn(~0u), 0x1p32f);
  EXPECT_EQ(__uint2float_rz(~0u), 0x1.fffffep31f);
  EXPECT_EQ(__ull2double_ru(~0ull), 0x1p64);
  EXPECT_EQ(__ull2double_rd(~0ull), 0x1.fffffffffffffp63);
  EXPECT_EQ(__ll2float_rn(7), 7.0f);
  EXPECT_EQ(__double2float_ru(1.0 + 1e-12), 1.0f + 0x1p-23f);
  EXPECT_EQ(__double2float_rz(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(__double2float_rn(1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(__int2double_rn(-7), -7.0);
}

TEST(Arithmetic, OfFewBitsAndMeans) {
  EXPECT_EQ(__mul24(3, -5), -15);
  EXPECT_EQ(__mul24(0x01000002, 4), 8) << "the upper 8 bits do not count";
  EXPECT_EQ(__mul24(0x00ffffff, 2), -2);
  EXPECT_EQ(__umul24(0xff000003u, 5u), 15u);
  EXPECT_EQ(__hadd(-3, 0), -2);
  EXPECT_EQ(__rhadd(-3, 0), -1);
  EXPECT_EQ(__uhadd(~0u, ~0u), ~0u);
  EXPECT_EQ(__urhadd(0u, 1u), 1u);
  EXPECT_EQ(umin(3u, ~0u), 3u);
  EXPECT_EQ(umax(3u, ~0u), ~0u);
  EXPECT_EQ(llmin(-3ll, 2ll), -3ll);
  EXPECT_EQ(ullmax(1ull, ~0ull), ~0ull);
  EXPECT_EQ(min(-1, 5u), 5u) << "as unsigned numbers";
  EXPECT_EQ(max(1.5f, 2.5), 2.5);
}

TEST(Arithmetic, LeastAndGreatest) {
  EXPECT_EQ(min(3, 4), 3);
  EXPECT_EQ(max(3u, 4u), 4u);
  EXPECT_EQ(min(3ll, -4ll), -4ll);
  EXPECT_EQ(max(1.5f, 2.5f), 2.5f);
  EXPECT_EQ(min(1.0f, std::numeric_limits<float>::quiet_NaN()), 1.0f) << "CUDA's fminf drops NaN";
}

TEST(Loads, CacheHintsChangeNothing) {
  int value = 5;
  EXPECT_EQ(__ldg(&value), 5);
  EXPECT_EQ(__ldcs(&value), 5);
  EXPECT_EQ(__ldcg(&value), 5);
  __stcs(&value, 6);
  EXPECT_EQ(value, 6);
  __stcg(&value, 7);
  EXPECT_EQ(value, 7);
  const uint4 wide = make_uint4(1, 2, 3, 4);
  EXPECT_EQ(__ldg(&wide).w, 4u);
}

TEST(Clock, Grows) {
  const long long before = clock64();
  EXPECT_LE(before, clock64());
}

TEST(VectorTypes, HaveCudasSizesAndAlignments) {
  EXPECT_EQ(alignof(char2), 2u);
  EXPECT_EQ(alignof(uchar4), 4u);
  EXPECT_EQ(alignof(ushort2), 4u);
  EXPECT_EQ(alignof(short4), 8u);
  EXPECT_EQ(alignof(int2), 8u);
  EXPECT_EQ(alignof(int3), 4u);
  EXPECT_EQ(sizeof(int3), 12u);
  EXPECT_EQ(alignof(uint4), 16u);
  EXPECT_EQ(alignof(float2), 8u);
  EXPECT_EQ(alignof(float4), 16u);
  EXPECT_EQ(alignof(double2), 16u);
  EXPECT_EQ(alignof(double4), 16u);
  EXPECT_EQ(sizeof(double4), 32u);
  EXPECT_EQ(alignof(ulonglong2), 16u);
  EXPECT_EQ(sizeof(longlong4), 32u);
  EXPECT_EQ(make_longlong2(1, 2).y, 2);
  EXPECT_EQ(make_double4(1, 2, 3, 4).z, 3.0);
  EXPECT_EQ(make_uchar4(1, 2, 3, 4).x, 1);
  EXPECT_EQ(dim3(3).y, 1u);
}

// ---------------------------------------------------------------- atomics

template <class T>
__global__ void atomics_kernel(T* cells) {
  const T mine = T(threadIdx.x) + T(blockIdx.x) * T(blockDim.x);
  atomicAdd(&cells[0], T(1));
  atomicMax(&cells[1], mine);
  atomicMin(&cells[2], mine);
  atomicOr(&cells[3], T(1) << (threadIdx.x % 31));
  atomicAnd(&cells[4], ~(T(1) << (threadIdx.x % 31)));
  atomicXor(&cells[5], mine);
  atomicSub(&cells[6], T(1));
  atomicExch(&cells[7], T(42));
  T seen = 0, expected;
  do {  // one more, by hand
    expected = seen;
    seen = atomicCAS(&cells[8], expected, expected + 1);
  } while (seen != expected);
}

template <class T>
class IntegerAtomics : public testing::Test {};
using IntegerTypes = testing::Types<int, unsigned, unsigned long long>;
TYPED_TEST_SUITE(IntegerAtomics, IntegerTypes);

TYPED_TEST(IntegerAtomics, AllThreadsCount) {
  std::vector<TypeParam> cells(9, 0);
  cells[2] = 1000000;
  cells[4] = TypeParam(~0ull);
  cells[6] = 256;
  simt_test::Array<TypeParam> array(cells);
  simt_test::run(4, 64, atomics_kernel<TypeParam>, array.data());
  const auto result = array.host();
  EXPECT_EQ(result[0], TypeParam(256));
  EXPECT_EQ(result[1], TypeParam(255));
  EXPECT_EQ(result[2], TypeParam(0));
  EXPECT_EQ(result[3], TypeParam(0x7fffffff));
  EXPECT_EQ(result[4], TypeParam(~0x7fffffffull));
  EXPECT_EQ(result[5], TypeParam(0)) << "0 ^ 1 ^ ... ^ 255";
  EXPECT_EQ(result[6], TypeParam(0));
  EXPECT_EQ(result[7], TypeParam(42));
  EXPECT_EQ(result[8], TypeParam(256));
}

template <class T>
__global__ void float_add_kernel(T* sum) {
  atomicAdd(sum, T(0.5));
  atomicAdd_block(sum, T(0.25));
  atomicAdd_system(sum, T(0.25));
}

TEST(FloatAtomics, AllThreadsCount) {
  simt_test::Array<float> single(1);
  simt_test::Array<double> twofold(1);
  simt_test::run(4, 64, float_add_kernel<float>, single.data());
  simt_test::run(4, 64, float_add_kernel<double>, twofold.data());
  EXPECT_EQ(single.host()[0], 256.0f);
  EXPECT_EQ(twofold.host()[0], 256.0);
}

__global__ void wrapping_kernel(unsigned* cells) {
  atomicInc(&cells[0], 4);
  atomicDec(&cells[1], 4);
}

TEST(WrappingAtomics, Wrap) {
  simt_test::Array<unsigned> cells(2);
  simt_test::run(1, 32, wrapping_kernel, cells.data());
  EXPECT_THAT(cells.host(), testing::ElementsAre(32 % 5, (5 - 32 % 5) % 5));
}

}  // namespace
