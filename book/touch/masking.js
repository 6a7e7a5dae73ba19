/* Chapter 12: what is hidden from BERT. A row is drawn, dice choose some of its words, a second throw decides what becomes of each. */
(function () {
  "use strict";
  const { random, fixed, html, svg, button, slider, label, key, drawing, said } = touch;
  const STATED = { chosen: 0.15, "[MASK]": 0.8, random: 0.1, kept: 0.1 };
  const BOX = 84, TALL = 92, TOP = 20;

  /** eq-mlm-chosen and eq-mlm-mask for one row: what the model reads, and what became of each token (null: not chosen). */
  function compute(data, { ids, u, random: drawn }) {
    const { cls, sep, pad, mask } = data.special;
    const chosen = ids.map((id, t) => ![cls, sep, pad].includes(id) && u[0][t] < data.rate);
    const fates = ids.map((_, t) => (!chosen[t] ? null : u[1][t] < 0.8 ? "[MASK]" : u[1][t] < 0.9 ? "random" : "kept"));
    return { chosen, fates, masked: ids.map((id, t) => (fates[t] === "[MASK]" ? mask : fates[t] === "random" ? drawn[t] : id)) };
  }

  /** Rows one after the other, with all random numbers from one seed; totals of what happened so far. */
  function dice(data, seed) {
    const next = random(seed), special = new Set([data.special.cls, data.special.sep, data.special.pad]);
    const totals = { rows: 0, untouched: 0, words: 0, special: 0, specialChosen: 0, chosen: 0, "[MASK]": 0, random: 0, kept: 0 };
    const many = (n) => Array.from({ length: n }, next);
    return {
      totals,
      draw() {
        const ids = data.rows[Math.floor(next() * data.rows.length)], T = ids.length;
        return { ids, u: [many(T), many(T)], random: many(T).map((r) => Math.floor(r * data.words.length)) };
      },
      count(input) {
        const { chosen, fates } = compute(data, input);
        totals.rows += 1;
        totals.untouched += !chosen.includes(true);
        input.ids.forEach((id, t) => {
          totals[special.has(id) ? "special" : "words"] += 1;
          if (!chosen[t]) return;
          totals.chosen += 1;
          totals[fates[t]] += 1;
          totals.specialChosen += special.has(id);
        });
      },
    };
  }

  const share = (totals, name) => (name === "chosen" ? totals.chosen / totals.words : totals[name] / totals.chosen);
  const percent = (p) => (Number.isFinite(p) ? `${fixed(100 * p, 1)}\u00a0%` : "–");
  const LINES = { chosen: "touch-second", "[MASK]": "", random: "touch-third", kept: "touch-fourth" };
  const NAMES = { chosen: "chosen, of all words", "[MASK]": "becomes [MASK], of the chosen", random: "random word, of the chosen", kept: "kept, of the chosen" };

  function build(data) {
    let seed = 5, throws, input, result, stage, history;
    const spoken = said(), word = (id) => data.words[id];
    const steps = button("Step ▶", () => step());
    const several = [1, 100, 1000].map((n) => button(n === 1 ? "1 row" : `${n.toLocaleString("en")} rows`, () => run(n)));
    const again = button("Again", () => begin());
    const seeds = slider("Seed", { min: 1, max: 50, step: 1, value: seed }, (value) => { seed = value; begin(); });
    const body = html("tbody");
    const table = html("table", {}, html("caption", {}, "So far"), html("thead", {}, html("tr", {},
      ["what", "count", "share", "stated"].map((title) => html("th", { scope: "col" }, title)))), body);

    const perLine = (width) => Math.max(3, Math.floor(width / BOX));
    const picture = drawing("", (width) => TOP + TALL * Math.ceil(input.ids.length / perLine(width)), (width) => {
      const fit = perLine(width);
      return [label(2, 13, ["a row is drawn", "the first throw chooses: below 0.15", "the second throw decides: below 0.8, below 0.9, or above", "BERT is asked at the chosen words only"][stage], { class: "touch-small touch-quiet" }),
        input.ids.map((id, t) => {
          const x = 2 + (t % fit) * BOX, y = TOP + Math.floor(t / fit) * TALL, middle = x + BOX / 2 - 3, special = word(id).startsWith("[");
          const chosen = stage > 0 && result.chosen[t], line = (dy, text, more) => label(middle, y + dy, text, { "text-anchor": "middle", ...more });
          return [
            svg("rect", { x, y: y + 2, width: BOX - 6, height: TALL - 8, class: chosen ? "touch-chosen" : "touch-frame", rx: 3 }),
            line(20, word(id), { class: special ? "touch-quiet" : "" }),
            stage > 0 ? line(37, special ? "never" : fixed(input.u[0][t]), { class: chosen ? "touch-small" : "touch-small touch-quiet" }) : null,
            chosen && stage > 1 ? [line(53, `${fixed(input.u[1][t])}: ${result.fates[t]}`, { class: "touch-small" }),
              line(70, word(result.masked[t]), { class: result.fates[t] === "kept" ? "touch-here" : "touch-here touch-changed" })] : null,
            chosen && stage > 2 ? line(84, `BERT: ${percent(result.right[t])}`, { class: "touch-tiny touch-quiet" }) : null,
          ];
        })];
    });

    const curves = drawing("", 214, (width, height) => {
      const left = 44, right = width - 8, bottom = height - 34, most = Math.max(10, throws.totals.rows), end = Math.log(most);
      const x = (n) => left + (right - left) * Math.log(n) / end, y = (p) => bottom - (bottom - 8) * p;
      const ticks = [1, 10, 100, 1000, 10000, 100000].filter((n) => n <= most);
      return [
        [[0, 4], [0.1, 8], [0.15, 1], [0.5, 4], [0.8, 4], [1, 4]].map(([p, lower]) => [
          svg("line", { x1: left, x2: right, y1: y(p), y2: y(p), class: Object.values(STATED).includes(p) ? "touch-line" : "touch-grid" }),
          label(left - 5, y(p) + lower, `${100 * p}\u00a0%`, { "text-anchor": "end", class: "touch-small" })]),
        ticks.map((n) => label(x(n), bottom + 15, n.toLocaleString("en"), { "text-anchor": "middle", class: "touch-small" })),
        label((left + right) / 2, height - 4, "rows drawn", { "text-anchor": "middle", class: "touch-small touch-quiet" }),
        Object.entries(LINES).map(([name, more]) => {
          const points = history.filter((one) => Number.isFinite(one[name]));
          return svg("polyline", { points: points.map((one) => `${x(one.rows).toFixed(1)},${y(one[name]).toFixed(1)}`).join(" "), class: `touch-curve ${more}` });
        }),
      ];
    });

    /** BERT's probability of the right word at each chosen place, if its page part is loaded. */
    function asked() {
      const bert = touch.models.blank, numbers = touch.data.blank;
      if (!bert || !numbers) return false;
      const { probabilities } = bert.compute(numbers, { ids: result.masked });
      result.right = input.ids.map((id, t) => probabilities[t][id]);
      return true;
    }

    /** The curve keeps a point for every row at first, later for every tenth or hundredth. */
    function note() {
      const { totals } = throws, every = 10 ** Math.max(0, Math.floor(Math.log10(totals.rows)) - 1);
      if (totals.rows % every === 0) history.push({ rows: totals.rows, ...Object.fromEntries(Object.keys(LINES).map((name) => [name, share(totals, name)])) });
    }

    function draw() {
      input = throws.draw();
      result = compute(data, input);
      stage = 0;
    }

    function step() {
      if (stage === 1 && !result.chosen.includes(true)) { finish(); draw(); }
      else if (stage === 2 && asked()) stage = 3;
      else if (stage >= 2) draw();
      else { stage += 1; if (stage === 2) finish(); }
      show();
    }

    /** What the row on the table adds to the totals, once. */
    function finish() {
      if (!input.counted) { throws.count(input); note(); input.counted = true; }
    }

    function run(n) {
      for (let k = 0; k < n; k += 1) { if (input.counted) draw(); finish(); }
      stage = 2;
      show();
    }

    function begin() {
      throws = dice(data, seed);
      history = [];
      draw();
      show();
    }

    function show() {
      const { totals } = throws, counted = totals.rows > 0, T = input.ids.length;
      picture.name(`A row of ${T} tokens: ${input.ids.map(word).join(" ")}.${stage > 1 ? ` The model reads: ${result.masked.map(word).join(" ")}.` : ""}`);
      picture.again();
      curves.name(`Shares against the rows drawn so far: ${Object.keys(LINES).map((name) => `${name} ${percent(share(totals, name))}, stated ${percent(STATED[name])}`).join("; ")}.`);
      curves.again();
      body.replaceChildren(...Object.keys(NAMES).map((name) => [NAMES[name], totals[name], percent(share(totals, name)), percent(STATED[name])])
        .concat([["[CLS], [SEP], [PAD] chosen", totals.specialChosen, `of ${totals.special.toLocaleString("en")}`, "never"],
          ["rows with nothing chosen", totals.untouched, percent(totals.untouched / totals.rows), "–"]])
        .map((cells) => html("tr", {}, cells.map((cell, k) => html(k ? "td" : "th", k ? {} : { scope: "row" }, typeof cell === "number" ? cell.toLocaleString("en") : cell)))));
      const places = input.ids.map((_, t) => t).filter((t) => result.chosen[t]), list = (tell) => places.map(tell).join(", ");
      const nothing = "Nothing is chosen in this row: it teaches nothing.";
      const text = [
        "A row is drawn. The next step throws one number for each word.",
        places.length ? `Chosen: ${list((t) => `“${word(input.ids[t])}” (${fixed(input.u[0][t])})`)}.` : nothing,
        places.length ? `${list((t) => `“${word(input.ids[t])}” ${result.fates[t] === "kept" ? "is kept" : `becomes “${word(result.masked[t])}”${result.fates[t] === "random" ? " (random)" : ""}`}`)}.` : nothing,
        places.length && result.right ? `Asked: ${list((t) => `“${word(input.ids[t])}” gets ${percent(result.right[t])}`)}. Loss of this row: ${fixed(-touch.mean(places.map((t) => Math.log(result.right[t]))))} nats.` : nothing,
      ][stage];
      spoken.say(`${text} ${counted ? `${totals.rows.toLocaleString("en")} row${totals.rows > 1 ? "s" : ""} so far: ${percent(share(totals, "chosen"))} of the words chosen.` : ""}`.trim());
    }

    begin();
    return [
      html("div", { class: "touch-controls" }, html("div", { class: "touch-row" }, steps, several, again), seeds.whole),
      picture.box, spoken.text,
      html("p", { class: "touch-keys" }, Object.entries(LINES).map(([name, more]) => key(more, NAMES[name]))), curves.box, table,
    ];
  }

  touch.model("masking", { title: "What is hidden: the throws of masked language modelling", compute, dice, build });
})();
