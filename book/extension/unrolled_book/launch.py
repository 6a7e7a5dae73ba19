"""Binder and Colab: their buttons appear as soon as the address of a repository is configured, and only then.

``repository: {url: …, branch: …}`` in _config.yml is all there is to set. The services themselves are never asked
while a page is read; their names stand in links that only a click follows.
"""

from __future__ import annotations

from sphinx.application import Sphinx

SERVICES = {
    "binderhub_url": "https://mybinder.org",
    "colab_url": "https://colab.research.google.com",
    "notebook_interface": "jupyterlab",
}


def _buttons(app: Sphinx, config) -> None:
    if config.html_theme_options.get("repository_url"):
        config.html_theme_options.setdefault("launch_buttons", {}).update(SERVICES)
    else:
        config.html_theme_options.pop("launch_buttons", None)


def setup(app: Sphinx) -> None:
    app.connect("config-inited", _buttons)
