"""A TF-IDF logistic regression on the folds of `asterisk learn`, and bootstrap intervals over projects for all three classifiers.

    asterisk learn --from LABELS.json --launches DIR --format json > learned.json
    python3 tfidf.py LABELS.json DIR learned.json

Needs scikit-learn (PyPI). It reads the texts of the failures in the launches (JUnit: test name, error and output). The regression is
trained on the same cases as the weights: in each fold those that are not held out, by whole projects. Its C is chosen by the log loss of an
inner split by project.
"""

import json
import math
import random
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import numpy
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

RESAMPLES = 2000
# Ties are broken by the order in which the bundled pipeline declares the defects.
ORDER = ("pb001", "au001", "en001", "nd001", "fw001")


def text_of(launches, case):
    """The text of a failure: that of the first failed test of its launch."""
    for path in sorted(launches.glob(case["id"] + ".*")):
        for test in tree.parse(path).iter("testcase"):
            failed = [part for part in test if part.tag in ("failure", "error")]
            if failed:
                parts = [test.get("name", ""), test.get("classname", "")]
                for part in failed + [part for part in test if part.tag in ("system-out", "system-err")]:
                    parts += [part.get("type", ""), part.get("message", ""), part.text or ""]
                return "\n".join(parts)[:20000]
    return case.get("test", "")


def model(c):
    words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2), token_pattern=r"[A-Za-z_]{3,}", max_features=20000)
    return make_pipeline(words, LogisticRegression(C=c, max_iter=2000, class_weight="balanced"))


def fitted(texts, labels, groups):
    best = None
    for c in (0.3, 1, 3, 10, 30):
        loss = 0
        for taught, held in GroupKFold(5).split(texts, labels, groups):
            one = model(c).fit([texts[i] for i in taught], [labels[i] for i in taught])
            shares = one.predict_proba([texts[i] for i in held])
            for i, row in zip(held, shares):
                share = dict(zip(one.classes_, row)).get(labels[i], 0)
                loss -= math.log(max(share, 1e-6))
        if best is None or loss < best[0]:
            best = (loss, c)
    return model(best[1]).fit(texts, labels)


def figures(cases, of):
    """Accuracy and macro recall of the decidable cases, Brier score of the confidence of all cases."""
    hits, recall, brier = [], {}, []
    for case in cases:
        shares = case[of]
        said = max(sorted(shares, key=ORDER.index), key=shares.get)
        right = said == case["label"]
        brier.append((shares[said] - right) ** 2)
        if case["decidable"]:
            hits.append(right)
            recall.setdefault(case["label"], []).append(right)
    mean = lambda list: sum(list) / len(list) if list else float("nan")
    return mean(hits), mean([mean(found) for found in recall.values()]), mean(brier)


def interval(values):
    values = sorted(value for value in values if not math.isnan(value))
    return values[len(values) // 20], values[-1 - len(values) // 20]


def main():
    labels, launches, learned = Path(sys.argv[1]), Path(sys.argv[2]), json.load(open(sys.argv[3]))
    written = {case["id"]: case for case in json.load(open(labels))}
    cases = learned["folds"]["cases"]
    texts = [text_of(launches, written[case["case"]]) for case in cases]
    truth = [case["label"] for case in cases]
    for fold in sorted({case["fold"] for case in cases}):
        taught = [i for i, case in enumerate(cases) if case["fold"] != fold]
        held = [i for i, case in enumerate(cases) if case["fold"] == fold]
        one = fitted([texts[i] for i in taught], [truth[i] for i in taught], [cases[i]["group"] for i in taught])
        for i, row in zip(held, one.predict_proba([texts[i] for i in held])):
            cases[i]["tfidf"] = dict(zip(one.classes_, map(float, row)))
    by_group = {}
    for case in cases:
        by_group.setdefault(case["group"], []).append(case)
    groups = sorted(by_group)
    chance = random.Random(1)
    samples = [[case for group in chance.choices(groups, k=len(groups)) for case in by_group[group]] for _ in range(RESAMPLES)]
    kinds = ("hand_set", "fitted", "tfidf")
    names = ("right", "macro recall", "Brier")
    print(f"{len(cases)} cases of {len(groups)} projects, {sum(case['decidable'] for case in cases)} decidable")
    drawn = {of: [figures(sample, of) for sample in samples] for of in kinds}
    for at, name in enumerate(names):
        for of in kinds:
            low, high = interval([one[at] for one in drawn[of]])
            print(f"{name:13} {of:9} {figures(cases, of)[at]:.3f}  90 % {low:.3f} to {high:.3f}")
        for one, other in (("fitted", "hand_set"), ("fitted", "tfidf"), ("hand_set", "tfidf")):
            low, high = interval([a[at] - b[at] for a, b in zip(drawn[one], drawn[other])])
            difference = figures(cases, one)[at] - figures(cases, other)[at]
            clear = "beyond noise" if low > 0 or high < 0 else "within noise"
            print(f"{name:13} {one} - {other}: {difference:+.3f}  90 % {low:+.3f} to {high:+.3f}  {clear}")


if __name__ == "__main__":
    numpy.random.seed(1)
    main()
