"""The training itself, in one process or in several that share every batch."""

from __future__ import annotations

import signal
import sys
from contextlib import nullcontext

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from unrolled.bert_data import pair_rows
from unrolled.bert_model import BertForPretraining
from unrolled.pretrain.config import Config, PretrainError
from unrolled.pretrain.loss import PretrainingLoss
from unrolled.pretrain.rows import Stream, generator, learn_pieces, read_documents
from unrolled.pretrain.store import Store
from unrolled.pretrain.team import Team
from unrolled.schedules import linear_warmup_decay
from unrolled.wordpiece import WordPiece


def read_texts(config: Config, team: Team) -> dict[str, list[list[str]]]:
    """The documents for training and validation, once all processes are known to have read the same."""
    texts = {part: read_documents(config, part) for part in ("train", "validation")}
    if not team.agree(config.as_dict(), texts, torch.__version__):
        raise PretrainError("The processes differ in configuration, text or version of torch; compare the hosts.")
    return texts


def network(config: Config, vocabulary: int) -> BertForPretraining:
    """The model of a configuration, with so many word pieces."""
    m = config.model
    sizes = vocabulary, m.width, m.heads, m.layers, m.feed_forward
    return BertForPretraining(*sizes, longest=config.data.length, dropout=m.dropout, spread=m.spread)


class Pretraining:
    """One run: its data, its model, and where it stands."""

    def __init__(self, config: Config, store: Store, team: Team):
        self.config, self.store, self.team = config, store, team
        if config.training.batch < team.size:
            raise PretrainError(f"A batch of {config.training.batch} rows cannot be shared by {team.size} processes.")
        texts = read_texts(config, team)
        tokenizer = self._tokenizer(texts["train"])
        docs = {part: [[tokenizer.encode(s) for s in doc] for doc in texts[part]] for part in texts}
        self.stream = Stream(docs["train"], tokenizer, config)
        self.checks = self._validation(docs["validation"])
        torch.manual_seed(config.training.seed)
        self.model = network(config, len(tokenizer)).to(team.device)
        self.loss, self.optimizer = PretrainingLoss(self.model), self._adam()
        self.step = self._take_up()
        self.parallel = DistributedDataParallel(self.loss) if team.size > 1 else self.loss  # it sends the weights round
        self.stopped = False

    def _tokenizer(self, docs: list[list[str]]) -> WordPiece:
        """The vocabulary of the first process's folder; learned there if there is none yet."""
        if self.team.leads and self.store.tokenizer() is None:
            self.store.save_tokenizer(learn_pieces(docs, self.config.data.vocabulary))
        return WordPiece(self.team.tell(self.store.tokenizer().pieces if self.team.leads else None))

    def _take_up(self) -> int:
        """The steps made so far, and Adam's memory of them, as the first process finds them in its folder."""
        step = self.team.tell(self.store.load(self.model, self.optimizer) if self.team.leads else None)
        for parameter in self.model.parameters() if step else ():
            memory = self.optimizer.state[parameter]
            memory.setdefault("step", torch.tensor(float(step)))
            for key in ("exp_avg", "exp_avg_sq"):
                self.team.tell_tensor(memory.setdefault(key, torch.zeros_like(parameter)))
        return step

    def _validation(self, docs: list) -> list:
        """Validation rows with words hidden once and for all, in batches."""
        training = self.config.training
        rows = pair_rows(docs, self.config.data.length, self.stream.tokenizer.special, generator("validation"))
        places = torch.randperm(len(rows.ids), generator=generator("validation order"))[: training.evaluate_rows]
        parts = places.split(training.batch)
        return [self.stream.hidden(rows.take(part), "validation", n) for n, part in enumerate(parts)]

    def _adam(self) -> torch.optim.Optimizer:
        """Adam whose decay pulls at tables and matrices, not at biases and norms."""
        training, named = self.config.training, list(self.model.parameters())
        groups = [
            {"params": [p for p in named if p.ndim > 1], "weight_decay": training.weight_decay},
            {"params": [p for p in named if p.ndim == 1], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-6)

    def run(self) -> bool:
        """Train to the end, or until somebody asks to stop; True at the end."""
        training = self.config.training
        if self.team.leads:
            self.store.cut_log(self.step)
        self._listen()
        options = {"initial": self.step, "total": training.steps, "unit": "step", "disable": not self.team.leads}
        pause = 1 if sys.stderr.isatty() else 30  # a log file needs fewer lines
        with tqdm(**options, mininterval=pause, maxinterval=pause) as bar:
            while self.step < training.steps and not self._asked_to_stop():
                line = self.one_step()
                if self.step % training.evaluate_every == 0 or self.step == training.steps:
                    line |= self.evaluate()
                if self.team.leads:
                    self.store.add(line)
                    if "words right" in line:
                        self.store.draw()
                bar.set_postfix(words=f"{line['words']:.3f}", follows=f"{line['follows']:.3f}", refresh=False)
                bar.update()
                if self.step % training.save_every == 0:
                    self._save()
        self._save()
        return self.step == training.steps

    def one_step(self) -> dict:
        """A step on the whole batch: each process adds up the gradients of its rows, part by part."""
        training, team = self.config.training, self.team
        batch = self.stream.batch(self.step)
        asked, rows = int(batch.chosen.sum()), len(batch.ids)
        parts = team.parts(batch, training.micro_batch)
        torch.manual_seed(generator(training.seed, "dropout", self.step, team.rank).initial_seed())
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        sums = torch.zeros(2, device=team.device)
        for number, part in enumerate(parts):
            quiet = team.size > 1 and number < len(parts) - 1
            with self.parallel.no_sync() if quiet else nullcontext():
                with self._precision():
                    hidden, follows, _ = self.parallel(part.to(team.device))
                loss = hidden / max(asked, 1) + follows / rows
                (team.size * loss).backward()  # torch takes the mean over the processes; the sum is wanted
            sums += torch.stack([hidden, follows]).detach()
        nn.utils.clip_grad_norm_(self.model.parameters(), training.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = linear_warmup_decay(self.step + 1, training.warmup, training.steps + 1, training.peak)
        self.optimizer.step()
        self.step += 1
        words, second = team.add_up(sums).tolist()
        return {"step": self.step, "words": words / max(asked, 1), "follows": second / rows}

    def _precision(self) -> torch.autocast:
        low = self.config.training.precision == "bfloat16"
        return torch.autocast(self.team.device.type, torch.bfloat16, enabled=low)

    @torch.no_grad()
    def evaluate(self) -> dict:
        """Losses and shares of right answers on the validation rows; each process takes every other batch."""
        self.model.eval()
        sums = torch.zeros(6, dtype=torch.float64)
        for batch in self.checks[self.team.share(len(self.checks))]:
            with self._precision():
                hidden, follows, right = self.loss(batch.to(self.team.device))
            sums += torch.tensor([hidden, follows, *right, batch.chosen.sum(), len(batch.ids)], dtype=torch.float64)
        hidden, follows, words_right, follows_right, asked, rows = self.team.add_up(sums).tolist()
        return {
            "validation words": hidden / asked,
            "validation follows": follows / rows,
            "words right": words_right / asked,
            "follows right": follows_right / rows,
        }

    def _save(self) -> None:
        if self.team.leads:
            self.store.save(self.step, self.model, self.optimizer)

    def _listen(self) -> None:
        def stop(*_) -> None:
            self.stopped = True

        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, stop)

    def _asked_to_stop(self) -> bool:
        """Whether any of the processes was; so all of them stop after the same step."""
        return bool(self.team.add_up(torch.tensor(float(self.stopped))))
