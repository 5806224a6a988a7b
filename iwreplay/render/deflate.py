"""Lossless packing of a picture's rows (zlib format, RFC 1950 and 1951), quick because it looks for runs alone.

Rows of a picture, each the difference to the one above, are runs of one byte and noise; a search for more than runs
takes several times as long and finds next to nothing. One block, with a Huffman code of its own. The bytes follow from
the data, whichever zlib is installed.
"""

# Kernels take arrays by position, and are typed by numba from what they get.
# ruff: noqa: PLR0917
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

from iwreplay.render.jit import OPTIONS_REVISION, kernel
from iwreplay.render.layout import LAYOUT_REVISION

__all__ = ["zlib_packed"]

assert OPTIONS_REVISION == 1
assert LAYOUT_REVISION == 17835415

# A token is a byte, or 256 plus the length of a run that goes on with the byte before it.
_RUN, _SHORTEST, _LONGEST = 256, 3, 258
_TOKENS = _RUN + _LONGEST + 1
#: symbols of the code: bytes, end of the block, lengths of runs
_SYMBOLS, _END = 286, 256
_LONGEST_CODE = 15
#: zlib's first two bytes: deflate, a window of 32 kB; quickest
_HEADER = b"\x78\x01"


def _lengths() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each token its symbol, its extra bits and how many of them there are."""
    symbol, extra, bits = np.arange(_TOKENS), np.zeros(_TOKENS, np.int64), np.zeros(_TOKENS, np.int64)
    code, begin = 257, 3
    for k in range(28):
        width = max(0, k // 4 - 1)
        for length in range(begin, min(begin + (1 << width), _LONGEST)):
            symbol[_RUN + length], extra[_RUN + length], bits[_RUN + length] = code + k, length - begin, width
        begin += 1 << width
    symbol[_RUN + _LONGEST] = 285
    # runs that there are none of; the first of them stands for the end
    symbol[_RUN : _RUN + _SHORTEST] = _END
    return symbol, extra, bits


_SYMBOL, _EXTRA, _EXTRA_BITS = _lengths()


@kernel
def find_runs(data, tokens, counts):
    """Tokens of bytes, and how often each comes: the sums over the rows of counts (4, tokens), zeros before. How many
    tokens there are.

    Four rows, because one number that is raised again and again has to wait for itself each time.
    """
    size = data.shape[0]
    n, i, before = 0, 0, np.uint8(0)
    if size > 0:
        before = data[0]
        tokens[0] = before
        counts[0, before] += 1
        n, i = 1, 1
    while i < size:
        b = data[i]
        # one question for all of the shortest run: a byte like the one before is nothing to go by
        if i + 2 < size and ((b ^ before) | (data[i + 1] ^ before) | (data[i + 2] ^ before)) == 0:
            end = min(size, i + _LONGEST)
            k = i + _SHORTEST
            while k < end and data[k] == b:
                k += 1
            tokens[n] = _RUN + (k - i)
            counts[n & 3, _RUN + (k - i)] += 1
            i = k
        else:
            tokens[n] = b
            counts[n & 3, b] += 1
            before = b
            i += 1
        n += 1
    return n


@kernel
def make_code(counts, order, weight, parent, depth, of_length, lengths, words):
    """A Huffman code: for each symbol its bits (lowest first, as they are written) and how many (0: never used), none
    above 15. Working space: order, weight, parent, depth and of_length (2 * n). At least two counts are above zero."""
    n = 0
    for s in range(counts.shape[0]):
        lengths[s] = 0
        if counts[s] > 0:
            # rarest first; of equally rare ones the lower symbol
            k = n
            while k > 0 and counts[order[k - 1]] > counts[s]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = s
            n += 1
    for k in range(n):
        weight[k] = counts[order[k]]
    leaf, node = 0, n
    for made in range(n, 2 * n - 1):
        total = 0
        for _ in range(2):
            if leaf < n and (node >= made or weight[leaf] <= weight[node]):
                taken = leaf
                leaf += 1
            else:
                taken = node
                node += 1
            total += weight[taken]
            parent[taken] = made
        weight[made] = total
    for k in range(of_length.shape[0]):
        of_length[k] = 0
    depth[2 * n - 2] = 0
    for k in range(2 * n - 3, -1, -1):
        depth[k] = depth[parent[k]] + 1
        if k < n:
            of_length[min(depth[k], _LONGEST_CODE)] += 1
    # too long ones were cut: lengthen others until the code fits again
    room = 0
    for k in range(1, _LONGEST_CODE + 1):
        room += of_length[k] << (_LONGEST_CODE - k)
    while room > 1 << _LONGEST_CODE:
        of_length[_LONGEST_CODE] -= 1
        k = _LONGEST_CODE - 1
        while of_length[k] == 0:
            k -= 1
        of_length[k] -= 1
        of_length[k + 1] += 2
        room -= 1
    at = 0
    for k in range(_LONGEST_CODE, 0, -1):
        for _ in range(of_length[k]):
            lengths[order[at]] = k
            at += 1
    # words of one length count up in the order of the symbols, after the shorter ones (RFC 1951, 3.2.2)
    word = 0
    for k in range(1, _LONGEST_CODE + 1):
        word <<= 1
        for s in range(counts.shape[0]):
            if lengths[s] == k:
                turned = 0
                for bit in range(k):
                    turned |= (word >> bit & 1) << (k - 1 - bit)
                words[s] = turned
                word += 1


@kernel
def write_bits(words, widths, tokens, count, held, pending, out):
    """Bits of the tokens after the `pending` ones in `held`, lowest first, as bytes; zeros fill the last. Their number.

    words, widths: bits of each token and how many, at most 32.
    """
    acc, bits, n = np.uint64(held), np.uint64(pending), 0
    byte, eight, thirty_two = np.uint64(255), np.uint64(8), np.uint64(32)
    for i in range(count):
        t = tokens[i]
        acc |= words[t] << bits
        bits += widths[t]
        if bits >= thirty_two:
            for k in range(4):
                out[n + k] = np.uint8(acc & byte)
                acc >>= eight
            n += 4
            bits -= thirty_two
    while bits > np.uint64(0):
        out[n] = np.uint8(acc & byte)
        acc >>= eight
        n += 1
        bits -= min(bits, eight)
    return n


def zlib_packed(data: npt.NDArray[np.uint8]) -> bytes:
    """What `zlib.decompress` gives these bytes (n,) back from."""
    tokens, counted = np.empty(len(data) + 1, np.uint16), np.zeros((4, _TOKENS), np.int64)
    count = find_runs(data, tokens, counted)
    counts = counted.sum(axis=0)
    symbols = np.bincount(_SYMBOL, counts, _SYMBOLS).astype(np.int64)
    # a code has two words at least
    symbols[_END], symbols[0] = 1, max(1, symbols[0])
    lengths, codes, room = (
        np.empty(_SYMBOLS, np.int64),
        np.zeros(_SYMBOLS, np.int64),
        np.empty((5, 2 * _SYMBOLS), np.int64),
    )
    make_code(symbols, room[0], room[1], room[2], room[3], room[4], lengths, codes)
    own = lengths[_SYMBOL]
    words, widths = codes[_SYMBOL] | (_EXTRA << own), own + _EXTRA_BITS
    # of a run also how far back: one bit, 0, the only word for "one byte"
    widths[_RUN + _SHORTEST :] += 1
    # no run is of no bytes: the end
    tokens[count] = _RUN
    counts[_RUN] = 1
    held, pending, head = _block_header(lengths)
    bits = int((counts * widths).sum()) + pending
    out = np.empty(bits // 8 + 8, np.uint8)
    n = write_bits(words.astype(np.uint64), widths.astype(np.uint64), tokens, count + 1, held, pending, out)
    return b"".join((_HEADER, head, out[:n].tobytes(), zlib.adler32(data.data).to_bytes(4, "big")))


def _header_begin() -> tuple[int, int]:
    """What is before the lengths of a code, and how many bits: the last block, with a code of its own, of all symbols,
    and one length of the way back; the lengths 0..15 are written with four bits each (in the order that the format has
    for them), no repeats of them (16..18)."""
    bits, width = 1 | 2 << 1 | (_SYMBOLS - 257) << 3 | 0 << 8 | 15 << 13, 17
    for which in (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15):
        bits |= (4 if which < 16 else 0) << width
        width += 3
    return bits, width


_BEGIN, _BEGIN_BITS = _header_begin()
#: four bits, the first one lowest
_TURNED = np.array([int(f"{k:04b}"[::-1], 2) for k in range(16)], np.uint8)


def _block_header(lengths: npt.NDArray[np.int64]) -> tuple[int, int, bytes]:
    """The beginning of the only block, with its code: bits that fill no byte, how many, and the bytes before them."""
    # the last one is of the only way back, of one bit
    turned = np.append(_TURNED[lengths], [_TURNED[1], 0]).astype(np.uint8)
    packed = int.from_bytes((turned[0::2] | turned[1::2] << 4).tobytes(), "little")
    bits, width = _BEGIN | packed << _BEGIN_BITS, _BEGIN_BITS + 4 * (_SYMBOLS + 1)
    whole = width // 8
    return bits >> (8 * whole), width % 8, (bits & ((1 << (8 * whole)) - 1)).to_bytes(whole, "little")
