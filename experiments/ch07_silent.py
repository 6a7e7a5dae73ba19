"""Chapter 7: letters to sounds with attention, a short training: where does it look while it says a word?

Of each letter we add up the weights that it gets over all sounds of its word. Do letters that are not spoken get less?
"""

import re
import time

import numpy as np
import torch
from pairs_models import attention

from unrolled.measurements import record
from unrolled.pairs import pronunciations
from unrolled.seq2seq import shift_right
from unrolled.translation import Languages, learn_pairs, scores, translate
from unrolled.translators import BOS

SEEDS = [0, 1, 2]
UPDATES = 1200
WORDS = ["knight", "box", "queue", "thought", "wrinkle"]
LEARN, TEST = pronunciations("train"), pronunciations("test")
LANGUAGES = Languages(LEARN)
PLACES = {  # letters of unseen words: those that are not spoken, and the same letters where they are
    "k, silent": (r"^(k)n", "N"),
    "k, spoken": (r"^(k)[aeiou]", "K"),
    "gh, silent": (r"i(gh)t", "T"),
    "g, spoken": (r"^(g)[aou]", "G"),
    "e, silent": (r"[aiou][^aeiouy](e)$", "[^AEIOU]+"),
    "e, spoken": (r"[^aeiouy](e)[^aeiouy][^aeiouy]", "(EH|AH|ER|IH)"),
}


@torch.no_grad()
def look(model, word: str, sounds: list[str]) -> np.ndarray:
    """The weights (sounds and the end, letters) with the right history."""
    src, lengths, y = LANGUAGES.batch([(list(word), [sounds])])
    return model.look(src, lengths, shift_right(y, BOS)[0])[0].double().numpy()


def received(model) -> dict[str, float]:
    """The weight that a letter of each kind gets, mean over unseen words: summed over the sounds, and at the end."""
    found = {}
    for name, (pattern, sound) in PLACES.items():
        values = []
        for letters, (sounds, *_) in TEST:
            place = re.search(pattern, "".join(letters))
            says = {"^": sounds[0], "$": sounds[-1]}.get("$" if pattern.endswith("$") else pattern[0])
            if place and (says is None or re.fullmatch(sound, says)):
                alpha = look(model, "".join(letters), sounds)[:, slice(*place.span(1))].mean(1)
                values.append([alpha[:-1].sum(), alpha[-1]])
        sounded, end = np.mean(values, axis=0).tolist()
        found[name] = {"sounds": sounded, "end": end, "words": len(values)}
    return found


def measure(seed: int) -> dict:
    torch.manual_seed(seed)
    model = attention(LANGUAGES)
    begin = time.process_time()
    losses = learn_pairs(model, LEARN, LANGUAGES, updates=UPDATES, seed=seed, lr=4e-3)
    seconds = time.process_time() - begin
    some = TEST[::4]
    said = translate(model, [(list(word), [[]]) for word in WORDS], LANGUAGES)
    return {
        **scores(some, translate(model, some, LANGUAGES)),
        "received": received(model),
        "loss": sum(losses[-50:]) / 50,
        "cpu seconds": round(seconds, 1),
        "shown": {
            word: {"says": sounds, "looks": np.round(look(model, word, sounds), 3).tolist()}
            for word, sounds in zip(WORDS, said, strict=True)
        },
    }


def main():
    torch.set_num_threads(1)
    since, values = time.time(), {"updates": UPDATES, "runs": []}
    for seed in SEEDS:
        values["runs"].append(measure(seed))
        print({k: v for k, v in values["runs"][-1].items() if k != "shown"}, flush=True)
    print(record("ch07_silent", SEEDS, values, since).name)


if __name__ == "__main__":
    main()
