#!/usr/bin/env python3
"""Rewrites what only nvcc reads in a CUDA source as C++ for the executor, line by line.

    kernel<<<grid, block, shared_bytes, stream>>>(arguments)    a call of simt::launch_call
    extern __shared__ T name[];                                 a pointer to the block's memory

Everything else stays as it is. A message of the compiler or of the executor names the line of the
original. Usage: launch_syntax.py SOURCE.cu > SOURCE.cpp
"""

import re
import sys
from pathlib import Path

# Comments and literals, in which nothing is rewritten.
OPAQUE = re.compile(
    r'//(?:[^\n\\]|\\.)*|/\*.*?\*/|R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'",
    re.DOTALL,
)
SHARED_ARRAY = re.compile(
    r"extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^()]*\)\s*)?([\w:][\w:\s<>,]*?)\s*"
    r"(?:__align__\s*\([^()]*\)\s*)?\b(\w+)\s*\[\s*\]\s*;"
)
NAMESPACE = re.compile(r'(\bnamespace(\s+[\w:]+)?|\bextern\s*"\s*")\s*$')
KERNEL_NAME = re.compile(r"(?:::\s*)?\w+(?:\s*::\s*\w+)*\s*$")
# Written where the kernel is called, so that 0, NULL and {} still convert to what it takes.
LITERAL = re.compile(r"[-+]?[\d.][\w.']*|NULL|nullptr|true|false|\{.*\}", re.DOTALL)
CLOSING = {"(": ")", "[": "]", "{": "}"}


class Error(Exception):
    """A launch that cannot be read: the position in the source, and why."""


def blank(source):
    """The source with comments and literals replaced by spaces: every position stays."""

    def spaces(match):
        text = match.group()
        inner = re.sub(r"[^\n]", " ", text[1:-1])
        # The quotes stay, so that a literal does not look like nothing.
        return f'"{inner}"' if text[0] in "\"'R" else re.sub(r"[^\n]", " ", text)

    return OPAQUE.sub(spaces, source)


def end_of_group(code, begin):
    """The position after the bracket that closes the one at `begin`."""
    pending = []
    for i in range(begin, len(code)):
        if code[i] in CLOSING:
            pending.append(CLOSING[code[i]])
        elif code[i] in CLOSING.values():
            if pending.pop() != code[i]:
                break
            if not pending:
                return i + 1
    raise Error(begin, f"no bracket closes this '{code[begin]}'")


def split_arguments(code, begin, end):
    """The ranges between the commas of code[begin:end] that no bracket encloses."""
    ranges, start, i = [], begin, begin
    while i < end:
        if code[i] in CLOSING:
            i = end_of_group(code, i)
            continue
        if code[i] == "<":
            closing = end_of_template(code, i, end)
            i = closing if closing else i + 1
            continue
        if code[i] == ",":
            ranges.append((start, i))
            start = i + 1
        i += 1
    if code[start:end].strip():
        ranges.append((start, end))
    return ranges


def end_of_template(code, begin, end):
    """The position after the > that closes the template arguments at `begin`, or None for a comparison."""
    match = re.match(r"<[\w\s:,<>*&]*>(?=\s*[({:])", code[begin:end])
    if match and match.group().count("<") == match.group().count(">"):
        return begin + match.end()
    return None


def begin_of_kernel(code, end):
    """The position where the expression that names the kernel begins; it ends at `end`."""
    begin = len(code[:end].rstrip())
    if code[begin - 1] == ")":  # (condition ? a : b)<<<...>>>
        depth = 0
        for i in range(begin - 1, -1, -1):
            depth += (code[i] == ")") - (code[i] == "(")
            if not depth:
                return i
    if code[begin - 1] == ">":
        depth = nested = 0
        for i in range(begin - 1, -1, -1):
            nested += (code[i] in ")]}") - (code[i] in "([{")
            if nested == 0:
                depth += (code[i] == ">") - (code[i] == "<")
            if not depth:
                begin = i
                break
    name = KERNEL_NAME.search(code[:begin])
    if not name:
        raise Error(end, "no name of a kernel stands before <<<")
    return name.start()


def is_deduced(code, kernel):
    """Whether the source declares the kernel as a template whose arguments the call deduces."""
    if not re.fullmatch(r"[\w:\s]+", kernel):
        return False
    leaf = re.escape(kernel.split("::")[-1].strip())
    return re.search(rf"\btemplate\s*<[^;{{}}()]*>[^;{{}}]*?\b{leaf}\s*\(", code) is not None


def rewritten_launch(source, code, begin, chevrons):
    """The C++ for the launch whose kernel begins at `begin`, and the position after it."""
    config_end = code.find(">>>", chevrons)
    if config_end < 0:
        raise Error(chevrons, "no >>> follows <<<")
    call = config_end + 3
    while call < len(code) and code[call].isspace():
        call += 1
    if call == len(code) or code[call] != "(":
        raise Error(chevrons, "no arguments in parentheses follow >>>")
    end = end_of_group(code, call)
    kernel = source[begin:chevrons].strip()
    captures, arguments = ["="], []
    for first, last in split_arguments(code, call + 1, end - 1):
        text = source[first:last]
        if LITERAL.fullmatch(text.strip()):
            arguments.append(text.strip())
        else:
            name = f"simt_{len(arguments)}"
            captures.append(f"{name} = ({text})")
            arguments.append(name)
    address = "nullptr"
    if not is_deduced(code, kernel):
        address = f"simt::address_of_kernel({kernel})"
    config = source[chevrons + 3 : config_end]
    name = re.sub(r"\s+", " ", kernel)
    text = (
        f'simt::launch_call("{name}", {address}, simt::LaunchSyntax({config}), '
        f"[{', '.join(captures)}] {{ {kernel}({', '.join(arguments)}); }})"
    )
    # What the original has more of are line ends between its parts.
    return text + "\n" * max(0, source.count("\n", begin, end) - text.count("\n")), end


def rewrite(source):
    """The whole source, rewritten."""
    code = blank(source)
    result, done = [], 0
    scopes = []  # of each open brace: whether it is a namespace's
    tokens = re.compile(r"<<<|[{}]|\bextern\s+__shared__\b")
    for token in tokens.finditer(code):
        at, text = token.start(), token.group()
        if at < done:
            continue
        if text == "{":
            scopes.append(NAMESPACE.search(code[:at][-200:]) is not None)
        elif text == "}":
            if scopes:
                scopes.pop()
        elif text == "<<<":
            begin = begin_of_kernel(code, at)
            launch, end = rewritten_launch(source, code, begin, at)
            result += [source[done:begin], launch]
            done = end
        else:
            array = SHARED_ARRAY.match(code, at)
            if not array:
                raise Error(at, "expected extern __shared__ T name[];")
            element, name = re.sub(r"\s+", " ", array.group(1)), array.group(2)
            if all(scopes):
                declared = f"static constexpr simt::DynamicSharedArray<{element}> {name}{{}};"
            else:
                declared = f"{element}* {name} = reinterpret_cast<{element}*>(simt::dynamic_smem);"
            result += [source[done:at], declared, "\n" * array.group().count("\n")]
            done = array.end()
    return "".join(result) + source[done:]


def main(path):
    """Prints the rewritten file."""
    source = Path(path).read_text(encoding="utf-8")
    try:
        text = rewrite(source)
    except Error as error:
        position, why = error.args
        print(f"{path}:{source.count(chr(10), 0, position) + 1}: {why}", file=sys.stderr)
        return 1
    print(f'#line 1 "{path}"\n{text}', end="")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
