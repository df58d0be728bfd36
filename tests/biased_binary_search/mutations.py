"""The bugs that tests/mutations/mutate.py plants for the tests of this folder."""

# ruff: noqa: E501  (a mutation is a line)
MUTATIONS = [
    (
        "run starts: searches one key too few",
        "starts[i] = biased_search<Bound::lower>(keys, <<<position ||| position - 1>>>, keys[position]",
        "starts[i] = warpath::biased_search<Bound::lower>(keys, <<<position ||| position - 1>>>, keys[position]",
    ),
    (
        "run starts: the last position is left out",
        "blockIdx.x) * blockDim.x + threadIdx.x; <<<i < count ||| i + 1 < count>>>; i += stride) { const Index position",
    ),
    (
        "run starts: only the first round of the grid",
        "; <<<i += stride ||| i = count>>>) { const Index position = positions[i];",
    ),
]
