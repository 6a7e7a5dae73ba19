"""The book as a text to be searched: prose, and nothing else."""

from unrolled.book_paragraphs import book_paragraphs, prose


def test_paragraphs_of_the_book_are_prose():
    found = book_paragraphs(last=10)
    assert len(found) > 500 and {number for number, _ in found} == set(range(11))
    for _, text in found:
        assert "```" not in text and "$$" not in text and "](" not in text and not text.startswith(("#", "+++", "<"))
        assert len(text.split()) >= 15


def test_code_equations_headings_and_quizzes_are_left_out():
    source = (
        "---\nkernelspec: x\n---\n\n# Title of a long chapter with many words\n\nPlain *prose* is `kept` $x$.\n\n"
        "```{code-cell}\nprint('a b c d')\n\nmore = 1\n```\n\n$$ a = b\n\n+ c $$ (eq-a)\n\n"
        "<details><summary>No</summary>because it is so</details>\n\n| a | table | row |\n"
    )
    assert prose(source, least=3) == ["Plain prose is kept x."]
