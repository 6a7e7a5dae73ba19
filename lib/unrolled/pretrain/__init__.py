"""Pretraining as a program: ``python -m unrolled.pretrain config.toml --out folder`` (chapter 12).

One module each: what may stand in the configuration, the batch of any step, the loss, what is kept on disk, the loop.
"""
