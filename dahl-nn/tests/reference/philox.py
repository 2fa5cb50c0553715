"""The random numbers of dahl: Philox 4x32 with 10 rounds (Salmon et al. 2011, Parallel Random Numbers: As Easy as 1, 2, 3)."""

M = 0xFFFFFFFF


def philox4x32(counter, key):
    """128 bits, as four numbers."""
    counter, key = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (second >> 32) ^ counter[1] ^ key[0],
            second & M,
            (first >> 32) ^ counter[3] ^ key[1],
            first & M,
        ]
        key = [(key[0] + 0x9E3779B9) & M, (key[1] + 0xBB67AE85) & M]
    return counter


assert philox4x32([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def uniform(seed, number):
    """Number `number` of the sequence of `seed`, with 53 bits."""
    low, high = philox4x32([number // 2, 0, 0, 0], [seed, 0])[number % 2 * 2 :][:2]
    return ((high >> 5) * 2**26 + (low >> 6)) / 2**53
