"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "swap: the pivot's search ends one too late",
        "if (<<<less(b[middle], a[a.count() - 1 - middle]) ||| !less(a[a.count() - 1 - middle], b[middle])>>>) {",
    ),
    (
        "swap: a half with one run is not sorted",
        "if (begin == 0 || <<<begin == count(range) ||| begin <= 1>>>) return;",
    ),
    (
        "swap: pieces are not cut where devices begin",
        "of_a.count = of_b.count = std::min({of_a.count, <<<of_b.count ||| left>>>, left});",
    ),
    (
        "splitters: of equal keys, those of later parts come first",
        "come_first ? <<<!less(key, samples[middle]) ||| less(samples[middle], key)>>> : less(samples[middle], key);",
    ),
    (
        "splitters: the elements between two samples are all before the cut",
        "fewest += before == 0 ? own[i].low : <<<other.place(before - 1) + 1 ||| other.place(before)>>>;",
    ),
    (
        "splitters: a sample before the cut is left to the other side",
        "static_cast<unsigned long long>(<<<place + 1 ||| place>>>));",
    ),
    (
        "splitters: a round too few",
        "int rounds = <<<1 ||| 0>>>;",
    ),
    (
        "splitters: the next round does not wait for the intervals",
        "{{{devices_.wait(i, 0); ||| ;}}}",
    ),
    (
        "merge from others: the runs are not waited for",
        "{{{team.devices().meet();  // all runs are there ||| ;}}}",
    ),
    (
        "radix exchange: the sort does not wait for the keys",
        "{{{team_.devices().meet();  // all keys are there, and parts may be written ||| ;}}}",
    ),
    (
        "radix exchange: a class with keys of a border ends one too early",
        "own += <<<bits >= inner.firsts[i] ||| bits > inner.firsts[i]>>> ? 1 : 0;",
    ),
    (
        "radix exchange: keys of a device overwrite those of the one before",
        "{{{target += counts[from]; ||| ;}}}",
    ),
    (
        "radix exchange: shared keys are all taken from the first",
        "devices.copy(to, i, shared.keys + <<<first ||| 0>>>, shared.owner, length);",
    ),
    (
        "borders: an equal key is counted on the wrong side",
        "<<<before + (own = digits.sum(digit)) <= rank ||| before + (own = digits.sum(digit)) < rank>>>; ++digit",
    ),
    (
        "histogram: the last keys of a tile are counted twice",
        "warp_count(shared, <<<is_key && range.holds(bits[k]) ||| range.holds(bits[k])>>> ? bin : histogram_bins);",
    ),
    (
        "scatter: no barrier before the tile is written",
        "{{{__syncthreads();  // the tile is in order ||| ;}}}",
    ),
    (
        "scatter: no barrier before the tile is overwritten",
        "{{{__syncthreads();  // and has been read ||| ;}}}",
    ),
    (
        "segments: small neighbours may be more than a block sorts",
        "if (is_small && end - begin <= <<<most_sorted<K> ||| most_sorted<K> * 2>>>) continue;",
    ),
    (
        "segments: children are sorted where they are",
        "digit.shift,        <<<!segment.is_home ||| segment.is_home>>>};",
    ),
    (
        "segments: equal keys stay where they are",
        "own_child.count > most_sorted<K> && <<<(own_child.bits > 0 || !own_child.is_home) ||| own_child.bits > 0>>>) {",
    ),
    (
        "counts: one that overflows is not seen",
        "if (<<<all != segment.count ||| false>>>) {",
    ),
    (
        "counts: no barrier before they are read",
        "atomicAdd(&words[value / 4], 1u << (value % 4 * 8)); }); {{{__syncthreads();  // all are counted, and may be overwritten ||| ;}}}",
    ),
    (
        "repeats: a key's last place is the next one's",
        "if (<<<sums[middle] <= place ||| sums[middle] < place>>>) low = middle;",
    ),
    (
        "cuts: of equal keys, those of later ranks come first",
        "const bool is_before = <<<own_rank < question.pivot_rank ||| own_rank > question.pivot_rank>>>",
    ),
    (
        "cuts: the pivot itself is left out",
        "interval.low = answers[i].count + <<<(has_pivot ? 1 : 0) ||| 0>>>;",
    ),
    (
        "cuts: the middle is that of the interval before the pivot",
        "answers[i].after_middle = keys[<<<middle_of(after) ||| middle_of(question.interval)>>>];",
    ),
    (
        "cuts: the median is that of the ranks, whatever their intervals' lengths",
        "if (is_before) before += <<<weights[j] ||| 0>>>;",
    ),
    (
        "cuts: the pivot is some rank's, not the median",
        "if (<<<weights[static_cast<std::size_t>(chosen)] > 0 ||| false>>>) return chosen;",
    ),
    (
        "ranks: the part is written before all have merged",
        "{{{meet(transport_);  // no rank can fail any more: the parts may be written ||| ;}}}",
    ),
    (
        "ranks: the part itself is sorted",
        "const Part<K, V> sorted = <<<take(memory_.sorted) ||| part_>>>;",
    ),
    (
        "ranks: of more runs than are merged at once, all groups are the first",
        "merge_group({runs.begin() + static_cast<std::ptrdiff_t>(<<<first ||| 0>>>),",
    ),
    (
        "ranks: types are not compared",
        "if (<<<all[i].types != first.types || all[i].types_hash != first.types_hash ||| false>>>) {",
    ),
    (
        "threads: a rank does not wait until others have copied",
        "{{{meet(*this);  // all have copied what this rank sends ||| ;}}}",
    ),
    (
        "host: an earlier chunk is overwritten before it has left",
        "{{{slot.left.hold(lane.in);  // of the chunk that was there before ||| ;}}}",
    ),
    (
        "host: a chunk is sorted before it is there",
        "{{{slot.arrived.hold(lane.work()); ||| ;}}} const Options options; Team<K, V, Less>(lane.device, {chunk_on_device(c)}",
    ),
    (
        "host: a chunk leaves before it is sorted",
        "{{{slot.used.hold(lane.out); ||| ;}}} copy(to, chunk_on_device(c), cudaMemcpyDeviceToHost, lane.out);",
    ),
    (
        "host: pieces are overwritten before they are merged",
        "{{{slot.used.hold(lane.in);  // the pieces that were there before are merged ||| ;}}}",
    ),
    (
        "host: pieces are merged before they are there",
        "{{{slot.arrived.hold(lane.work()); ||| ;}}} merge_slice(turn, arrived, 0,",
    ),
    (
        "host: a slice is overwritten before it has left",
        "{{{slot.left.hold(lane.work()); ||| ;}}} const Options options; Team<K, V, Less>(lane.device, {merged}",
    ),
    (
        "host: a slice leaves before it is merged",
        "{{{slot.used.hold(lane.out); ||| ;}}} copy(target, merged, cudaMemcpyDeviceToHost, lane.out);",
    ),
    (
        "host: the merges do not wait for the runs",
        "{{{wait(); ||| ;}}} detail::tell(options_.after_step, Step::sort);",
    ),
    (
        "host: what is merged in half is not restored from the runs",
        "if (<<<source_ == Source::second ||| false>>>) copy_on_host(elements_, second_);",
    ),
    (
        "host: what has left the devices in part is not restored",
        "if (<<<source_ != Source::devices ||| true>>>) return;",
    ),
    (
        "host: the memory of a sort is not counted",
        "return (<<<arena + chunk ||| arena>>> + divide_up(chunk, std::int64_t{8})) * element + fixed_bytes;",
    ),
    (
        "host: two passes begin in the wrong array",
        "bool is_in_second = <<<plan_.merge_ways.size() % 2 == 1 ||| true>>>;",
    ),
    (
        "host splits: of equal keys, those of later runs come first",
        "} else if (<<<r < own ||| r > own>>>) { counts.push_back(std::upper_bound(",
    ),
    (
        "host splits: an interval ends too early",
        "intervals.push_back({known[r], std::min(<<<known[r] + more ||| known[r] + more / 2>>>, count)});",
    ),
    (
        "tuples: numbers stay where they are",
        "swap(&a.values[i], &b.values[i]); {{{swap(&a.numbers[of_a], &b.numbers[of_b]); ||| ;}}}",
    ),
    (
        "tuples: the last coordinate of each is not packed",
        "if (<<<lane >= here ||| lane >= here || k == 15>>>) return;\n      packed.coordinates[",
    ),
    (
        "tuples: merged before all have come",
        "{{{team.devices().meet();  // all tuples are there ||| ;}}}",
    ),
    (
        "tuples: what is swapped is copied before it is there",
        "{{{devices_.meet();  // all sources are there ||| ;}}}",
    ),
    (
        "tuples: those without numbers get the first ones",
        "return numbers == nullptr ? <<<first_number + place ||| place>>> : numbers[place];",
    ),
    (
        "tuples: cuts are looked for before all parts are sorted",
        "if (i > 0) {{{devices.wait(0, i); ||| ;}}}",
    ),
    (
        "tuples: by their primary coordinates alone",
        "return <<<compare_superkeys(a.tuple, b.tuple, dimensions, primary, 1) < 0 ||| false>>>;",
    ),
]
