"""Dividing the refining terms of a joint cluster among shared chunks."""

from __future__ import annotations

import numpy as np

from disassociation._kernels._jit import helper
from disassociation._kernels.bits import new_search
from disassociation._kernels.chunks import (
    divide,
    fill_masks,
    find_held,
    new_held,
    new_projection,
    number_candidates,
    project,
    write_chunk,
)


@helper
def lifted_records(records, leaves, block, touched, entries, wanted):
    """What records of the touched leaves hold of wanted terms in their own leaf's term chunk; empty ones left out."""
    capacity = 0
    widest = 0
    for i in range(touched.shape[0]):
        leaf = touched[i]
        widest = max(widest, entries.offsets[leaf + 1] - entries.offsets[leaf])
        for entry in range(entries.offsets[leaf], entries.offsets[leaf + 1]):
            if wanted[entries.codes[entry]] and not entries.lifted[entries.places[entry]]:
                capacity += entries.supports[entry]
    offsets = np.zeros(capacity + 1, np.int64)
    items = np.empty(capacity, np.int32)
    here = np.empty(widest, np.int32)
    rows, written = 0, 0
    for i in range(touched.shape[0]):
        leaf = touched[i]
        size = 0
        for entry in range(entries.offsets[leaf], entries.offsets[leaf + 1]):
            if wanted[entries.codes[entry]] and not entries.lifted[entries.places[entry]]:
                here[size] = entries.codes[entry]
                size += 1
        if size == 0:
            continue
        number = block[leaf]
        for place in range(leaves.offsets[number], leaves.offsets[number + 1]):
            before = written
            record = leaves.order[place]
            for item in range(records.offsets[record], records.offsets[record + 1]):
                # The few terms wanted here are searched one by one: faster than marking them for so few records.
                if wanted[records.items[item]]:
                    for j in range(size):
                        if here[j] == records.items[item]:
                            items[written] = here[j]
                            written += 1
                            break
            if written > before:
                rows += 1
                offsets[rows] = written
    return offsets[: rows + 1], items[:written]


@helper
def write_shared_chunks(gathered, free, lone, slots, rules, out, at):
    """Append the rows of a joint cluster's shared chunks, chunks in order of their smallest term.

    `free` (t, 2): codes and supports of the terms without conflict, in the order in which they are tried; `lone`: those
    that get a chunk of their own. `slots` (terms,) is scratch of -1.
    """
    offsets, lifted = gathered
    codes = free[:, 0].copy()
    number_candidates(codes, slots)
    held = new_held(lifted.shape[0])
    size = find_held(offsets, lifted, slots, held)
    for i in range(codes.shape[0]):
        slots[codes[i]] = -1
    masks = np.zeros((codes.shape[0], (offsets.shape[0] + 62) // 64), np.uint64)
    fill_masks(held, size, masks)
    number = np.empty(codes.shape[0], np.int32)
    search = new_search(rules.m, masks.shape[1])
    chunks = divide(masks, rules.k, rules.m, search, number, np.empty(codes.shape[0], np.int32))
    smallest = np.full(chunks + lone.shape[0], np.int64(1) << 40, np.int64)
    for i in range(codes.shape[0]):
        smallest[number[i]] = min(smallest[number[i]], codes[i])
    for i in range(lone.shape[0]):
        smallest[chunks + i] = lone[i, 0]
    projection = new_projection(lifted.shape[0], chunks)
    project(held, size, codes, number, chunks, projection)
    row, item = at
    order = np.argsort(smallest)
    for position in range(order.shape[0]):
        chunk = order[position]
        if chunk < chunks:
            row, item = write_chunk(projection, chunk, position, out, (row, item))
        else:
            out.items[item] = lone[chunk - chunks, 0]
            item += 1
            out.chunks[row] = position
            out.counts[row] = lone[chunk - chunks, 1]
            row += 1
            out.offsets[row] = item
    return row, item
