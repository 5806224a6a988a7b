"""Lossless packing of a picture's rows (zlib format, RFC 1950 and 1951), quick because it looks for zeros alone.

Rows of a picture, each the difference to the one above, are zeros and noise; a search for whatever else comes again
takes several times as long and finds next to nothing. Eight bytes are looked at at a time: all zeros, which a run is
made of, or eight bytes of noise, and nothing else is asked. One block, with a Huffman code of its own. The bytes follow
from the data, whichever zlib is installed.
"""

# Kernels take arrays by position, and are typed by numba from what they get.
# ruff: noqa: PLR0917
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt

from iwreplay.render.jit import OPTIONS_REVISION, inlined, kernel
from iwreplay.render.layout import LAYOUT_REVISION

__all__ = ["zlib_packed"]

assert OPTIONS_REVISION == 1
assert LAYOUT_REVISION == 17835415

#: bytes that are looked at at a time
_WORD = 8
#: a run is of at most so many words of zeros: 256 bytes, the first one as it is and 255 that are like it
_LONGEST_RUN = 32
#: symbols of the code: bytes, end of the block, lengths of runs
_SYMBOLS, _END = 286, 256
#: of four symbols together, and seven bits before them: less than 64
_LONGEST_CODE = 14
#: zlib's first two bytes: deflate, a window of 32 kB; quickest
_HEADER = b"\x78\x01"


def _lengths() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each number of words in a run: the symbol of its length, less the first byte, the extra bits and how many of
    them there are. That of no words is not used."""
    symbol, extra, bits = (np.zeros(_LONGEST_RUN + 1, np.int64) for _ in range(3))
    code, begin = 257, 3
    for k in range(28):
        width = max(0, k // 4 - 1)
        for length in range(begin, begin + (1 << width)):
            if length % _WORD == _WORD - 1 and length < _LONGEST_RUN * _WORD:
                words = length // _WORD + 1
                symbol[words], extra[words], bits[words] = code + k, length - begin, width
        begin += 1 << width
    return symbol, extra, bits


_SYMBOL, _EXTRA, _EXTRA_BITS = _lengths()


@kernel
def count_symbols(words, counts, runs):
    """How often each byte comes that is written as it is (sums over the rows of counts (8, 256)) and each run (by its
    words, runs (33,)), of words (n,) of eight bytes. Both are zeros before.

    Eight rows, because one number that is raised again and again has to wait for itself each time.
    """
    run = 0
    byte = np.uint64(255)
    for i in range(words.shape[0]):
        word = words[i]
        if word == 0:
            run += 1
            if run == _LONGEST_RUN:
                runs[run] += 1
                run = 0
        else:
            if run > 0:
                runs[run] += 1
                run = 0
            for k in range(8):
                counts[k, (word >> np.uint64(8 * k)) & byte] += 1
    if run > 0:
        runs[run] += 1


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


@inlined
def _add(out, n, acc, bits, value, width):
    """`width` more bits: the words written, what waits to be written and how many bits of it."""
    whole = np.uint64(64)
    acc |= value << bits
    if bits + width >= whole:
        out[n] = acc
        n += 1
        # what did not fit in; none of it if nothing waited before, which makes a shift by 64
        acc = value >> (whole - bits) if bits > np.uint64(0) else np.uint64(0)
        bits = bits + width - whole
    else:
        bits += width
    return n, acc, bits


@kernel
def write_bits(words, tail, code, runs, held, pending, out):
    """The symbols of the words (n,) and of the bytes after them, then the end, after the `pending` bits in `held`,
    lowest first, into out (uint64). How many words of it are used, the last one with zeros above.

    code: for each byte, and for the end (256), its bits << 8 | their number, at most 14; runs: the same for each number
    of words of zeros, at most 48.
    """
    acc, bits, n, run = np.uint64(held), np.uint64(pending), 0, 0
    byte, eight, width_of = np.uint64(255), np.uint64(8), np.uint64(255)
    for i in range(words.shape[0]):
        word = words[i]
        if word == 0:
            run += 1
            if run == _LONGEST_RUN:
                n, acc, bits = _add(out, n, acc, bits, runs[run] >> eight, runs[run] & width_of)
                run = 0
            continue
        if run > 0:
            n, acc, bits = _add(out, n, acc, bits, runs[run] >> eight, runs[run] & width_of)
            run = 0
        for half in range(2):
            value, width = np.uint64(0), np.uint64(0)
            for k in range(4):
                c = code[(word >> np.uint64(32 * half + 8 * k)) & byte]
                value |= (c >> eight) << width
                width += c & width_of
            n, acc, bits = _add(out, n, acc, bits, value, width)
    if run > 0:
        n, acc, bits = _add(out, n, acc, bits, runs[run] >> eight, runs[run] & width_of)
    for k in range(tail.shape[0]):
        c = code[tail[k]]
        n, acc, bits = _add(out, n, acc, bits, c >> eight, c & width_of)
    n, acc, bits = _add(out, n, acc, bits, code[_END] >> eight, code[_END] & width_of)
    if bits > np.uint64(0):
        out[n] = acc
        n += 1
    return n


def zlib_packed(data: npt.NDArray[np.uint8]) -> bytes:
    """What `zlib.decompress` gives these bytes (n,) back from."""
    whole = len(data) // _WORD * _WORD
    # the lowest byte comes first, on any machine
    words, tail = data[:whole].view("<u8").astype(np.uint64, copy=False), data[whole:]
    counted, runs = np.zeros((_WORD, 256), np.int64), np.zeros(_LONGEST_RUN + 1, np.int64)
    count_symbols(words, counted, runs)
    symbols = np.bincount(_SYMBOL, runs, _SYMBOLS).astype(np.int64)
    symbols[:256] = counted.sum(axis=0) + np.bincount(tail, minlength=256)
    # the first byte of a run
    symbols[0] += runs.sum()
    symbols[_END] = 1
    # a code has two words at least
    coded = np.maximum(symbols, np.arange(_SYMBOLS) == 0)
    lengths, codes, room = (
        np.empty(_SYMBOLS, np.int64),
        np.zeros(_SYMBOLS, np.int64),
        np.empty((5, 2 * _SYMBOLS), np.int64),
    )
    make_code(coded, room[0], room[1], room[2], room[3], room[4], lengths, codes)
    own, zero = lengths[_SYMBOL], lengths[0]
    # a run: a zero, the length of what is like it, and how far back that is: one bit, 0, the only word for "one byte"
    run_bits = codes[0] | (codes[_SYMBOL] | _EXTRA << own) << zero
    run_widths = zero + own + _EXTRA_BITS + 1
    bits = int((symbols * lengths).sum() + (runs * (_EXTRA_BITS + 1)).sum())
    held, pending, head = _block_header(lengths)
    out = np.empty((bits + pending) // 64 + 2, np.uint64)
    n = write_bits(
        words,
        tail,
        (codes << 8 | lengths).astype(np.uint64),
        (run_bits << 8 | run_widths).astype(np.uint64),
        held,
        pending,
        out,
    )
    body = out[:n].astype("<u8", copy=False).tobytes()[: (bits + pending + 7) // 8]
    return b"".join((_HEADER, head, body, zlib.adler32(data.data).to_bytes(4, "big")))


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
