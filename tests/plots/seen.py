"""How colours look to a reader: as they are, without one kind of cones, and in grey print.

Colour blindness: G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, A Physiologically-based Model
for Simulation of Color Vision Deficiency, IEEE TVCG 15(6), 2009, severity 1.0, in linear RGB.
Difference: CIEDE2000, after G. Sharma, W. Wu, E. N. Dalal, The CIEDE2000 Color-Difference Formula,
Color Research and Application 30(1), 2005.
"""

from __future__ import annotations

import math

import numpy as np
from matplotlib.colors import to_rgb

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], LUMINANCE, [0.0193339, 0.1191920, 0.9503041]]
)
VIEWS = {
    "in colour": np.eye(3),
    "with protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "with deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "with tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
    "in grey": np.array([LUMINANCE] * 3),
}
"""What is done to a colour's linear RGB before it is seen."""


def lab(color, view: str = "in colour") -> np.ndarray:
    """The CIELAB coordinates (white is that of sRGB) of a matplotlib colour in one of VIEWS."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VIEWS[view] @ linear, 0, 1)
    x, y, z = TO_XYZ @ seen / TO_XYZ.sum(axis=1)
    fx, fy, fz = (
        t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29 for t in (x, y, z)
    )
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def _hue(a: float, b: float) -> float:
    return math.degrees(math.atan2(b, a)) % 360


def ciede2000(one: np.ndarray, two: np.ndarray) -> float:
    """The difference of two CIELAB colours; about 1 is the least that is seen side by side."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = _hue(a1, b1), _hue(a2, b2)
    turn, hue = h2 - h1, (h1 + h2) / 2
    if c1 * c2 == 0:
        turn, hue = 0, h1 + h2
    elif abs(turn) > 180:
        turn -= math.copysign(360, turn)
        hue += 180 if h1 + h2 < 360 else -180
    by_hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = 1 + sum(
        factor * math.cos(math.radians(times * hue + shift))
        for factor, times, shift in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / math.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = by_hue / (1 + 0.015 * chroma * t)
    in_blue = 60 * math.exp(-(((hue - 275) / 25) ** 2))
    rotation = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7)) * math.sin(math.radians(in_blue))
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def apart(one, two) -> tuple[float, str]:
    """The least difference of two matplotlib colours over all VIEWS, and the view that has it."""
    return min((ciede2000(lab(one, view), lab(two, view)), view) for view in VIEWS)
