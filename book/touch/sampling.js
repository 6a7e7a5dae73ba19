/* Chapters 3 and 11: temperature, top-k and top-p on what a tiny GPT expects next; then it writes, letter by letter. */
(function () {
  "use strict";
  const { dot, softmax, linear, plus, normed, gelu, random, fixed, html, svg, field, button, slider, label, drawing, said } = touch;
  const LENGTH = 240, RARE = 0.02, AT_ONCE = 4;

  // ---- the network ----
  /** A matrix from bytes: each row holds whole numbers from -127 to 127 of its own unit. */
  function matrix({ units, bytes }) {
    const whole = Int8Array.from(atob(bytes), (letter) => letter.charCodeAt(0)), columns = whole.length / units.length;
    return units.map((unit, row) => Float64Array.from(whole.subarray(row * columns, (row + 1) * columns), (n) => n * unit));
  }

  const unpacked = new Map();
  function weights(data) {
    if (!unpacked.has(data)) {
      const deep = (part) => (Array.isArray(part) ? (typeof part[0] === "number" ? Float64Array.from(part) : part.map(deep)) :
        "bytes" in part ? matrix(part) : Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, deep(inner)])));
      unpacked.set(data, { ...deep(data.parameters), n_heads: data.n_heads, context: data.context });
    }
    return unpacked.get(data);
  }

  /** One more letter after those whose keys and values are in past; the vector at the end of the stack (eq-gpt-block).
      If that is not asked for, keys and values of the last block are enough. */
  function read(w, id, place, past, asked) {
    let x = plus(w.tokens[id], w.positions[place]);
    for (const [layer, block] of w.blocks.entries()) {
      const z = normed(x, block.norm_1), { keys, values } = past[layer];
      keys.push(linear(z, block.k));
      values.push(linear(z, block.v));
      if (!asked && layer === w.blocks.length - 1) return null;
      const q = linear(z, block.q), K = x.length / w.n_heads, found = new Float64Array(x.length);
      for (let n = 0; n < w.n_heads; n += 1) {
        const from = n * K, to = from + K, looks = softmax(keys.map((key) => dot(q, key, from, to) / Math.sqrt(K)));
        looks.forEach((weight, s) => { for (let j = from; j < to; j += 1) found[j] += weight * values[s][j]; });
      }
      x = plus(x, linear(found, block.o));
      x = plus(x, linear(linear(normed(x, block.norm_2), block.wide).map(gelu), block.back));
    }
    return x;
  }

  /** A reader with a memory: scores of the next letter after a text; as long as it only grows, nothing is read twice. */
  function reader(data) {
    const w = weights(data);
    let seen = [], past = [], x = null;
    return (ids) => {
      const window = ids.slice(-w.context), grows = seen.length && ids.length <= w.context && seen.every((id, t) => id === window[t]);
      if (!grows) { seen = []; past = w.blocks.map(() => ({ keys: [], values: [] })); }
      for (const id of window.slice(seen.length)) x = read(w, id, seen.push(id) - 1, past, seen.length === window.length);
      const last = normed(x, w.last);
      return w.tokens.map((row) => dot(row, last));
    };
  }

  // ---- from scores to letters ----
  /** The distribution to draw from: tempered (eq-temperature), the k likeliest, of these the likeliest up to p (eq-top-p). */
  function shaped(logits, { temperature, top_k, top_p }) {
    const tempered = softmax(logits.map((o) => o / temperature)), order = logits.map((_, k) => k).sort((a, b) => logits[b] - logits[a]);
    const renormed = (p) => { const sum = p.reduce((a, b) => a + b, 0); return p.map((v) => v / sum); };
    let p = renormed(order.map((id, m) => (m < top_k ? tempered[id] : 0))), before = 0;
    p = renormed(p.map((v) => { const stays = before < top_p; before += v; return stays ? v : 0; }));
    const probabilities = [];
    order.forEach((id, m) => { probabilities[id] = p[m]; });
    return { order, tempered, probabilities };
  }

  /** eq-inverse-cdf: the first id whose cumulative probability is greater than u. */
  function drawn(probabilities, u) {
    let sum = 0;
    const id = probabilities.findIndex((p) => { sum += p; return sum > u; });
    return id < 0 ? probabilities.length - 1 : id;
  }

  /** Scores and probabilities after a text; with random numbers u also what is written. */
  function compute(data, { text, temperature, top_k, top_p, u = [] }) {
    const ids = [...text].map((letter) => data.letters.indexOf(letter)), next = reader(data), settings = { temperature, top_k, top_p };
    const logits = next(ids), { probabilities } = shaped(logits, settings);
    for (const number of u) ids.push(drawn(shaped(next(ids), settings).probabilities, number));
    return { logits, probabilities, written: ids.slice(text.length).map((id) => data.letters[id]).join("") };
  }

  // ---- the page ----
  const shown = (letter) => (letter === " " ? "␣" : letter === "\n" ? "⏎" : letter);
  const spelled = (letter) => (letter === " " ? "space" : letter === "\n" ? "line end" : `“${letter}”`);
  const percent = (p) => (p > 0 && p < 0.0005 ? "<0.1\u00a0%" : `${fixed(100 * p, p < 0.0995 ? 1 : 0)}\u00a0%`);

  function build(data) {
    const V = data.letters.length, settings = { temperature: 1, top_k: V, top_p: 1 };
    let seed = 1, now = null, writing = 0;
    const spoken = said(), look = reader(data);
    const entry = html("input", { type: "text", value: data.example, maxlength: 160, autocomplete: "off", spellcheck: "false", oninput: () => show() });
    const control = (title, name, range) => slider(title, range, (value) => { settings[name] = value; show(); });
    const temperature = control("Temperature τ", "temperature", { min: 0.1, max: 2, step: 0.05, value: 1, show: (value) => fixed(value) });
    const top_k = control("Top-k", "top_k", { min: 1, max: V, step: 1, value: V, show: (value) => (value === V ? "all" : String(value)) });
    const top_p = control("Top-p", "top_p", { min: 0.05, max: 1, step: 0.05, value: 1, show: (value) => (value === 1 ? "all" : fixed(value)) });
    const seeds = slider("Seed", { min: 1, max: 50, step: 1, value: seed }, (value) => { seed = value; });
    const write = button("Let it write", () => begin());
    const other = button("Next seed", () => { seed = seed % 50 + 1; seeds.set(seed); begin(); });
    const text = html("p", { class: "touch-written" }, html("span", { class: "touch-given" }, "Here it writes.")), numbers = html("tbody"), heads = html("thead");
    const table = html("table", { class: "touch-guesses" }, html("caption", {}, "The likeliest next letters"), heads, numbers), narrow = matchMedia("(max-width: 576px)");

    /** What is typed, as far as the network knows it; nothing typed is the beginning of a verse. */
    function typed() {
      const letters = [...entry.value], known = letters.filter((letter) => data.letters.includes(letter));
      return { known: known.length ? known : ["\n"], left: [...new Set(letters.filter((letter) => !data.letters.includes(letter)))], empty: !known.length };
    }
    const ids = (letters) => letters.map((letter) => data.letters.indexOf(letter));

    const picture = drawing("", 214, (width, height) => {
      const { order, model, probabilities } = now, left = 42, bottom = height - 26, fit = Math.min(V, Math.floor((width - left - 2) / 20));
      const highest = Math.max(...model, ...probabilities), top = [0.25, 0.5, 1].find((limit) => highest <= limit), y = (p) => bottom - (bottom - 16) * p / top;
      return [
        [0, 0.5, 1].map((share) => [svg("line", { x1: left, x2: width, y1: y(share * top), y2: y(share * top), class: "touch-grid" }),
          label(left - 5, y(share * top) + 4, String(share * top), { "text-anchor": "end", class: "touch-small" })]),
        order.slice(0, fit).map((id, m) => {
          const x = left + 2 + m * 20, kept = probabilities[id] > 0;
          return [
            kept ? svg("rect", { x: x + 2, y: y(probabilities[id]), width: 14, height: bottom - y(probabilities[id]), class: "touch-minus", "fill-opacity": 0.75 }) : null,
            svg("rect", { x: x + 0.5, y: y(model[id]), width: 17, height: bottom - y(model[id]), class: `touch-model ${kept ? "" : "touch-cut"}` }),
            label(x + 9, bottom + 17, shown(data.letters[id]), { "text-anchor": "middle", class: kept ? "" : "touch-quiet" }),
          ];
        }),
      ];
    });

    function show() {
      const { known, left, empty } = typed(), logits = look(ids(known)), found = shaped(logits, settings);
      now = { ...found, model: softmax(logits) };
      const kept = now.order.filter((id) => now.probabilities[id] > 0), share = kept.reduce((sum, id) => sum + now.tempered[id], 0), likeliest = now.order.slice(0, narrow.matches ? 4 : 8);
      picture.name(`Bars for the next letter: what the model expects, outlined, and what is drawn from, filled; ${V - kept.length} of ${V} letters are cut off.`);
      picture.again();
      heads.replaceChildren(html("tr", {}, html("th", { scope: "col" }, "letter"), likeliest.map((id) => html("th", { scope: "col" }, shown(data.letters[id])))));
      numbers.replaceChildren(...[["the model", now.model], ["with τ", now.tempered], ["drawn from", now.probabilities]].map(([title, p]) =>
        html("tr", {}, html("th", { scope: "row" }, title), likeliest.map((id) => html("td", {}, p[id] ? percent(p[id]) : "cut")))));
      const ends = known.slice(-12).map((letter) => (letter === "\n" ? "⏎" : letter)).join("");
      spoken.say(`${empty ? "At the beginning of a verse" : `After “${known.length > 12 ? "…" : ""}${ends}”`} the likeliest letter, ${spelled(data.letters[likeliest[0]])}, is drawn with ${percent(now.probabilities[likeliest[0]])}. ` +
        (kept.length === V ? `All ${V} letters stay.` : `${kept.length} of ${V} letters ${kept.length === 1 ? "stays" : "stay"}; ${kept.length === 1 ? "it" : "they"} had ${percent(share)} of the probability.`) +
        (left.length ? ` Left out, it has never seen them: ${left.join(" ")}.` : ""));
    }

    /** Write some letters, let the page breathe, write on; a new text ends the one before. */
    function begin() {
      const run = ++writing, { known } = typed(), chosen = { ...settings }, u = random(seed), next = reader(data), letters = ids(known);
      const body = html("span", {});
      text.replaceChildren(html("span", { class: "touch-given" }, known.join("").replace(/^\n/, "")), body);
      let best = 0, rare = 0;
      function some() {
        if (run !== writing) return;
        for (let n = 0; n < AT_ONCE && letters.length < known.length + LENGTH; n += 1) {
          const logits = next(letters), { order, probabilities } = shaped(logits, chosen), id = drawn(probabilities, u());
          const surprising = softmax(logits)[id] < RARE;
          letters.push(id);
          best += id === order[0];
          rare += surprising;
          const letter = data.letters[id] === "\n" ? " ⏎ " : data.letters[id];
          body.append(surprising ? html("mark", {}, letter) : letter);
        }
        if (letters.length < known.length + LENGTH) { setTimeout(some, 0); return; }
        body.normalize();
        spoken.say(`${LENGTH} letters are written with τ = ${fixed(chosen.temperature)}, top-k ${chosen.top_k === V ? "all" : chosen.top_k}, top-p ${chosen.top_p === 1 ? "all" : fixed(chosen.top_p)}, seed ${seed}. ` +
          `${percent(best / LENGTH)} of them were the likeliest letter, ${rare} (marked) had less than ${100 * RARE} % by the model's own count.`);
      }
      some();
    }

    show();
    narrow.addEventListener("change", show); // when a tablet is turned
    const key = (more, words) => html("span", { class: "touch-key" }, svg("svg", { width: 22, height: 14, "aria-hidden": "true" },
      svg("rect", { x: 1, y: 1, width: 20, height: 12, class: more, ...(more === "touch-minus" ? { "fill-opacity": 0.75 } : {}) })), ` ${words}`);
    return [
      html("div", { class: "touch-controls" }, field("Beginning of the text", entry, true), temperature.whole, top_k.whole, top_p.whole),
      html("p", { class: "touch-keys" }, key("touch-model", "the model (τ = 1)"), key("touch-minus", "what is drawn from"), key("touch-model touch-cut", "cut off")),
      picture.box, table,
      html("div", { class: "touch-controls touch-below" }, html("div", { class: "touch-row" }, write, other), seeds.whole), text, spoken.text,
    ];
  }

  touch.model("sampling", { title: "Temperature, top-k and top-p, and a tiny GPT that writes", compute, build });
})();
