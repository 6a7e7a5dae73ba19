/* Chapter 1: a trained RNN reads a sentence, one word per step. */
(function () {
  "use strict";
  const { times, softmax, fixed, html, svg, field, button, select, slider, square, label, drawing, said } = touch;

  /** The states and verdicts of a sentence, and for each step the three summands of eq-rnn-step. */
  function compute(data, words) {
    let h = data.b.map(() => 0);
    const states = [h], probabilities = [], parts = [];
    for (const word of words) {
      const input = times(data.W_xh, data.E[data.words.indexOf(word)]);
      const memory = times(data.W_hh, h);
      h = data.b.map((b, k) => Math.tanh(input[k] + memory[k] + b));
      states.push(h);
      parts.push({ input, memory });
      probabilities.push(softmax(times(data.W_hy, h).map((score, k) => score + data.c[k])));
    }
    return { states, probabilities, parts };
  }

  function build(data) {
    const H = data.b.length, CELL = 18, TOP = 84, COLUMN = 62;
    let step = 0, unit = 0, words = [], run;
    const spoken = said();

    const known = (text) => text.toLowerCase().match(/[a-z]+/g) || [];
    const entry = html("input", {
      type: "text", value: data.examples[0], maxlength: 120, autocomplete: "off", spellcheck: "false",
      oninput: () => begin(0),
    });
    const example = select({ "": "choose …", ...Object.fromEntries(data.examples.map((text) => [text, text])) },
      (text) => { if (text) { entry.value = text; begin(0); } });
    const back = button("◀ Back", () => go(step - 1)), next = button("Step ▶", () => go(step + 1));
    const all = button("Read to the end", () => go(words.length));
    const place = slider("Words read", { min: 0, max: 1, step: 1, value: 0 }, go);
    const units = select(Object.fromEntries(data.b.map((_, k) => [k, `unit ${k + 1}`])), (k) => { unit = Number(k); show(); });
    const body = html("tbody");
    const table = html("table", {}, html("caption", {}, "The new value of the chosen unit"),
      html("thead", {}, html("tr", {}, ["word", "old state", "bias", "sum", "tanh of it"]
        .map((title) => html("th", { scope: "col" }, title)))), body);

    function draw(width) {
      const fit = Math.max(2, Math.floor((width - 8) / COLUMN)), T = words.length;
      const first = Math.max(0, Math.min(step - fit + 2, T + 1 - fit));
      const shown = [...Array(Math.min(fit, T + 1)).keys()].map((k) => first + k);
      const y = (k) => TOP + k * CELL, bottom = TOP + H * CELL;
      return shown.map((t, place) => {
        const x = 4 + place * COLUMN, read = t <= step, wide = 34;
        const p = t > 0 && read ? run.probabilities[t - 1][0] : null;
        return [
          p === null ? null : [
            svg("rect", { x: x + 2, y: 62 - 34 * p, width: wide - 4, height: 34 * p, class: "touch-minus", "fill-opacity": 0.75 }),
            label(x + wide / 2, 57 - 34 * p, fixed(p), { "text-anchor": "middle", class: "touch-small" }),
          ],
          svg("line", { x1: x, x2: x + wide, y1: 62, y2: 62, class: "touch-grid" }),
          run.states[t].map((value, k) => [
            svg("rect", { x, y: y(k), width: wide, height: CELL, class: "touch-frame" }),
            read ? square(x, y(k), wide, CELL, value * 0.85) : null,
            read && t === step ? label(x + wide / 2, y(k) + 13, fixed(value), { "text-anchor": "middle", class: "touch-number" }) : null,
          ]),
          t === step ? svg("rect", { x: x - 2, y: TOP - 2, width: wide + 4, height: H * CELL + 4, class: "touch-chosen" }) : null,
          t === step ? svg("rect", { x, y: y(unit), width: wide, height: CELL, class: "touch-chosen", "stroke-dasharray": "3 2" }) : null,
          t > 0 && place > 0 ? [
            svg("line", { x1: x - COLUMN + wide + 3, x2: x - 7, y1: TOP + H * CELL / 2, y2: TOP + H * CELL / 2, class: "touch-line" }),
            svg("path", { d: `M${x - 4} ${TOP + H * CELL / 2}l-7 -4v8z`, class: "touch-arrow", fill: "currentColor" }),
          ] : null,
          t > 0 ? svg("path", { d: `M${x + wide / 2} ${bottom + 4}l-4 7h8z`, fill: "currentColor" }) : null,
          label(x + wide / 2, bottom + 26, t ? words[t - 1] : "start", {
            "text-anchor": "middle", class: t && read ? "" : "touch-quiet",
            ...(t && words[t - 1].length > 8 ? { textLength: COLUMN - 4, lengthAdjust: "spacingAndGlyphs" } : {}),
          }),
          svg("rect", { x: x - 6, y: 0, width: COLUMN - 6, height: bottom + 34, class: "touch-hit", onclick: () => go(t) }),
        ];
      }).concat(label(4, 11, "probability of “negative”", { class: "touch-small touch-quiet" }));
    }
    const picture = drawing("", TOP + H * CELL + 36, draw);

    function show() {
      const T = words.length, h = run.states[step];
      back.disabled = step === 0;
      next.disabled = all.disabled = step === T;
      place.set(step, T);
      picture.name(`The network unrolled over ${T} words; ${step} of them are read.`);
      picture.again();
      const numbers = h.map((value) => fixed(value)).join(", ");
      const asked = known(entry.value), left = asked.filter((word) => !data.words.includes(word));
      const unknown = left.length ? ` Not among its ${data.words.length} words, left out: ${left.join(", ")}.` : "";
      if (!step) {
        body.replaceChildren(html("tr", {}, ["–", "–", fixed(data.b[unit]), "–", fixed(0)].map((cell) => html("td", {}, cell))));
        spoken.say((T ? `Nothing is read yet; the state is all zeros. ${T} words wait; press Step.` : "Write some words.") + unknown);
        return;
      }
      const { input, memory } = run.parts[step - 1], sum = input[unit] + memory[unit] + data.b[unit];
      body.replaceChildren(html("tr", {}, [input[unit], memory[unit], data.b[unit], sum, h[unit]]
        .map((value) => html("td", {}, fixed(value)))));
      spoken.say(`Step ${step} of ${T}, word “${words[step - 1]}”. State: ${numbers}. ` +
        `Probability of “negative”: ${fixed(run.probabilities[step - 1][0])}.${unknown}`);
    }

    function go(to) {
      step = Math.max(0, Math.min(words.length, to));
      show();
    }

    function begin(at) {
      words = known(entry.value).filter((word) => data.words.includes(word)).slice(0, 24);
      run = compute(data, words);
      go(at);
    }

    begin(0);
    return [
      html("div", { class: "touch-controls" }, field("Sentence, from the words of the toy language", entry, true),
        field("Examples", example), field("Unit in the table", units),
        html("div", { class: "touch-row" }, back, next, all), place.whole),
      picture.box, table, spoken.text,
    ];
  }

  touch.model("unroll", { title: "An RNN, unrolled word by word", compute, build });
})();
