// Bit transposition and compression in plain integer arithmetic, for instruction sets without
// better ones. Included inside the namespace of each.

// Bytes out[f] whose bit r is feature f of sample r, from 8 samples' words of 64 features. The
// 8 x 8 transposition swaps blocks of 4, 2 and 1 bits.
inline void transpose_octet(const uint64_t* words, uint8_t* out) {
    for (int block = 0; block < 8; ++block) {
        uint64_t x = 0;
        for (int r = 0; r < 8; ++r) x |= ((words[r] >> (8 * block)) & 0xff) << (8 * r);
        uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
        x ^= t ^ (t << 7);
        t = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
        x ^= t ^ (t << 14);
        t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
        x ^= t ^ (t << 28);
        for (int f = 0; f < 8; ++f) out[8 * block + f] = static_cast<uint8_t>(x >> (8 * f));
    }
}

// Entries whose bit in `mask` is set, in order; returns their number (at most 16 are given).
inline ptrdiff_t compress16(const uint32_t* entries, uint32_t mask, uint32_t* out) {
    ptrdiff_t n = 0;
    for (int r = 0; r < 16; ++r) {
        out[n] = entries[r];
        n += (mask >> r) & 1;
    }
    return n;
}
