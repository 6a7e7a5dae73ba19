/* Chapters 7 to 9: who looks at whom. Two small networks are computed here, others bring the weights they once had. */
(function () {
  "use strict";
  const { softmax, linear, plus, normed, attend, fixed, html, svg, field, select, square, label, drawing, said } = touch;

  /** Chapter 8: who gives what to whom, one layer of three heads; the answer is read off at the verb. */
  function latin(data, { tokens, causal }) {
    const ids = tokens.map((word) => data.forms.indexOf(word));
    const x = ids.map((id) => plus(data.stems[data.stem[id]], data.endings[data.ending[id]]));
    const { out, weights } = attend(x, data, data.n_heads, (t, s) => !causal || s <= t);
    const verb = ids.findIndex((id) => data.ending[id] === data.verb);
    if (verb < 0) return { weights: [weights], verb, roles: [] };
    const scores = linear(out[verb], data.output), n = data.nouns.length;
    const roles = data.roles.map((_, role) => softmax(scores.slice(role * n, (role + 1) * n)));
    return { weights: [weights], verb, roles };
  }

  /** Chapter 9: an encoder of two layers that says digits backwards; ids with pads behind them. */
  function digits(data, { ids, causal, pads }) {
    const p = data.parameters, may = (t, s) => (!pads || ids[s] !== data.pad) && (!causal || s <= t);
    let x = ids.map((id, t) => p.tokens[id].map((value, k) => Math.sqrt(data.D) * value + p.positions[t][k]));
    const weights = p.layers.map((layer) => {
      const found = attend(x.map((row) => normed(row, layer.norm_1)), layer, data.n_heads, may);
      x = x.map((row, t) => plus(row, found.out[t]));
      x = x.map((row) => plus(row, linear(linear(normed(row, layer.norm_2), layer.wide).map((a) => Math.max(a, 0)), layer.back)));
      return found.weights;
    });
    return { weights, logits: x.map((row) => linear(normed(row, p.last), p.output)) };
  }

  const compute = (data, input) => (input.source === "digits" ? digits(data, input) : latin(data.latin, input));

  const TITLES = {
    verses: "Old into modern English (attention, ch. 7)", letters: "Letters to sounds (attention, ch. 7)",
    transformer: "Old into modern English (Transformer, ch. 9)", latin: "Who gives what to whom, in Latin (ch. 8)",
    digits: "Digits backwards (Transformer, ch. 9)",
  };
  const PARTS = { encoder: "the encoder looks at what is read", decoder: "the decoder looks at what is written", cross: "across: written looks at read" };
  const ROW = 25, ROWS = 18;

  function build(data) {
    const sources = Object.keys(TITLES), of = (name) => (name === "digits" ? touch.data.attention_digits : data[name]);
    const chosen = { source: sources[0], entry: 0, part: "", layer: 0, head: "mean", causal: false, pads: true, query: 0 };
    let now;
    const spoken = said();
    const source = select(Object.fromEntries(sources.map((name) => [name, TITLES[name]])), async (name) => {
      if (name === "digits" && !of(name)) await touch.load("data/attention_digits.js");
      chosen.source = name;
      begin();
    });
    const entries = html("select", { onchange: () => { chosen.entry = Number(entries.value); fill(); } });
    const text = html("input", { type: "text", maxlength: 90, autocomplete: "off", spellcheck: "false", oninput: () => read(0) });
    const writing = field("Or write your own", text);
    const parts = html("select", { onchange: () => { chosen.part = parts.value; read(0); } }), partField = field("Part", parts);
    const layers = html("select", { onchange: () => { chosen.layer = Number(layers.value); read(chosen.query); } }), layerField = field("Layer", layers);
    const heads = html("select", { onchange: () => { chosen.head = heads.value; read(chosen.query); } }), headField = field("Head", heads);
    const tick = (name, title) => html("label", {}, html("input", { type: "checkbox", checked: chosen[name],
      onchange: (event) => { chosen[name] = event.target.checked; read(chosen.query); } }), title);
    const causal = tick("causal", "close the future"), pads = tick("pads", "close the pads");
    const masks = html("fieldset", {}, html("legend", {}, "Masks"), causal, pads);
    const words = html("div", { class: "touch-words", role: "radiogroup", "aria-label": "The word that looks" });

    const options = (control, list) => control.replaceChildren(...list.map(([value, title]) => html("option", { value }, title)));

    /** What the chosen network shows: words on both sides, a table of weights per layer and head, an answer in words. */
    function look() {
      const found = of(chosen.source);
      if (chosen.source === "latin") {
        const tokens = (text.value.toLowerCase().match(/[a-z]+/g) || []).filter((word) => found.forms.includes(word)).slice(0, ROWS);
        if (!tokens.length) return null;
        const run = latin(found, { tokens, causal: chosen.causal });
        const answer = run.verb < 0 ? "No verb, so nobody is asked." : "At the verb it answers: " + found.roles.map((role, k) => {
          const p = Math.max(...run.roles[k]);
          return `${role}: ${found.nouns[run.roles[k].indexOf(p)]} (${fixed(p)})`;
        }).join(", ") + ".";
        return { queries: tokens, keys: tokens, weights: run.weights, answer };
      }
      if (chosen.source === "digits") {
        const typed = (text.value.match(/\d/g) || []).slice(0, found.longest).map(Number);
        if (!typed.length) return null;
        const ids = [...typed.map((digit) => digit + 1), ...Array(found.longest - typed.length).fill(found.pad)];
        const run = digits(found, { ids, causal: chosen.causal, pads: chosen.pads });
        const saying = typed.map((_, t) => run.logits[t].indexOf(Math.max(...run.logits[t])));
        const right = saying.filter((digit, t) => digit === typed[typed.length - 1 - t]).length;
        const tokens = ids.map((id) => (id === found.pad ? "pad" : String(id - 1)));
        return { queries: tokens, keys: tokens, weights: run.weights, answer: `It says ${saying.join(" ")}: ${right} of ${typed.length} right.` };
      }
      const entry = found[chosen.entry], answer = `It wrote “${entry.written.filter((word) => word !== "</s>").join(" ")}”.`;
      if (!chosen.part) return { queries: entry.written, keys: entry.read, weights: [[entry.weights]], answer };
      const fed = ["<s>", ...entry.written.slice(0, -1)];
      const sides = { encoder: [entry.read, entry.read], decoder: [fed, fed], cross: [entry.written, entry.read] }[chosen.part];
      return { queries: sides[0], keys: sides[1], weights: entry[chosen.part], answer };
    }

    function begin() {
      const found = of(chosen.source), computed = chosen.source === "latin" || chosen.source === "digits";
      const listed = computed ? found.examples : found.map((entry) => entry.read.join(chosen.source === "letters" ? "" : " "));
      options(entries, listed.map((title, k) => [k, title]));
      chosen.entry = 0;
      chosen.part = chosen.source === "transformer" ? "cross" : "";
      options(parts, Object.entries(PARTS));
      parts.value = chosen.part;
      const several = chosen.source === "transformer" ? found[0].cross : chosen.source === "digits" ? found.parameters.layers.map(() => Array(found.n_heads)) :
        chosen.source === "latin" ? [Array(found.n_heads)] : [[1]];
      options(layers, several.map((_, k) => [k, `layer ${k + 1}`]));
      options(heads, [["mean", "mean of all"], ...[...several[0].keys()].map((k) => [k, `head ${k + 1}`])]);
      chosen.layer = 0;
      heads.value = chosen.head = several[0].length > 1 ? "0" : "mean";
      writing.hidden = masks.hidden = !computed;
      pads.hidden = chosen.source !== "digits";
      partField.hidden = chosen.source !== "transformer";
      layerField.hidden = several.length < 2;
      headField.hidden = several[0].length < 2;
      fill();
    }

    function fill() {
      const found = of(chosen.source);
      if (found.examples) text.value = found.examples[chosen.entry];
      read(0);
    }

    /** A word is chosen when the mouse moves onto it, not when it comes to stand under a mouse at rest. */
    let mouse = "";
    function moved(event, t) {
      const place = `${event.clientX} ${event.clientY}`;
      if (place !== mouse && t !== chosen.query) choose(t);
      mouse = place;
    }

    /** Compute, write the words on the left, and choose one. */
    function read(query) {
      now = look();
      words.replaceChildren(...(now ? now.queries.map((word, t) => html("label", { onmousemove: (event) => moved(event, t) },
        html("input", { type: "radio", name: "touch-attention-word", value: t, onfocus: () => choose(t), onchange: () => choose(t) }), html("span", {}, word))) : []));
      choose(now ? Math.min(query, now.queries.length - 1) : 0);
    }

    const map = () => {
      const layer = now.weights[chosen.layer];
      return chosen.head === "mean" ? layer[0].map((row, t) => row.map((_, s) => touch.mean(layer.map((head) => head[t][s])))) : layer[Number(chosen.head)];
    };

    function choose(t) {
      chosen.query = t;
      lines.again();
      table.again();
      if (!now) { spoken.say("Write some of the words that it knows."); return; }
      const radio = words.querySelectorAll("input")[t];
      if (radio) radio.checked = true;
      const row = map()[t], best = row.map((w, s) => [w, now.keys[s]]).sort((a, b) => b[0] - a[0]).filter(([w]) => w >= 0.05).slice(0, 4);
      const named = best.map(([w, word]) => `“${word}” ${fixed(w)}`).join(", ");
      lines.name(`The word “${now.queries[t]}” and the ${now.keys.length} words it may look at; stronger lines are larger weights.`);
      table.name(`All weights as a table of squares: ${now.queries.length} words that look, ${now.keys.length} words that are looked at.`);
      spoken.say(`“${now.queries[t]}” looks at ${named || "nobody"}. ${now.answer}`);
    }

    const lines = drawing("", () => ROW * (now ? Math.max(5, now.queries.length, now.keys.length) : 5), (width) => {
      if (!now) return [];
      const row = map()[chosen.query], y = (k) => k * ROW + ROW / 2, bar = 46, right = Math.max(60, width - 150);
      return row.map((w, s) => [
        w > 0.004 ? svg("line", { x1: 2, y1: y(chosen.query), x2: right - 4, y2: y(s), class: "touch-look", "stroke-width": 1 + 7 * w, "stroke-opacity": 0.15 + 0.85 * w }) : null,
        square(right, y(s) - 10, bar, 20, w), svg("rect", { x: right, y: y(s) - 10, width: bar, height: 20, class: "touch-frame" }),
        label(right + bar / 2, y(s) + 4, fixed(w), { "text-anchor": "middle", class: "touch-number" }),
        label(right + bar + 6, y(s) + 5, now.keys[s]),
      ]);
    });
    const table = drawing("", 236, (width, height) => {
      if (!now) return [];
      const grid = map(), cell = Math.min(22, Math.floor(Math.min((height - 22) / grid.length, (width - 4) / grid[0].length)));
      return [label(2, 12, "all words at once (rows look at columns)", { class: "touch-small touch-quiet" }), grid.map((row, t) => row.map((w, s) =>
        [square(2 + s * cell, 20 + t * cell, cell - 1, cell - 1, w),
          svg("rect", { x: 2 + s * cell, y: 20 + t * cell, width: cell - 1, height: cell - 1, class: "touch-frame touch-pick", onclick: () => choose(t) })])),
      svg("rect", { x: 1, y: 19 + chosen.query * cell, width: grid[0].length * cell + 1, height: cell + 1, class: "touch-chosen", "pointer-events": "none" })];
    });
    begin();
    return [
      html("div", { class: "touch-controls" }, field("Network", source), field("Sentence", entries), writing, partField, layerField, headField, masks),
      spoken.text, html("div", { class: "touch-pair" }, html("div", { class: "touch-sides" }, words, lines.box), table.box),
    ];
  }

  touch.model("attention", { title: "Who looks at whom", compute, build });
})();
