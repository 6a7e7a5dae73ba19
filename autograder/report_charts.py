"""The charts of a report: small inline SVG that follows light and dark, each with its numbers as a text alternative."""

from __future__ import annotations

from markupsafe import Markup, escape

WIDTH = 360  # units: as wide as a phone, so that the letters are never small
LEFT, RIGHT = 34, 12
CLASS_OF = {
    "right": "k1",
    "known mistake": "k2",
    "other mistake": "k3",
    "error or timeout": "k4",
    "not written": "k5",
    "file refused": "k6",
}


def _svg(height: float, title: str, text: str, parts: list[Markup]) -> Markup:
    label = Markup("<title>{}</title><desc>{}</desc>").format(title, text)
    return Markup('<svg class="chart" viewBox="0 0 {} {:.0f}" role="img" aria-label="{}">{}{}</svg>').format(
        WIDTH, height, f"{title}. {text}", label, Markup("").join(parts)
    )


def _rect(x: float, y: float, width: float, height: float, kind: str, said: str) -> Markup:
    form = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="{}"><title>{}</title></rect>'
    return Markup(form).format(x, y, max(width, 0), max(height, 0), kind, said)


def _text(x: float, y: float, said: object, anchor: str = "middle", kind: str = "") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, said)


def _axis(top: float, bottom: float, most: int) -> list[Markup]:
    """Three lines across, with whole numbers at their left."""
    values = sorted({0, most // 2, most})
    parts = []
    for value in values:
        y = bottom - (bottom - top) * value / max(most, 1)
        parts.append(Markup('<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(LEFT, WIDTH - RIGHT, y, y))
        parts.append(_text(LEFT - 4, y + 4, value, "end"))
    return parts


def histogram(bins: list[int]) -> Markup:
    """How many students lie in each tenth of the points."""
    top, bottom = 16, 140
    most, step = max(*bins, 1), (WIDTH - LEFT - RIGHT) / len(bins)
    parts, said = _axis(top, bottom, most), []
    for place, count in enumerate(bins):
        low, high = place * 100 // len(bins), (place + 1) * 100 // len(bins)
        height = (bottom - top) * count / most
        parts.append(
            _rect(LEFT + place * step + 1, bottom - height, step - 2, height, "k1", f"{low}–{high} %: {count}")
        )
        if count:
            parts.append(_text(LEFT + (place + 0.5) * step, bottom - height - 3, count))
            said.append(f"{low} to {high} %: {count}")
    parts += [_text(LEFT + place * step, bottom + 14, f"{place * 10}") for place in range(0, len(bins) + 1, 2)]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, bottom + 29, "per cent of the points"))
    return _svg(bottom + 34, "Students by their share of the points", "; ".join(said), parts)


def stacked(rows: list[tuple[str, dict[str, int]]]) -> Markup:
    """One bar per exercise, cut into what the judge said."""
    tall, parts, said = 34, [], []
    for place, (name, kinds) in enumerate(rows):
        y, total, x = place * tall, max(sum(kinds.values()), 1), 0.0
        parts.append(_text(0, y + 11, name, "start"))
        for kind, count in kinds.items():
            width = WIDTH * count / total
            if count:
                parts.append(_rect(x, y + 15, width, 13, CLASS_OF[kind], f"{kind}: {count}"))
            if width > 6 + 7 * len(str(count)):
                parts.append(_text(x + width / 2, y + 25.5, count, kind="on"))
            x += width
        said.append(f"{name}: " + ", ".join(f"{kind} {count}" for kind, count in kinds.items() if count))
    return _svg(len(rows) * tall, "What the judge said, by exercise", "; ".join(said), parts)


def legend(kinds: list[str]) -> Markup:
    """The colours of ``stacked`` by name."""
    form = Markup(
        '<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" class="{}"/></svg> {}</li>'
    )
    items = Markup("").join(form.format(CLASS_OF[kind], kind) for kind in kinds)
    return Markup('<ul class="legend">{}</ul>').format(items)


def timeline(bars: list[dict], unit: str) -> Markup:
    """Submissions over time; the late ones stand on top, in another colour."""
    top, bottom = 12, 120
    most, step = max(bar["count"] + bar["late"] for bar in bars), (WIDTH - LEFT - RIGHT) / len(bars)
    parts, said = _axis(top, bottom, most), []
    gap, wide = min(1.0, step / 5), min(step, 40)
    for place, bar in enumerate(bars):
        y, when = bottom, _when(bar["from"], unit)
        for key, kind, word in (("count", "k1", "in time"), ("late", "k2", "late")):
            height = (bottom - top) * bar[key] / most
            y -= height
            if bar[key]:
                parts.append(
                    _rect(LEFT + place * step + gap, y, wide - 2 * gap, height, kind, f"{when}, {word}: {bar[key]}")
                )
                said.append(f"{when}: {bar[key]}{' late' if key == 'late' else ''}")
    parts.append(_text(LEFT, bottom + 14, _when(bars[0]["from"], unit), "start"))
    if len(bars) > 1:
        parts.append(_text(WIDTH - RIGHT, bottom + 14, _when(bars[-1]["from"], unit), "end"))
    return _svg(bottom + 20, f"Submissions by {unit} (UTC)", "; ".join(said), parts)


def _when(moment: str, unit: str) -> str:
    day, _, hour = moment.partition("T")
    return f"{day} {hour[:5]}" if unit == "hour" else day


def side_by_side(source: str, lines: list[int]) -> Markup:
    """A source with the lines marked that its partner shares."""
    marked, parts = set(lines), []
    for number, line in enumerate(source.split("\n")):
        parts.append(Markup("<mark>{}</mark>").format(line) if number in marked and line.strip() else escape(line))
    return Markup("\n").join(parts)
