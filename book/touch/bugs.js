/* Chapter 8: seven programs, six of them wrong: how each learns, what its heads look at, and which probe finds it out. */
(function () {
  "use strict";
  const { fixed, short, html, svg, field, button, select, square, label, key, drawing, said } = touch;
  const LOW = Math.log10(0.02), HIGH = Math.log10(30), LEFT = 38;

  function build(data) {
    const names = Object.keys(data.programs);
    let name = names[0], head = 0, probed = false;
    const spoken = said();
    const programs = html("fieldset", {}, html("legend", {}, "Program"), names.map((title) => html("label", {},
      html("input", { type: "radio", name: "touch-bugs-program", value: title, checked: title === name, onchange: () => { name = title; show(); } }), title)));
    const heads = select(Object.fromEntries(data.programs[name].weights.map((_, k) => [k, `head ${k + 1}`])), (k) => { head = Number(k); show(); });
    const probe = button("Run the probes", () => { probed = !probed; show(); });
    const body = html("tbody"), table = html("table", { class: "touch-probes" }, html("caption", {}, "Probes"),
      html("thead", {}, html("tr", {}, ["what must hold", "found", "verdict"].map((title) => html("th", { scope: "col" }, title)))), body);

    const curves = drawing("", 252, (width, height) => {
      const right = width - 8, bottom = height - 40, top = 10, steps = data.steps, end = Math.log(steps[steps.length - 1] / steps[0]);
      const x = (step) => LEFT + (right - LEFT) * Math.log(step / steps[0]) / end;
      const y = (nats) => top + (bottom - top) * (HIGH - Math.max(LOW, Math.log10(Math.max(nats, 1e-9)))) / (HIGH - LOW);
      const curve = (values, more) => svg("polyline", { points: values.map((v, k) => `${x(steps[k]).toFixed(1)},${y(v).toFixed(1)}`).join(" "), class: `touch-curve ${more}` });
      const run = data.programs[name];
      return [
        [0.1, 1, 10].map((nats) => [svg("line", { x1: LEFT, x2: right, y1: y(nats), y2: y(nats), class: "touch-grid" }),
          label(LEFT - 6, y(nats) + 4, String(nats), { "text-anchor": "end", class: "touch-small" })]),
        steps.map((step, k) => label(x(step), bottom + 16, String(step), { "text-anchor": k + 1 < steps.length ? "middle" : "end", class: "touch-small" })),
        label((LEFT + right) / 2, height - 6, "training steps (nats per letter on unseen verses)", { "text-anchor": "middle", class: "touch-small touch-quiet" }),
        name === names[0] ? null : curve(data.programs[names[0]].there, "touch-third"),
        probed ? curve(run.hidden, "touch-second") : null, curve(run.there, ""),
      ];
    });
    const map = drawing("", 300, (width, height) => {
      const grid = data.programs[name].weights[head], n = grid.length;
      const cell = Math.floor(Math.min((width - 22) / n, (height - 40) / n));
      const mark = (k) => (data.tokens[k] === " " ? "␣" : k ? data.tokens[k] : "▸");
      return [
        label(2, 11, "weights: rows look at columns", { class: "touch-small touch-quiet" }),
        grid.map((row, t) => [label(14, 20 + t * cell + cell / 2 + 4, mark(t), { "text-anchor": "middle", class: "touch-small" }),
          label(22 + t * cell + cell / 2, 34 + n * cell, mark(t), { "text-anchor": "middle", class: "touch-small" }),
          row.map((w, s) => square(22 + s * cell, 20 + t * cell, cell - 0.5, cell - 0.5, w))]),
        svg("rect", { x: 22, y: 20, width: n * cell, height: n * cell, class: "touch-frame" }),
        svg("path", { d: grid.map((_, t) => `${t ? "L" : "M"}${22 + (t + 1) * cell} ${20 + t * cell}v${cell}`).join(""), class: "touch-line" }),
      ];
    });
    const hiding = key("touch-second", "with the future hidden (a probe)");

    /** What must hold, what was found, whether it holds. */
    function probes(run) {
      const moved = Math.max(...run.moved.slice(0, -1)), last = run.there.length - 1;
      const apart = Math.abs(run.hidden[last] - run.there[last]), [low, high] = run.sums;
      return [
        ["change the last letter: no earlier prediction moves", `${fixed(100 * moved, 1)} % of the probability moved`, moved < 1e-4],
        ["every row of weights sums to 1", `${fixed(low)} to ${fixed(high)}`, Math.abs(low - 1) < 0.005 && Math.abs(high - 1) < 0.005],
        ["hide the future: the surprise stays", `${fixed(run.there[last])} → ${fixed(run.hidden[last])}`, apart < 0.005],
        ["the judge, on small random inputs", run.says ? `${run.says} First caught by “${run.caught}”.` : "right", !run.says],
      ];
    }

    function show() {
      const run = data.programs[name], last = run.there.length - 1, right = data.programs[names[0]].there[last];
      curves.name(`Loss curve of “${name}” over ${data.steps[last]} steps, beside that of the right program.`);
      map.name(`Attention weights of head ${head + 1} of “${name}” on the first letters of a verse, as a table of squares.`);
      curves.again();
      map.again();
      probe.textContent = probed ? "Hide the probes" : "Run the probes";
      probe.setAttribute("aria-expanded", String(probed));
      const found = probes(run);
      table.hidden = hiding.hidden = !probed;
      body.replaceChildren(...found.map(([what, how, holds]) => html("tr", {}, html("td", {}, what), html("td", {}, how),
        html("td", { class: holds ? "touch-holds" : "touch-fails" }, holds ? "✓ holds" : "✗ fails"))));
      const caught = found.filter(([, , holds]) => !holds).length;
      spoken.say(`“${name}” ends at ${short(run.there[last])} nats per letter` +
        (name === names[0] ? ". " : `; the right program ends at ${fixed(right)}. `) +
        (probed ? (caught ? `${caught} of 4 probes ${caught > 1 ? "catch" : "catches"} it; without the future it is at ${fixed(run.hidden[last])} nats.` : "No probe finds anything.")
          : name === names[0] ? "Keep this curve in mind, and switch a bug on." : "Would you have noticed?"));
    }
    show();
    return [
      html("div", { class: "touch-controls" }, programs, field("Weights of", heads), probe), spoken.text,
      html("p", { class: "touch-keys" }, key("", "loss, as validated"), key("touch-third", "the right program"), hiding),
      html("div", { class: "touch-pair" }, curves.box, map.box), table,
    ];
  }

  touch.model("bugs", { title: "The bug bench", build });
})();
