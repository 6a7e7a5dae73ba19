"""The page of a report: HTML without script and without requests; everything that comes from students is escaped."""

from __future__ import annotations

from jinja2 import Environment

from autograder import report_charts
from autograder.report_numbers import KINDS
from autograder.show import number

SHOWN_MISTAKES, SHOWN_PAIRS = 12, 40  # the others stand in a table, and in the JSON
PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{{ r.title }}: report</title>
<style>
:root { color-scheme: light dark; --ink: #1c2329; --soft: #5b6670; --line: #d8dee4; --back: #fff; --box: #f5f7f9;
  --link: #1b6580; --k1: #2e7d4f; --k2: #c4561f; --k3: #a06a00; --k4: #7a4fa3; --k5: #6b7680; --k6: #2f373e;
  --mark: #ffe9a8; --on: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ec; --soft: #a3aeb8; --line: #3c4650; --back: #12171c;
  --box: #1d242b; --link: #7cc4dd; --k1: #5fb585; --k2: #ee8a5c; --k3: #e0bd62; --k4: #b894dd; --k5: #77828c;
  --k6: #c3ccd4; --mark: #5a4a12; --on: #12171c; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--back); overflow-wrap: break-word; }
h1 { margin: 0; line-height: 1.2; } h2 { margin: 2.6rem 0 .4rem; border-bottom: 1px solid var(--line); }
h3 { margin: 1.4rem 0 .2rem; font-size: 1.05rem; }
a { color: var(--link); } .soft, .rule { color: var(--soft); } .rule { font-size: .88rem; max-width: 46rem; }
.facts { display: flex; flex-wrap: wrap; gap: .6rem; padding: 0; list-style: none; }
.facts li { background: var(--box); border-radius: .4rem; padding: .5rem .9rem; }
.facts strong { display: block; font-size: 1.5rem; line-height: 1.2; }
.chart { width: 100%; max-width: 34rem; display: block; margin: .8rem 0; }
.chart text { font: 11px system-ui, sans-serif; fill: var(--ink); }
.chart text.on { fill: var(--on); font-weight: 600; }
.chart line { stroke: var(--line); stroke-width: .7; }
.k1 { fill: var(--k1); } .k2 { fill: var(--k2); } .k3 { fill: var(--k3); } .k4 { fill: var(--k4); }
.k5 { fill: var(--k5); } .k6 { fill: var(--k6); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; padding: 0; margin: .3rem 0; list-style: none;
  font-size: .9rem; }
.legend svg { width: .8em; height: .8em; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin: .6rem 0; }
th, td { padding: .35rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; } td:first-child, pre { overflow-wrap: anywhere; }
td:first-child { min-width: 9rem; }
.circles { white-space: nowrap; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
details { margin: .3rem 0; } summary { cursor: pointer; color: var(--link); }
.one { background: var(--box); border-radius: .4rem; padding: .7rem 1rem; margin: .7rem 0; break-inside: avoid; }
.one h3 { margin-top: 0; } .one p { margin: .25rem 0; } .one ol { margin: .3rem 0; padding-left: 1.4rem; }
.bar { display: inline-block; height: .7em; background: var(--k2); border-radius: .15em; margin-right: .5em; }
.warn { border-left: .3rem solid var(--k3); background: var(--box); padding: .6rem 1rem; border-radius: .3rem; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: .8rem; } .two > div { min-width: 0; }
pre { background: var(--box); padding: .7rem; font-size: .8rem; line-height: 1.45; white-space: pre-wrap;
  margin: .2rem 0; border: 1px solid var(--line); border-radius: .3rem; }
mark { background: var(--mark); color: inherit; }
@media (max-width: 42rem) {
  body { margin-top: 1rem; } .two { grid-template-columns: 1fr; }
  table, tbody, tr, td { display: block; } thead { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  td, td.n { border: 0; padding: .1rem 0; text-align: left; } td.n { display: inline-block; margin-right: 1rem; }
  .facts { display: grid; grid-template-columns: 1fr 1fr; }
  td[data-is]::before { content: attr(data-is) ": "; color: var(--soft); } td:first-child { font-weight: 600; }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --back: #fff; --box: #f3f3f3; --link: #000;
    --k1: #2e7d4f; --k2: #c4561f; --k3: #a06a00; --k4: #7a4fa3; --k5: #6b7680; --k6: #2f373e; --mark: #ffe9a8;
    --on: #fff; }
  body { font-size: 10.5pt; max-width: none; margin: 0; padding: 0; } h2, h3 { break-after: avoid; }
  svg, tr, .facts li { break-inside: avoid; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  details::details-content { content-visibility: visible; display: block; } summary { color: var(--soft); }
}
</style>
</head>
<body>
<main>
<h1>{{ r.title }}</h1>
<p class="soft">Report on {{ r.chapter }}, made {{ r.made | replace("T", " ") | replace("+00:00", " UTC") }}.
For instructors: it names students.</p>
<ul class="facts">
<li><strong>{{ r.submissions }}</strong> submission{{ "s" if r.submissions != 1 }}</li>
<li><strong>{{ percent(r.marks.mean) }}</strong> of the points on average</li>
<li><strong>{{ percent(r.marks.quartiles[1]) }}</strong> median</li>
<li><strong>{{ r.marks.all_points }}</strong> with all points</li>
<li><strong>{{ r.need_help | length }}</strong> who need help</li>
{% if r.refused %}<li><strong>{{ r.refused }}</strong> cannot be read</li>{% endif %}
{% if r.waiting %}
<li><strong>{{ r.waiting }}</strong> {{ "answers wait" if r.waiting != 1 else "answer waits" }} for a person</li>
{% endif %}
</ul>
{% if r.ungraded %}
<p class="warn">Not graded yet, and so not in this report: {{ r.ungraded | length }} ({{ r.ungraded | join(", ") }}).
Run <code>autograder grade {{ r.chapter }}</code>.</p>
{% endif %}

<h2>Marks</h2>
{{ histogram(r.marks.bins) }}
<p>Half of the class lies between {{ percent(r.marks.quartiles[0]) }} and {{ percent(r.marks.quartiles[2]) }}.
The chapter has {{ points(r.marks.most) }} points.</p>
<p class="rule">{{ r.rules.share }}</p>

<h2>Exercises</h2>
{{ legend(kinds) }}
{{ stacked(bars) }}
<table>
<thead><tr><th>exercise</th><th class="n">points</th><th class="n">answers</th><th class="n">all points</th>
<th class="n">difficulty</th><th class="n">discrimination</th><th>most often</th></tr></thead>
<tbody>
{% for e in r.exercises %}
<tr><td>{{ e.id | replace("-", " ") if e.by_hand else e.title }}
{% if e.by_hand %}<span class="soft">(by hand)</span>{% endif %}</td>
<td class="n" data-is="points">{{ points(e.points) }}</td>
<td class="n" data-is="answers">{{ e.answers }}</td>
<td class="n" data-is="all points">{{ percent(e.pass_rate) }}</td>
<td class="n" data-is="difficulty">{{ decimal(e.difficulty) }}
<span class="soft circles" title="as its author sees it">{{ circles(e.meant) }}</span></td>
<td class="n" data-is="discrimination">{{ decimal(e.discrimination) }}</td>
<td data-is="most often">{% for m in r.misconceptions if m.exercise == e.id %}{% if loop.first %}
<strong>{{ m.name }}</strong> ({{ m.count }})<br>{% endif %}{% endfor %}
{% for title, count in e.failed_properties[:1] %}
<span class="soft">{{ title }} ({{ count }})</span>{% else %}—{% endfor %}</td></tr>
{% endfor %}
</tbody>
</table>
<p class="rule"><strong>Most often:</strong> the known mistake that most made, and below it the property that most
answers fail. <strong>All points:</strong> {{ r.rules.pass }} <strong>Difficulty:</strong> {{ r.rules.difficulty }}
The circles say how hard its author thinks it is. <strong>Discrimination:</strong> {{ r.rules.discrimination }}</p>

<h2>What to teach again</h2>
{% if not r.misconceptions %}<p>Nobody made a mistake that the judge knows by name.</p>{% endif %}
{% for m in r.misconceptions[:shown_mistakes] %}
<article class="one">
<h3>{{ m.name }}</h3>
<p><span class="bar" style="width: {{ "%.1f" | format(m.count / top * 7) }}em"></span>
{{ m.count }} student{{ "s" if m.count != 1 }}, {{ percent(m.share) }} of those who wrote {{ m.exercise }}</p>
<p>Teach again: {% if m.link %}<a href="{{ m.link }}">{{ m.section }}</a>{% else %}<em>{{ m.section }}</em>{% endif %}
{{ " " }}<span class="soft">({{ m.title }})</span></p>
{% if m.hints %}<ol>{% for hint in m.hints %}<li>{{ hint }}</li>{% endfor %}</ol>{% endif %}
<details><summary>who</summary><p>{{ m.students | join(", ") }}</p></details>
</article>
{% endfor %}
{% if r.misconceptions | length > shown_mistakes %}
<details><summary>{{ r.misconceptions | length - shown_mistakes }} more known mistakes</summary>
<table>
<thead><tr><th>mistake</th><th class="n">students</th><th>teach again</th><th>who</th></tr></thead>
<tbody>
{% for m in r.misconceptions[shown_mistakes:] %}
<tr><td>{{ m.name }} <span class="soft">({{ m.exercise }})</span></td>
<td class="n" data-is="students">{{ m.count }}</td>
<td data-is="teach again">
{% if m.link %}<a href="{{ m.link }}">{{ m.section }}</a>{% else %}{{ m.section }}{% endif %}</td>
<td data-is="who">{{ m.students | join(", ") }}</td></tr>
{% endfor %}
</tbody>
</table></details>
{% endif %}
{% if r.misconceptions %}
<p class="rule">The three lines are the judge's hints: what the student sees, the cause, where to read.</p>
{% endif %}

<h2>When it was handed in</h2>
{% if r.times.bars %}
{{ timeline(r.times.bars, r.times.unit) }}
<p>Each bar is {{ "an" if r.times.unit == "hour" else "a" }} {{ r.times.unit }}, in UTC.
{% if r.times.due %}
Due {{ r.times.due | replace("T", " ") }}; {{ r.times.late }} came late (in the other colour).
{% endif %}
{% if r.times.without %}Without a time, and so not in the chart: {{ r.times.without }}.{% endif %}</p>
{% else %}
<p>No submission carries a time: nbgrader's <code>collect</code> writes one as <code>timestamp.txt</code>
beside the notebook.</p>
{% endif %}

<h2>Students who need help</h2>
<p class="rule">Rule: {{ r.rules.help }}</p>
{% if r.need_help %}
<table>
<thead><tr><th>student</th><th>why</th><th>known mistakes</th></tr></thead>
<tbody>
{% for h in r.need_help %}
<tr><td>{{ h.student }}</td><td data-is="why">{{ h.reasons | join("; ") }}</td>
<td data-is="known mistakes">{% for one in h.mistakes %}<div>{{ one }}</div>{% else %}—{% endfor %}</td></tr>
{% endfor %}
</tbody>
</table>
{% else %}<p>Nobody, by this rule.</p>{% endif %}
{% if r.handed_in_nothing %}
<details><summary>{{ r.handed_in_nothing | length }} in the gradebook handed in nothing</summary>
<p>{{ r.handed_in_nothing | join(", ") }}</p></details>
{% endif %}

<h2>Answers that look alike</h2>
<p class="warn"><strong>A hint, not a verdict.</strong> Two people can find the same form by themselves,
or may have been allowed to work together. Read both sources and talk to both before you conclude anything.</p>
<p class="rule">{{ r.rules.pairs }}</p>
{% if not r.pairs %}<p>No pair is listed.</p>{% endif %}
{% for p in r.pairs[:shown_pairs] %}
<article>
<h3>{{ p.students[0] }} and {{ p.students[1] }}</h3>
{% for e in p.exercises %}
<details{{ " open" if loop.first and loop.length == 1 and r.pairs | length == 1 }}>
<summary>{{ e.number }} {{ e.exercise }}: {{ e.runs }} runs that hardly anybody else has,
{{ percent(e.alike) }} of what is their own</summary>
<div class="two">{% for name in p.students %}<div><strong>{{ name }}</strong>
<pre>{{ side_by_side(e.sources[name], e.lines[name]) }}</pre></div>{% endfor %}</div>
</details>
{% endfor %}
</article>
{% endfor %}
{% if r.pairs | length > shown_pairs %}
<p>{{ r.pairs | length - shown_pairs }} more pairs stand in the JSON file.</p>
{% endif %}
</main>
</body>
</html>
""")


def page(numbers: dict) -> str:
    """The report as HTML."""
    present = [kind for kind in KINDS if any(row["kinds"][kind] for row in numbers["exercises"])]
    judged = [row for row in numbers["exercises"] if not row["by_hand"]]
    return PAGE.render(
        r=numbers,
        kinds=present,
        bars=[(f"{row['number']} {row['id']}", row["kinds"]) for row in judged],
        top=max((row["count"] for row in numbers["misconceptions"]), default=1),
        percent=lambda share: "—" if share is None else f"{share:.0%}",
        decimal=lambda value: "—" if value is None else f"{value:.2f}".replace("-", "−"),
        points=number,
        circles=lambda meant: "●" * meant + "○" * (3 - meant) if meant else "",
        shown_mistakes=SHOWN_MISTAKES,
        shown_pairs=SHOWN_PAIRS,
        histogram=report_charts.histogram,
        stacked=report_charts.stacked,
        legend=report_charts.legend,
        timeline=report_charts.timeline,
        side_by_side=report_charts.side_by_side,
    )
