/* Chapter 2: how long a gradient is on its way back through time, for any spectral radius. */
(function () {
  "use strict";
  const { times, mean, fixed, short, html, svg, field, select, slider, label, key, drawing, said } = touch;
  const transposed = (W) => W.map((_, k) => W.map((row) => row[k]));
  const norm = (v) => Math.hypot(...v);

  /** The lengths of a gradient 0, 1, ... steps back from the last state, and the mean slope of the units that it met. */
  function compute(data, { kind, rho, steps, linear }) {
    const W = data[kind].map((row) => row.map((w) => w * rho)), back = transposed(W);
    let h = data.b.map(() => 0);
    const states = [];
    for (let t = 0; t <= steps; t++) {
      const column = data.text[t], memory = times(W, h);
      const a = h.map((_, k) => data.W_xh[k][column] + memory[k] + data.b[k]);
      h = linear ? a : a.map(Math.tanh);
      states.push(h);
    }
    let delta = data.start;
    const lengths = [1], slopes = [];
    for (let t = steps; t > 0; t--) {
      const slope = linear ? delta.map(() => 1) : states[t].map((value) => 1 - value * value);
      delta = times(back, delta.map((d, k) => d * slope[k]));
      lengths.push(norm(delta) / norm(data.start));
      slopes.push(mean(slope));
    }
    return { lengths, slope: mean(slopes) };
  }

  const LOW = -12, HIGH = 8, LEFT = 46;
  const KINDS = { random: "random", orthogonal: "orthogonal (a rotation)", leaning: "non-normal, two eigenvectors" };

  function build(data) {
    const chosen = { kind: "random", rho: 0.9, steps: 50 };
    let runs;
    const spoken = said();
    const kind = select(KINDS, (value) => { chosen.kind = value; show(); });
    const rho = slider("Spectral radius ρ", { min: 0.1, max: 3, step: 0.05, value: 0.9, show: (v) => fixed(v) },
      (value) => { chosen.rho = value; show(); });
    const steps = slider("Steps back", { min: 5, max: data.text.length - 1, step: 1, value: 50 },
      (value) => { chosen.steps = value; show(); });

    function draw(width, height) {
      const right = width - 10, bottom = height - 44, top = 26, T = chosen.steps;
      const x = (n) => LEFT + (right - LEFT) * n / T;
      const y = (length) => {
        const power = length > 0 ? Math.log10(length) : -99;
        return top + (bottom - top) * (HIGH - Math.max(LOW - 0.4, Math.min(HIGH + 0.4, power))) / (HIGH - LOW);
      };
      const curve = (lengths, more) => svg("polyline", { points: lengths.map((v, n) => `${x(n).toFixed(1)},${y(v).toFixed(1)}`).join(" "), class: `touch-curve ${more}` });
      const grid = [];
      for (let power = LOW; power <= HIGH; power += 4) {
        grid.push(svg("line", { x1: LEFT, x2: right, y1: y(10 ** power), y2: y(10 ** power), class: power ? "touch-grid" : "touch-line" }),
          label(LEFT - 6, y(10 ** power) + 4, power ? short(10 ** power).slice(6) : "1", { "text-anchor": "end", class: "touch-small" }));
      }
      const every = T > 60 ? 20 : T > 20 ? 10 : 5;
      for (let n = 0; n <= T; n += every) {
        grid.push(svg("line", { x1: x(n), x2: x(n), y1: bottom, y2: bottom + 4, class: "touch-line" }),
          label(x(n), bottom + 17, String(n), { "text-anchor": "middle", class: "touch-small" }));
      }
      return [grid, label(2, 10, "length of the gradient; 1 at the last state", { class: "touch-small touch-quiet" }),
        label((LEFT + right) / 2, height - 8, "steps back", { "text-anchor": "middle", class: "touch-small touch-quiet" }),
        curve(runs.powers, "touch-third"), curve(runs.linear.lengths, "touch-second"), curve(runs.tanh.lengths, "")];
    }
    const picture = drawing("", 314, draw);

    function show() {
      runs = { tanh: compute(data, { ...chosen, linear: false }), linear: compute(data, { ...chosen, linear: true }) };
      runs.powers = [...Array(chosen.steps + 1).keys()].map((n) => chosen.rho ** n);
      picture.name(`Length of the gradient against steps back, logarithmic, from 10⁻¹² to 10⁸, for ρ = ${fixed(chosen.rho)}.`);
      picture.again();
      const T = chosen.steps, end = runs.tanh.lengths[T];
      const verdict = end < 1e-3 ? "It has vanished." : end > 1e3 ? "It has exploded." : "It is still of use.";
      spoken.say(`ρ = ${fixed(chosen.rho)}: ${T} steps back the gradient is ${short(end)} times as long with tanh, ` +
        `${short(runs.linear.lengths[T])} without; ρ to the power ${T} is ${short(runs.powers[T])}. ` +
        `Mean slope of tanh on the way: ${fixed(runs.tanh.slope)}. ${verdict}`);
    }
    show();
    return [
      html("div", { class: "touch-controls" }, rho.whole, steps.whole, field("Matrix W_hh", kind)),
      html("p", { class: "touch-keys" }, key("", "with tanh"), key("touch-second", "without tanh"), key("touch-third", "ρ to the power of the steps")),
      picture.box, spoken.text,
    ];
  }

  touch.model("radius", { title: "A gradient on its way back through time", compute, build });
})();
