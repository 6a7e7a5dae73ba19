/* Chapter 12: fill in the blank. The tiny BERT of the agreement grammar reads a row in both directions. */
(function () {
  "use strict";
  const { dot, softmax, mean, linear, plus, normed, gelu, attend, fixed, html, svg, field, select, square, label, drawing, said } = touch;
  const EPS = 1e-12, SHOWN = 8, ROW = 24;

  /** Probabilities of all words at all places of a row of ids, and who looked at whom; off: a [layer, head] to switch off. */
  function compute(data, { ids, off }) {
    const p = data.parameters, may = (t, s) => ids[s] !== data.special.pad;
    let x = ids.map((id, t) => normed(plus(plus(p.tokens[id], p.segments[0]), p.positions[t]), p.norm, EPS));  // eq-bert-embed
    const weights = p.layers.map((layer, n) => {
      const found = attend(x, layer, data.n_heads, may, off && off[0] === n ? off[1] : -1);
      const a = x.map((row, t) => normed(plus(row, found.out[t]), layer.norm_1, EPS));
      x = a.map((row) => normed(plus(row, linear(linear(row, layer.wide).map(gelu), layer.back)), layer.norm_2, EPS));
      return found.weights;
    });
    const scores = x.map((row) => {
      const last = normed(linear(row, p.transform).map(gelu), p.last, EPS);
      return p.tokens.map((token, k) => dot(token, last) + p.bias[k]);
    });
    return { probabilities: scores.map(softmax), weights };
  }

  const percent = (p) => (p < 0.0005 ? "<0.1\u00a0%" : `${fixed(100 * p, 1)}\u00a0%`);

  function build(data) {
    const { special, words } = data, known = words.filter((word) => !word.startsWith("[")), most = data.longest - 2;
    let sentence = [], hidden = new Set(), at = 0, cut = false, now = null;
    const spoken = said();
    const entry = html("input", { type: "text", maxlength: 140, autocomplete: "off", spellcheck: "false", oninput: () => read([]) });
    const plain = (text) => text.replace(/[[\]]/g, "");
    const example = select(Object.fromEntries(data.examples.map((text, k) => [k, text.replace(/\[\w+\]/g, "____")])), (k) => take(data.examples[k]));
    const row = html("div", { class: "touch-row touch-line-of-words", role: "group", "aria-label": "Words of the sentence: press one to hide it" });
    const places = html("select", { onchange: () => { at = Number(places.value); show(); } });
    const heads = select({ mean: "mean of all heads", ...Object.fromEntries(data.parameters.layers.flatMap((_, l) =>
      [...Array(data.n_heads).keys()].map((n) => [`${l} ${n}`, `layer ${l + 1}, head ${n + 1}`]))) }, () => run());
    heads.value = data.off.join(" ");
    const off = html("input", { type: "checkbox", onchange: () => run() });
    const chosen = () => (heads.value === "mean" ? null : heads.value.split(" ").map(Number));

    const token = (t) => (t === 0 ? "[CLS]" : t > sentence.length ? "[SEP]" : hidden.has(t - 1) ? "[MASK]" : known.includes(sentence[t - 1]) ? sentence[t - 1] : "[UNK]");

    function take(text) {
      entry.value = plain(text);
      read(text.split(" ").flatMap((word, k) => (word.startsWith("[") ? [k] : [])));
    }

    /** The words that were typed; those at these places are hidden. */
    function read(places) {
      const typed = entry.value.toLowerCase().match(/\[mask\]|_+|[a-z']+/g) || [], gap = (word) => /^(\[mask\]|_+)$/.test(word);
      cut = typed.length > most;
      sentence = typed.slice(0, most).map((word) => (gap(word) ? "" : word));
      hidden = new Set([...places, ...sentence.flatMap((word, k) => (word ? [] : [k]))]);
      at = [...hidden][0] ?? 0;
      run();
      if (!hidden.size && now) { at = doubted(); show(); }
    }

    /** The visible word that it would most like to change. */
    function doubted() {
      const wish = sentence.map((word, k) => Math.max(...now.probabilities[k + 1]) - (now.probabilities[k + 1][words.indexOf(word)] ?? 0));
      return wish.indexOf(Math.max(...wish));
    }

    /** Hide a word, or show it again; what was typed as a gap stays one. */
    function toggle(k) {
      if (sentence[k]) hidden.has(k) ? hidden.delete(k) : hidden.add(k);
      at = k;
      run();
    }

    /** Buttons are changed in place, so that the focus stays where it is. */
    function write() {
      while (row.children.length > sentence.length) row.lastChild.remove();
      while (row.children.length < sentence.length) {
        const k = row.children.length;
        row.append(touch.button("", () => toggle(k)));
      }
      sentence.forEach((word, k) => {
        const press = row.children[k], gone = hidden.has(k);
        press.textContent = gone ? "[MASK]" : word;
        press.setAttribute("aria-pressed", String(gone));
        press.setAttribute("aria-label", gone ? `[MASK]${word ? ` for “${word}”` : ""}` : word);
        press.className = known.includes(word) || !word ? "" : "touch-unknown";
      });
      places.replaceChildren(...sentence.map((_, k) => html("option", { value: k }, `${k + 1}: ${token(k + 1)}`)));
    }

    function run() {
      off.disabled = !chosen();
      const ids = [...Array(sentence.length + 2).keys()].map((t) => words.indexOf(token(t)));
      now = sentence.length ? compute(data, { ids, off: off.checked && chosen() }) : null;
      write();
      show();
    }

    const looks = () => {
      const head = chosen(), t = at + 1;
      return head ? now.weights[head[0]][head[1]][t] : now.weights[0][0][t].map((_, s) => mean(now.weights.flat().map((map) => map[t][s])));
    };
    const best = (t, n) => now.probabilities[t].map((p, id) => [p, words[id]]).sort((a, b) => b[0] - a[0]).slice(0, n);

    const guesses = drawing("", 24 + SHOWN * ROW, (width) => {
      if (!now) return [];
      const left = 92, room = Math.max(40, width - left - 58);
      return [label(2, 13, `what it says at word ${at + 1}`, { class: "touch-small touch-quiet" }), best(at + 1, SHOWN).map(([p, word], n) => {
        const y = 24 + n * ROW;
        return [label(left - 8, y + 15, word, { "text-anchor": "end" }),
          svg("rect", { x: left, y: y + 2, width: Math.max(1, room * p), height: ROW - 6, class: "touch-minus", "fill-opacity": 0.75 }),
          label(left + room * p + 6, y + 15, percent(p), { class: "touch-small" })];
      })];
    });
    const map = drawing("", () => 24 + 20 * (sentence.length + 2), (width) => {
      if (!now) return [];
      const left = 92, room = Math.max(40, width - left - 58);
      return [label(2, 13, `where the head looks from word ${at + 1}`, { class: "touch-small touch-quiet" }), looks().map((w, t) => {
        const y = 24 + t * 20;
        return [label(left - 8, y + 14, token(t), { "text-anchor": "end", class: t === at + 1 ? "touch-here" : "" }),
          square(left, y + 1, Math.max(1, room * w), 17, 0.25 + 0.75 * w), label(left + Math.max(1, room * w) + 6, y + 14, fixed(w), { class: "touch-small" })];
      })];
    });

    function show() {
      guesses.again();
      map.again();
      const unknown = [...new Set(sentence.filter((word, k) => !hidden.has(k) && !known.includes(word)))];
      const notes = (unknown.length ? ` Not among its ${known.length} words, read as [UNK]: ${unknown.join(", ")}.` : "") +
        (cut ? ` Only the first ${most} words are read.` : "");
      if (!now) { spoken.say(`Write some of its ${known.length} words.${notes}`); return; }
      places.value = String(at);
      const first = best(at + 1, 3), word = sentence[at], p = now.probabilities[at + 1][words.indexOf(word)];
      guesses.name(`Bars for the likeliest words in place of word ${at + 1}: ${first.map(([share, guess]) => `${guess} ${percent(share)}`).join(", ")}.`);
      const seen = looks().map((w, t) => [w, token(t)]).sort((a, b) => b[0] - a[0]).slice(0, 2);
      map.name(`How much the head looks at each of ${sentence.length + 2} tokens from word ${at + 1}; most at ${seen[0][1]}, ${fixed(seen[0][0])}.`);
      const asked = hidden.has(at) ? `At the hidden word ${at + 1} it says` : `Word ${at + 1}, “${word}”, is visible; there it says`;
      const truth = word && p !== undefined && !first.some(([, guess]) => guess === word) ? ` “${word}” gets ${percent(p)}.` : "";
      const where = chosen() ? `Layer ${chosen()[0] + 1}, head ${chosen()[1] + 1} ${off.checked ? "is switched off; it would look" : "looks"}` : "The mean of all heads looks";
      spoken.say(`${asked} ${first.map(([share, guess]) => `“${guess}” ${percent(share)}`).join(", ")}.${truth} ` +
        `${where} most at ${seen.map(([w, name]) => `“${name}” ${fixed(w)}`).join(" and ")}.${notes}`);
    }

    take(data.examples[0]);
    return [
      html("div", { class: "touch-controls" }, field("Example", example), field("Or write a sentence", entry)),
      html("p", { class: "touch-hint" }, "Press a word to hide it or to show it again:"), row, spoken.text,
      html("div", { class: "touch-controls touch-below" }, field("Look at word", places), field("Attention of", heads),
        html("fieldset", {}, html("label", {}, off, "switch this head off"))),
      html("div", { class: "touch-pair" }, guesses.box, map.box),
      html("p", { class: "touch-hint" }, `Its words: ${known.join(", ")}.`),
    ];
  }

  touch.model("blank", { title: "Fill in the blank with a tiny BERT", compute, build });
})();
