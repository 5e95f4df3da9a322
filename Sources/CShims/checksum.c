#include "CShims.h"

#include <string.h>

#if defined(__x86_64__)

#include <nmmintrin.h>

int cshim_crc32c_is_supported(void) { return __builtin_cpu_supports("sse4.2") != 0; }

__attribute__((target("sse4.2"))) uint32_t cshim_crc32c(uint32_t remainder, const void *bytes, size_t length) {
    const unsigned char *next = bytes;
    uint64_t wide = remainder;
    for (; length >= 8; next += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    remainder = (uint32_t)wide;
    for (; length > 0; next++, length--) remainder = _mm_crc32_u8(remainder, *next);
    return remainder;
}

#elif defined(__aarch64__)

#include <sys/auxv.h>

#define HWCAP_CRC32_BIT (1UL << 7) /* asm/hwcap.h */

int cshim_crc32c_is_supported(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32_BIT) != 0; }

__attribute__((target("crc"))) uint32_t cshim_crc32c(uint32_t remainder, const void *bytes, size_t length) {
    const unsigned char *next = bytes;
    for (; length >= 8; next += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        remainder = __builtin_arm_crc32cd(remainder, word);
    }
    for (; length > 0; next++, length--) remainder = __builtin_arm_crc32cb(remainder, *next);
    return remainder;
}

#else

int cshim_crc32c_is_supported(void) { return 0; }

uint32_t cshim_crc32c(uint32_t remainder, const void *bytes, size_t length) {
    (void)bytes;
    (void)length;
    return remainder;
}

#endif
