/* Chapter 4: an LSTM and a GRU read what is typed, letter by letter, and show their gates. */
(function () {
  "use strict";
  const { matrix, times, softmax, sigmoid, mean, fixed, html, svg, field, select, slider, square, label, drawing, said } = touch;

  /** The weights as rows of numbers, made once. */
  const unpacked = new Map();
  function weights(data) {
    if (!unpacked.has(data)) {
      const rows = (name, columns) => matrix(data[name], columns, data.scale);
      unpacked.set(data, {
        H: data.H, E: rows("E", data.width), W_x: rows("W_x", data.width), W_h: rows("W_h", data.H),
        b: rows("b", 1).flat(), b_h: data.b_h ? rows("b_h", 1).flat() : null,
        W_y: rows("W_y", data.H), c: rows("c", 1).flat(),
      });
    }
    return unpacked.get(data);
  }

  const STEPS = {
    /** Blocks in the order f, g, i, o (eq-lstm-gates, eq-lstm-cell, eq-lstm-state). */
    lstm(w, x, { h, c }) {
      const a = times(w.W_x, x), memory = times(w.W_h, h), H = w.H;
      const sum = (block, k) => a[block * H + k] + memory[block * H + k] + w.b[block * H + k];
      const units = h.map((_, k) => k);
      const f = units.map((k) => sigmoid(sum(0, k))), g = units.map((k) => Math.tanh(sum(1, k)));
      const i = units.map((k) => sigmoid(sum(2, k))), o = units.map((k) => sigmoid(sum(3, k)));
      const cell = units.map((k) => f[k] * c[k] + i[k] * g[k]);
      return { f, i, o, c: cell, h: units.map((k) => o[k] * Math.tanh(cell[k])) };
    },
    /** Blocks in the order u, r, candidate, the reset after the matrix as in torch (eq-gru-gates, eq-gru-after, eq-gru-state). */
    gru(w, x, { h }) {
      const a = times(w.W_x, x), memory = times(w.W_h, h), H = w.H, units = h.map((_, k) => k);
      const u = units.map((k) => sigmoid(a[k] + memory[k] + w.b[k]));
      const r = units.map((k) => sigmoid(a[H + k] + memory[H + k] + w.b[H + k]));
      const candidate = units.map((k) => Math.tanh(a[2 * H + k] + w.b[2 * H + k] + r[k] * (memory[2 * H + k] + w.b_h[k])));
      return { u, r, h: units.map((k) => (1 - u[k]) * h[k] + u[k] * candidate[k]) };
    },
  };

  /** All gates and states of a text, and the probabilities of the next letter after each letter. */
  function compute(data, { text }) {
    const w = weights(data), zero = Array(w.H).fill(0);
    let now = { h: zero, c: zero };
    return [...text].map((letter) => {
      now = STEPS[data.kind](w, w.E[data.letters.indexOf(letter)], now);
      return { ...now, next: softmax(times(w.W_y, now.h).map((score, k) => score + w.c[k])) };
    });
  }

  const PARTS = {
    lstm: { f: "f: keep", i: "i: write", o: "o: read", c: "c: cell", h: "h: state" },
    gru: { u: "u: update", r: "r: reset", h: "h: state" },
  };
  const NAMES = { f: "keep", i: "write", o: "read", u: "update", r: "reset" };
  const shown = (letter) => (letter === " " ? "␣" : letter === "\n" ? "⏎" : letter);
  const spelled = (letter) => (letter === " " ? "space" : letter === "\n" ? "line end" : `“${letter}”`);

  function build(first) {
    const UNITS = 14, CELL = 14, COLUMN = 17, TOP = 66;
    let data = first, kind = data.kind, part = "f", at = 0, text = [], left = [], run = [], order = [];
    const spoken = said();
    const entry = html("input", {
      type: "text", value: data.example, maxlength: 200, autocomplete: "off", spellcheck: "false",
      oninput: () => read(Infinity),
    });
    const kinds = html("fieldset", {}, html("legend", {}, "Network"), ["lstm", "gru"].map((name) => html("label", {},
      html("input", { type: "radio", name: "touch-gates-kind", value: name, checked: name === kind, onchange: () => choose(name) }),
      name.toUpperCase())));
    const parts = html("select", { onchange: () => { part = parts.value; arrange(); show(); } });
    const place = slider("Letters read", { min: 1, max: 1, step: 1, value: 1 }, (value) => { at = value - 1; show(); });

    /** The GRU's weights are fetched when it is asked for. */
    async function choose(name) {
      if (name === "gru" && !touch.data.gates_gru) await touch.load("data/gates_gru.js");
      data = name === "gru" ? touch.data.gates_gru : first;
      kind = name;
      offer();
      read(at);
    }

    function offer() {
      parts.replaceChildren(...Object.entries(PARTS[kind]).map(([value, title]) => html("option", { value }, title)));
      part = parts.value = part in PARTS[kind] ? part : Object.keys(PARTS[kind])[0];
    }

    /** The units that vary most over the text come first. */
    function arrange() {
      const spread = run.length ? run[0][part].map((_, k) => {
        const values = run.map((step) => step[part][k]), middle = mean(values);
        return mean(values.map((v) => (v - middle) ** 2));
      }) : [];
      order = spread.map((_, k) => k).sort((a, b) => spread[b] - spread[a]).slice(0, UNITS);
    }

    /** How much the letter at place t was expected: its probability before it was read. */
    const expected = (t) => (t ? run[t - 1].next[data.letters.indexOf(text[t])] : null);

    function draw(width) {
      const fit = Math.floor((width - 4) / COLUMN), start = Math.max(0, Math.min(at - fit + 4, text.length - fit));
      const y = (row) => TOP + row * CELL, bottom = TOP + UNITS * CELL;
      return [
        label(2, 12, "probability that each letter had before it came", { class: "touch-small touch-quiet" }),
        svg("line", { x1: 2, x2: width - 2, y1: TOP - 8, y2: TOP - 8, class: "touch-grid" }),
        text.slice(start, start + fit).map((letter, place) => {
          const t = start + place, x = 2 + place * COLUMN, p = expected(t);
          return [
            p === null ? null : svg("rect", { x: x + 3, y: TOP - 8 - 38 * p, width: COLUMN - 6, height: 38 * p, class: "touch-minus", "fill-opacity": 0.75 }),
            order.map((k, row) => square(x + 0.5, y(row) + 0.5, COLUMN - 1, CELL - 1, run[t][part][k])),
            label(x + COLUMN / 2, bottom + 16, shown(letter), { "text-anchor": "middle", class: t <= at ? "" : "touch-quiet" }),
            t === at ? svg("rect", { x, y: TOP - 50, width: COLUMN, height: bottom - TOP + 72, class: "touch-chosen" }) : null,
            svg("rect", { x, y: 0, width: COLUMN, height: bottom + 22, class: "touch-hit", onclick: () => { at = t; show(); } }),
          ];
        }),
        svg("rect", { x: 2, y: TOP, width: Math.min(fit, text.length) * COLUMN, height: UNITS * CELL, class: "touch-frame", "pointer-events": "none" }),
        label(2, bottom + 37, `rows: of its ${weights(data).H} units the ${UNITS} that vary most here`, { class: "touch-small touch-quiet" }),
      ];
    }
    const picture = drawing("", TOP + UNITS * CELL + 42, draw);
    const guesses = html("tbody");
    const table = html("table", { class: "touch-guesses" }, html("caption", {}, "What it expects next"), guesses);

    function show() {
      const missing = [...new Set(left)];
      const unknown = missing.length ? ` Left out, it has never seen them: ${missing.join(" ")}.` : "";
      place.set(text.length ? at + 1 : 1, Math.max(1, text.length));
      picture.name(`${PARTS[kind][part]} of the ${UNITS} units that vary most, over ${text.length} letters.`);
      picture.again();
      if (!text.length) {
        guesses.replaceChildren();
        spoken.say("Write a sentence." + unknown);
        return;
      }
      const step = run[at];
      const best = step.next.map((p, k) => [p, data.letters[k]]).sort((a, b) => b[0] - a[0]).slice(0, 5);
      guesses.replaceChildren(html("tr", {}, best.map(([, letter]) => html("th", { scope: "col" }, shown(letter)))),
        html("tr", {}, best.map(([p]) => html("td", {}, `${fixed(100 * p, 0)} %`))));
      const open = Object.keys(PARTS[kind]).filter((name) => name in NAMES)
        .map((name) => `${NAMES[name]} ${fixed(mean(step[name]))}`).join(", ");
      const came = at + 1 < text.length
        ? `In fact ${spelled(text[at + 1])} comes, which had ${fixed(100 * expected(at + 1), 1)} %.` : "The text ends here.";
      spoken.say(`Letter ${at + 1} of ${text.length}, ${spelled(text[at])}. Mean of all gates: ${open}. ` +
        `It expects ${best.slice(0, 3).map(([p, letter]) => `${spelled(letter)} ${fixed(100 * p, 0)} %`).join(", ")}. ${came}${unknown}`);
    }

    function read(to) {
      const typed = [...entry.value];
      text = typed.filter((letter) => data.letters.includes(letter));
      left = typed.filter((letter) => !data.letters.includes(letter));
      run = compute(data, { text: text.join("") });
      at = Math.max(0, Math.min(text.length - 1, to));
      arrange();
      show();
    }
    offer();
    read(3);
    return [
      html("div", { class: "touch-controls" }, field("Write something", entry, true), kinds, field("Show", parts), place.whole),
      picture.box, table, spoken.text,
    ];
  }

  touch.model("gates", { title: "The gates of an LSTM and of a GRU over a text", compute, build });
})();
