"""The Latin sentences are what they say, and three heads read them."""

import random

import torch

from unrolled.roles import ENDING, FORMS, NOUNS, STEM, VERB, VERBS, RoleReader, fit_roles, role_report, sentences


def test_every_form_has_its_stem_and_ending():
    assert len(FORMS) == len(STEM) == len(ENDING) == len(set(FORMS))
    for n, noun in enumerate(NOUNS):
        for role, form in enumerate(noun):
            assert (STEM[FORMS.index(form)], ENDING[FORMS.index(form)]) == (n + 1, role + 1)
    assert {FORMS[i] for i in range(len(FORMS)) if ENDING[i] == VERB} == set(VERBS)


def test_a_sentence_has_one_verb_and_one_noun_for_each_role():
    text, (ids, mask, roles) = sentences(50, random.Random(0))
    assert ((ENDING[ids] == VERB).sum(1) == 1).all() and mask.sum(1).tolist() == [len(words) for words in text]
    for role in range(3):
        found = STEM[ids[ENDING[ids] == role + 1]] - 1
        assert torch.equal(found, roles[:, role])


def test_shares_are_those_of_the_verb_and_the_order_of_words_makes_no_difference():
    torch.manual_seed(0)
    _, data = sentences(20, random.Random(0))
    model = RoleReader(n_heads=3)
    accuracy, shares = role_report(model, data)
    assert 0 <= accuracy <= 1 and shares.shape == (3, 3) and (shares.sum(1) <= 1).all()
    ids, mask, _ = data
    order = torch.randperm(ids.shape[1])
    torch.testing.assert_close(model(ids[:, order], mask[:, order])[0], model(ids, mask)[0], atol=1e-5, rtol=0)


def test_training_lowers_the_loss():
    torch.manual_seed(0)
    losses = fit_roles(RoleReader(n_heads=3), sentences(400, random.Random(0))[1], epochs=6, seed=0)
    assert losses[-1] < 0.7 * losses[0]
