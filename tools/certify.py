#!/usr/bin/env python3
"""A second checker of Throng's certificates, for thread-transition systems and nets.

Usage: certify.py [OPTIONS] INPUT CERTIFICATE [INPUT CERTIFICATE ...]

Written from docs/formats.md alone, without dependencies; slow and simple. One line for each pair: VALID, INVALID and which rule
failed, UNREADABLE, or SKIPPED (programs, and constructs of nets that this checker does not read). The exit status is that of
the worst: 0 valid or skipped, 10 invalid, 2 unreadable.

The question is that of `throng check INPUT` with the same options, and an answer to another one is INVALID:
  --initial CONFIG  --threads N  --target CONFIG (may be repeated)  --prop FILE  --deadlock  --init-free  --from KIND
With --its-own-question it is whatever question the certificate states.

A system is a list of rules: in shared state `src`, take the threads `take`, put back `put`, create `spawn`, go to `dst`; every
other thread at p goes to one of `fates[p]` (None: it vanishes; an empty list: its presence blocks the rule), or stays.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter, namedtuple
from itertools import combinations, combinations_with_replacement, product

Rule = namedtuple("Rule", "src dst take put spawn fates name", defaults=[None])
# `initial` are families: a configuration, and the states in which any number of further threads may start. `targets` are lists of configurations. `complements` are
# pairs of places that have one token together.
System = namedtuple("System", "shared local rules net initial targets complements", defaults=[()])
OMEGA = float("inf")


class Invalid(Exception):
    """A rule of docs/formats.md fails."""


class Unreadable(Exception):
    """This is not a certificate, or not an input."""


class Skipped(Exception):
    """This checker does not read that."""


# ── inputs ──


def need(holds, why):
    if not holds:
        raise Invalid(why)


def rule(src, dst, take=(), put=(), spawn=(), fates=None):
    return Rule(src, dst, Counter(take), Counter(put), Counter(spawn), fates or {})


class Numbers:
    """0, 1, ... below some number, as names."""

    def __init__(self, n):
        self.n = n

    def __contains__(self, name):
        return name.isascii() and name.isdigit() and name == str(int(name)) and int(name) < self.n

    def __iter__(self):
        raise Unreadable("`*` is for named states")

    def __getitem__(self, i):
        return str(i)


def lines_of(text):
    """Lines without comments, as words; arrows are words of their own."""
    lines = (re.sub(r"(->|\+>|~>)", r" \1 ", line.split("#")[0]).split() for line in text.split("\n"))
    return [words for words in lines if words]


def is_edge(words):
    return any(w in ("->", "+>", "~>") for w in words)


def read_edges(lines, shared, local):
    """`s l -> s' l' { p ~> q }`, `s l +> s' l'`, `s l ~> s' l'`; names may stand for numbers, and `*` for every shared state."""
    rules = []
    for words in lines:
        arrows = words[2:3] + words[6::3]
        if len(words) % 3 != 2 or not is_edge(words[2:3]) or arrows[1:] != ["~>"] * (len(words) // 3 - 1):
            raise Unreadable("no edge: " + " ".join(words))
        s, l, arrow, t, m = words[:5]
        for src, dst in [(x, x if t == "*" else t) for x in shared] if s == "*" else [(s, t)]:
            if src not in shared or dst not in shared or l not in local or m not in local:
                raise Unreadable("an edge with unknown states: " + " ".join(words))
            moves = {}
            for p, q in zip(words[5::3], words[7::3]):
                moves.setdefault(p, []).append(q)
            if arrow != "+>" and (src, l) == (dst, m) and not moves:
                continue  # changes nothing, and is not a step
            if arrow == "->":
                rules.append(rule(src, dst, [l], [m], (), moves))
            elif arrow == "+>":
                rules.append(rule(src, dst, [l], [l], [m]))
            else:
                rules.append(rule(src, dst, (), (), (), {l: [m]} if l != m else {}))
    return rules


def read_config(text, shared, local):
    """`s|l,l/u,u`: a configuration, and the states in which any number of further threads may be."""
    numbers = isinstance(shared, Numbers)
    bar, slash = ("[|B]", "[/U]") if numbers else ("[|]", "[/]")
    first = re.search("%s|%s" % (bar, slash), text)
    if not first:
        raise Unreadable("no configuration: " + text)
    at = first.start()
    many = re.compile(slash).search(text, at)
    exactly = text[at + 1 : many.start() if many else None] if not many or many.start() > at else ""

    def state(name, names):
        if (numbers or names == ["0"]) and re.fullmatch("[0-9]+", name):
            name = str(int(name))
        name = "0" if not name and names == ["0"] else name
        if name not in names:
            raise Unreadable("there is no state `%s`" % name)
        return name

    pieces = lambda part: [state(l.strip(), local) for l in part.split(",")] if part.strip() else []
    free = pieces(text[many.end() :]) if many else []
    if many and not free:
        raise Unreadable("nothing follows `/`: " + text)
    return config(state(text[:at].strip(), shared), Counter(pieces(exactly))), free


def read_initial(text, shared, local):
    words = {"unbounded": "%s/%s", "single": "%s|%s"}
    first = words.get(text.strip())
    return read_config(first % (shared[0], local[0]) if first else text, shared, local)


def read_target(text, shared, local):
    target, free = read_config(text, shared, local)
    if free:
        raise Unreadable("a target cannot ask for any number of threads: " + text)
    return [target]


# ── conditions, in the order in which cases of a refutation are counted: (0, ((place, coefficient), ...), least), dead, live, (3, all of these), (4, any of these);
# places by number ──

AT_LEAST, DEAD, LIVE, ALL, ANY = 0, (1,), (2,), 3, 4
TRUE, FALSE = (ALL, ()), (ANY, ())


def at_least(terms, least):
    """Σ coefficient · tokens ≥ least; where that is decided by signs alone, whether it is."""
    total = Counter()
    for place, n in terms:
        total[place] += n
    terms = tuple(sorted((place, n) for place, n in total.items() if n))
    if all(n > 0 for _, n in terms) and least <= 0:
        return TRUE
    if all(n < 0 for _, n in terms) and least > 0:
        return FALSE
    return (AT_LEAST, terms, least)


def join(kind, parts):
    """All or any of these, sorted; nested ones are taken apart."""
    found = set()
    for part in parts:
        if part == (FALSE if kind == ALL else TRUE):
            return part
        found.update(part[1] if part[0] == kind else [part])
    return found.pop() if len(found) == 1 else (kind, tuple(sorted(found)))


def negated(c):
    if c in (DEAD, LIVE):
        return LIVE if c == DEAD else DEAD
    if c[0] == AT_LEAST:
        return (AT_LEAST, tuple((p, -n) for p, n in c[1]), 1 - c[2])
    return join(ANY if c[0] == ALL else ALL, [negated(part) for part in c[1]])


def counted(c, rules, index):
    """The same in terms of numbers of tokens alone: something can move if some rule has what it takes."""
    if c in (DEAD, LIVE):
        live = join(ANY, [covering(r.take, index) for r in rules])
        return live if c == LIVE else negated(live)
    return c if c[0] == AT_LEAST else join(c[0], [counted(part, rules, index) for part in c[1]])


def covering(threads, index):
    return join(ALL, [(AT_LEAST, ((index(p), 1),), n) for p, n in dict(threads).items()])


MOST_MARKINGS = 200


def markings(c):
    """The smallest markings of a condition that is upward closed, if these are not too many; each a set of (place, number)."""

    def smallest(found):
        if len(found) > MOST_MARKINGS:
            return None
        found = {frozenset(m.items()): m for m in found}.values()
        above = lambda m, n: m != n and all(m.get(p, 0) >= k for p, k in n.items())
        return [m for m in found if not any(above(m, n) for n in found)]

    def of(c):
        if c in (DEAD, LIVE):
            return None
        if c[0] == AT_LEAST:
            if any(n < 0 for _, n in c[1]):
                return None
            partial = [({}, c[2])]
            for i, (p, n) in enumerate(c[1]):
                grown = []
                for chosen, left in partial:
                    most = max(0, -(-left // n))
                    for k in [most] if i + 1 == len(c[1]) else range(most + 1):
                        grown.append(({**chosen, p: k} if k else chosen, left - k * n))
                        if len(grown) > MOST_MARKINGS:
                            return None
                partial = grown
            return smallest([m for m, _ in partial])
        each = [of(part) for part in c[1]]
        if None in each:
            return None
        if c[0] == ANY:
            return smallest([m for ms in each for m in ms])
        both = lambda a, b: {p: max(a.get(p, 0), b.get(p, 0)) for p in {*a, *b}}
        found = [{}]
        for ms in each:
            if len(found) * len(ms) > MOST_MARKINGS:
                return None
            found = smallest([both(a, b) for a in found for b in ms])
        return found

    found = of(c)
    return None if found is None else {frozenset(m.items()) for m in found}


def numbering(local):
    """Local states as numbers, in the order of the input."""
    return int if isinstance(local, Numbers) else {l: i for i, l in enumerate(local)}.__getitem__


# Asks for the largest value of a sum.
Largest = namedtuple("Largest", "sum")

# What must not be reached: configurations that cover one of a set; of these, those that satisfy a condition, if there is one.
Bad = namedtuple("Bad", "configs condition", defaults=[None])


def read_contest(text, local, rules):
    """Formulas of the model-checking contest that ask what can be reached; others are left out."""
    import xml.etree.ElementTree as tree

    known, by_name, index = set(local), {}, numbering(local)
    for r in rules:
        by_name.setdefault(r.name, []).append(r)
    tag = lambda e: e.tag.split("}")[-1]

    class LeftOut(Exception):
        pass

    def number(e, sign, counts, terms):
        """Adds places to `terms`; gives the constant."""
        if tag(e) == "integer-constant":
            return sign * int(e.text)
        if tag(e) == counts:
            for place in e:
                name = (place.text or "").strip()
                if tag(place) != "place" or name not in known:
                    raise LeftOut
                terms.append((index(name), sign))
            return 0
        if tag(e) == "integer-sum":
            return sum(number(part, sign, counts, terms) for part in e)
        if tag(e) == "integer-difference" and len(e):
            return number(e[0], sign, counts, terms) + sum(number(part, -sign, counts, terms) for part in e[1:])
        raise LeftOut

    def compare(a, b, least):
        terms = []
        constant = number(a, 1, "tokens-count", terms) + number(b, -1, "tokens-count", terms)
        return at_least(terms, least - constant)

    def formula(e):
        kind = tag(e)
        if kind in ("true", "false"):
            return TRUE if kind == "true" else FALSE
        if kind == "negation" and len(e) == 1:
            return negated(formula(e[0]))
        if kind in ("conjunction", "disjunction"):
            return join(ALL if kind == "conjunction" else ANY, [formula(part) for part in e])
        if kind == "implication" and len(e) == 2:
            return join(ANY, [negated(formula(e[0])), formula(e[1])])
        if kind in ("deadlock", "is-deadlock"):
            return DEAD
        if kind == "is-fireable":
            named = [by_name.get((t.text or "").strip()) for t in e]
            if None in named:
                raise LeftOut
            return join(ANY, [covering(r.take, index) for rs in named for r in rs])
        if not kind.startswith("integer-") or len(e) != 2:
            raise LeftOut
        a, b = e
        both = lambda how, least: join(how, [compare(a, b, least), compare(b, a, least)])
        found = {
            "integer-le": lambda: compare(b, a, 0),
            "integer-lt": lambda: compare(b, a, 1),
            "integer-ge": lambda: compare(a, b, 0),
            "integer-gt": lambda: compare(a, b, 1),
            "integer-eq": lambda: both(ALL, 0),
            "integer-ne": lambda: both(ANY, 1),
        }
        if kind not in found:
            raise LeftOut
        return found[kind]()

    def target(e):
        if tag(e) == "place-bound":
            terms = []
            number(e, 1, "place-bound", terms)
            sum_ = at_least(terms, 1)
            return Largest(sum_[1])
        if len(e) != 1 or len(e[0]) != 1:
            raise LeftOut
        if (tag(e), tag(e[0])) == ("exists-path", "finally"):
            return formula(e[0][0])
        if (tag(e), tag(e[0])) == ("all-paths", "globally"):
            return negated(formula(e[0][0]))
        raise LeftOut

    try:
        root = tree.fromstring(text)
    except tree.ParseError as why:
        raise Unreadable("no XML: %s" % why)
    targets = []
    for property_ in root:
        formulas = [e for e in property_ if tag(e) == "formula"]
        try:
            if len(formulas) == 1 and len(formulas[0]) == 1:
                targets.append(target(formulas[0][0]))
        except LeftOut:
            pass
    if not targets:
        raise Unreadable("no formula that can be checked")
    return targets


def read_prop(path, shared, local, rules):
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        text = file.read()
    if text.lstrip().startswith("<"):
        return read_contest(text, local, rules)
    lines = [line.split("#")[0] for line in text.split("\n")]
    targets = [read_target(line, shared, local) for line in lines if line.strip()]
    if not targets:
        raise Unreadable("no target in " + path)
    return targets


def read_tts(text, _):
    lines = lines_of(text)
    header = []
    while lines and len(header) < 2:  # it may be spread over lines, and an edge may follow on the last of them
        header, lines[0] = header + lines[0][: 2 - len(header)], lines[0][2 - len(header) :]
        lines = [words for words in lines if words]
    if len(header) < 2 or not all(n.isascii() and n.isdigit() and int(n) > 0 for n in header):
        raise Unreadable("the file must begin with two numbers")
    shared, local = (Numbers(int(n)) for n in header)
    edges = [[str(int(w)) if w.isdigit() else w for w in words] for words in lines if is_edge(words)]
    targets = [read_target(" ".join(words), shared, local) for words in lines if not is_edge(words)]
    initial = [read_config("0/0", shared, local)]
    return System(shared, local, read_edges(edges, shared, local), False, initial, targets)


def read_ntts(text, _):
    lines = lines_of(text)
    names, edges = {"shared": [], "local": []}, [words for words in lines if is_edge(words)]
    for words in lines:
        if words[0] in names and not is_edge(words):
            names[words[0]] += words[1:]
        elif words[0] not in ("init", "target", "means") and not is_edge(words):
            raise Unreadable("unexpected " + words[0])
    shared, local = names["shared"], names["local"]
    if not shared or not local:
        raise Unreadable("no states are declared")
    about = lambda what: [" ".join(words[1:]) for words in lines if words[0] == what and not is_edge(words)]
    initial = [read_initial(part, shared, local) for part in about("init") or ["unbounded"]]
    targets = [read_target(part, shared, local) for part in about("target")]
    return System(shared, local, read_edges(edges, shared, local), False, initial, targets)


NAME = r"[A-Za-z_][\w.$]*(?:\[\])*"


def spelled(names):
    """What rules call variables: their names, or these without odd characters, if that is no other's."""
    words = ((".", "dot"), ("$", "dollar"), ("[", "leftbracket"), ("]", "rightbracket"))
    found = {}
    for name in names:
        plain = name
        for sign, word in words:
            plain = plain.replace(sign, word)
        found[plain] = name if plain not in found else None
    return {**found, **{name: name for name in names}}


def read_conditions(text, names):
    """`x >= 1, y = 2  z in [0, 3]`: conjunctions of variable -> least, most."""
    found, at, goes_on = [], 0, False
    pattern = re.compile(r"\s*(" + NAME + r")\s*(?:>=\s*(\d+)|=\s*(\d+)|\bin\s*\[\s*(\d+)\s*,\s*(\d+)\s*\])\s*(,?)", re.ASCII)
    while text[at:].strip() or goes_on:
        part = pattern.match(text, at)
        if not part or part.group(1) not in names:
            raise Unreadable("no condition: " + text[at:].strip()[:40])
        name, least, equal, low, high, comma = part.groups()
        if not goes_on:
            found.append({})
        if name in found[-1]:
            raise Unreadable("a second condition about " + name)
        found[-1][name] = (int(least), OMEGA) if least else (int(equal or low), int(equal or high))
        at, goes_on = part.end(), bool(comma)
    return found


def read_spec(text, init_free):
    text = re.sub(r"#.*", "", text)
    sections = r"\bvars\b(.*?)\brules\b(.*?)\binit\b(.*?)(?:\btarget\b(.*?))?(?:\binvariants\b.*)?"
    found = re.fullmatch(r"\s*" + sections, text, re.S)
    if not found:
        raise Unreadable("no vars, rules, init")
    names, rules = found.group(1).split(), []
    targets = read_conditions(found.group(4) or "", names)
    init = read_conditions(found.group(3), names)
    if len(init) > 1:
        raise Unreadable("a second init")
    init = init[0] if init else {}
    free = [x for x in names if (init_free if x not in init else init[x][1] == OMEGA)]
    ranges = [[(x, n) for n in range(low, low + 1 if most == OMEGA else most + 1)] for x, (low, most) in init.items()]
    initial = [(config("0", dict(case)), free) for case in product(*ranges)]
    if not initial:
        raise Unreadable("there is no initial marking")
    words = spelled(names)
    for part in found.group(2).split(";"):
        if "->" not in part:
            continue
        guard, update = part.split("->")
        rules += net_rule(words, guard, update)
    parts = found.group(2).split("->")[:-1]
    tested = {words.get(x) for part in parts for x in re.findall("(" + NAME + r")\s*=\s*0+(?!\d)", part.split(";")[-1])}
    complements, most = [], MOST_GROWTH * found.group(2).count("->")
    for x in [x for x in names if free and x in tested and x not in free and init.get(x, (0, 0)) in ((0, 0), (1, 1))]:
        not_x = "not_" + x
        while not_x in names:
            not_x += "_"
        split = complemented(rules, x, not_x)
        if split is not None and len(split) <= most:
            rules, names = split, names + [not_x]
            complements.append((x, not_x))
    initial = [complete(family, complements) for family in initial]
    if any(most != OMEGA for target in targets for _, most in target.values()):
        if len(initial) > 1 or free or any(r.fates for r in rules):
            raise Skipped("a target with an upper bound")  # becomes a place and rules of its own
    targets = [spec_target(target, numbering(names)) for target in targets]
    return System(["0"], names, rules, True, initial, targets, complements)


MOST_GROWTH = 4  # complements that make more times as many rules are left out


def complemented(rules, x, not_x):
    """Rules that keep a token on `not_x` wherever there is none on `x`; None if there may be more than one on `x`."""
    found = []
    for r in rules:
        take, put, fate = r.take[x], r.put[x], r.fates.get(x, [x])
        if any(x in to for y, to in r.fates.items() if y != x) or fate not in ([], [x], [None]):
            return None
        if not take and not put and fate == [x]:
            found.append(r)
            continue
        for old in (0, 1):
            if old < take or old > take and not fate:
                continue
            new = put + (old - take if fate == [x] else 0)
            if new > 1:
                return None
            rest = {y: to for y, to in r.fates.items() if y != x}
            taken, left = Counter(r.take), Counter(r.put)
            for tokens, n in (taken, old), (left, new):
                tokens[x], tokens[not_x] = n, 1 - n
            if +taken != +left or rest:
                found.append(r._replace(take=+taken, put=+left, fates=rest))
    return found


def complete(family, complements):
    """The same start, with a token for each complement that is missing."""
    start, free = family
    tokens = Counter(dict(start[1]))
    for x, not_x in complements:
        if x in free or not_x in free or tokens[x] + tokens[not_x] > 1:
            raise Unreadable("%s is 0 or 1, and %s is its complement" % (x, not_x))
        if not tokens[x]:
            tokens[not_x] = 1
    return config(start[0], +tokens), free


def spec_target(target, index):
    """Configurations to cover; if there are upper bounds, a condition."""
    if all(most == OMEGA for _, most in target.values()):
        return [config("0", {x: least for x, (least, _) in target.items()})]
    least = [(AT_LEAST, ((index(x), 1),), low) for x, (low, _) in target.items() if low > 0]
    most = [(AT_LEAST, ((index(x), -1),), -high) for x, (_, high) in target.items() if high != OMEGA]
    return join(ALL, least + most)


def net_rule(names, guard, update):
    def known(word):
        if names.get(word) is None:
            raise Unreadable("no variable " + word)
        return names[word]

    take, blocked = Counter(), set()
    for g in filter(None, (g.strip() for g in guard.split(","))):
        at_least = re.fullmatch("(" + NAME + r")\s*>=\s*(\d+)", g)
        exactly = re.fullmatch("(" + NAME + r")\s*=\s*(\d+)", g)
        if not (at_least or exactly):
            if g == "true":
                continue
            raise Skipped("guard " + g)
        name, n = (at_least or exactly).groups()
        name = known(name)
        if name in take:
            raise Skipped("two conditions about " + name)
        take[name] = int(n)
        if exactly:
            blocked.add(name)
    updates = [u.split("=", 1) for u in update.split(",") if u.strip()]
    term = r"([+-]?)\s*(%s|\d+)" % NAME
    word = lambda w: w if w.isdigit() else known(w)
    terms = lambda right: [(sign, word(w)) for sign, w in re.findall(term, right)]
    updates = {known(x.strip(" '\n\t\r")): terms(right) for x, right in updates}
    put, to = Counter(), {}  # `to`: where the tokens of a place go
    for x, terms in updates.items():
        for sign, term in terms:
            if term.isdigit():
                put[x] += -int(term) if sign == "-" else int(term)
            elif sign == "-" or term in to:
                raise Skipped("an update that is not a transfer: " + update.strip())
            else:
                to[term] = x
        sources = [term for _, term in terms if not term.isdigit()]
        short = -put[x] - sum(take[y] for y in sources)
        if short > 0:  # the guard is raised
            free = [y for y in sources if y not in blocked]
            if len(free) != 1:
                raise Skipped("an update below zero: " + update.strip())
            take[free[0]] += short
    for x in updates:
        to.setdefault(x, None)
    for y, n in take.items():
        put[to.get(y, y)] += n
    del put[None]
    fates = {y: [x] for y, x in to.items() if x != y}
    if +take == +put and not fates:
        return []  # changes nothing, and is not a step
    fates.update({y: [] for y in blocked})
    return [Rule("0", "0", +take, +put, Counter(), fates)]


def read_pnml(text, _):
    import xml.etree.ElementTree as tree

    places, arcs, transitions, marking = [], [], [], Counter()
    try:
        elements = [tree.fromstring(text)]
    except tree.ParseError as why:
        raise Unreadable("no XML: %s" % why)
    while elements:  # in the order of the text
        e = elements.pop()
        tag = e.tag.split("}")[-1]
        if tag in ("toolspecific", "graphics", "name"):
            continue
        elements.extend(reversed(e))
        number = lambda i: next((t.text for t in i if t.tag.endswith("text")), i.text)
        written = [number(i) for i in e if i.tag.endswith("inscription")]
        if tag.startswith("reference"):
            raise Skipped(tag)
        if tag == "place":
            places.append(e.get("id"))
            marked = [number(i) for i in e if i.tag.endswith("initialMarking")]
            marking[places[-1]] = int(marked[0]) if marked else 0
        elif tag == "transition":
            transitions.append(e.get("id"))
        elif tag == "arc":
            arcs.append((e.get("source"), e.get("target"), int(written[0]) if written else 1))
    rules = []
    for t in transitions:
        take, put = Counter(), Counter()
        for source, target, n in arcs:
            if target == t:
                take[source] += n
            if source == t:
                put[target] += n
        rules.append(Rule("0", "0", take, put, Counter(), {}, t))
    return System(["0"], places, rules, True, [(config("0", marking), [])], [])


READERS = {"tts": read_tts, "ntts": read_ntts, "spec": read_spec, "pnml": read_pnml}

# ── the layout of certificates: each function takes a value and how deep it is nested, and returns it if it fits ──

DEEPEST = 127


class Twice(dict):
    """An object with a key that occurs twice."""


def no_part(value):
    raise Unreadable("this is not a certificate: unexpected %s" % repr(value)[:60])


def whole(low, high):
    return lambda value, depth: value if type(value) is int and low <= value < high else no_part(value)


def text_of(value, depth):
    if type(value) is not str:
        no_part(value)
    value.encode("utf-8")  # half of a surrogate pair is not text
    return value


def flag(value, depth):
    return value if type(value) is bool else no_part(value)


def deeper(depth):
    if depth >= DEEPEST:
        raise Unreadable("this is not a certificate: nested too deeply")
    return depth + 1


def maybe(shape):
    return lambda value, depth: None if value is None else shape(value, depth)


def listed(shape):
    def check(value, depth):
        if type(value) is not list:
            no_part(value)
        depth = deeper(depth)
        return [shape(v, depth) for v in value]

    return check


def row(*shapes):
    def check(value, depth):
        if type(value) is not list or len(value) != len(shapes):
            no_part(value)
        depth = deeper(depth)
        return [shape(v, depth) for shape, v in zip(shapes, value)]

    return check


def table(shape):
    def check(value, depth):
        if not isinstance(value, dict):
            no_part(value)
        depth = deeper(depth)
        return {text_of(k, depth): shape(v, depth) for k, v in value.items()}

    return check


def record(fields, optional=(), default=None):
    """An object with these keys and no others, or their values in this order. Those that are `optional` may be missing and are null then; those
    with a default may be missing and are that."""
    default = default or {}

    def check(value, depth):
        if type(value) is list and len(fields) - len(default) <= len(value) <= len(fields):
            value = dict(zip(fields, value))
        elif type(value) is not dict or not set(value) <= set(fields):
            no_part(value)
        elif not set(fields) - set(value) <= {*optional, *default}:
            raise Unreadable("this is not a certificate: something is missing in %s" % repr(value)[:60])
        depth = deeper(depth)
        missing = {key: default.get(key) for key in fields if key not in value}
        return {**missing, **{key: fields[key](v, depth) for key, v in value.items()}}

    return check


def choice(*words, **kinds):
    """One of the words, or an object with one key, which says what its value is."""

    def check(value, depth):
        if type(value) is str and value in words:
            return value
        if type(value) is not dict or len(value) != 1:
            no_part(value)
        ((key, inner),) = value.items()
        depth = deeper(depth)
        if key in words and inner is None:
            return key
        name = key.replace("-", "_")
        return {key: kinds[name](inner, depth)} if name in kinds and "_" not in key else no_part(value)

    return check


def either(word, shape):
    return lambda value, depth: word if value in (word, {word: None}) else shape(value, depth)


natural, integer = whole(0, 2**32), whole(-(2**63), 2**63)
count = either("any", natural)
configuration = row(natural, listed(row(natural, count)))
configurations = record({"configurations": listed(configuration)})
taken = record({"by": maybe(natural), "does": text_of, "after": configuration}, ["by"])
weights = record({"shared": listed(row(natural, integer)), "local": listed(row(natural, integer))})
leaf = record(
    {"shared": listed(row(natural, integer)), "local": listed(row(natural, integer)), "drops": listed(integer)}
)
branch = choice(split=listed(natural), leaf=leaf)
block = row(natural, listed(natural), maybe(listed(natural)))
sum_shape = listed(row(natural, integer))


def condition_shape(value, depth):
    key = next(iter(value)) if type(value) is dict and len(value) == 1 else value
    if key == "at-least":
        return {key: row(sum_shape, integer)(value[key], deeper(depth))}
    return choice("dead", "live", all=listed(condition_shape), any=listed(condition_shape))(value, depth)


case = choice(
    split=natural, linear=record({"weights": sum_shape, "comparisons": sum_shape, "traps": sum_shape})
)
evidence = choice(
    trace=record({"start": configuration, "steps": listed(taken)}),
    closed=configurations,
    downward=configurations,
    invariants=record(
        {
            "views": maybe(listed(block)),
            "vectors": listed(weights),
            "basis": listed(configuration),
            "trees": listed(listed(branch)),
        },
        ["views"],
        {"trees": []},
    ),
    refutation=record({"traps": listed(listed(natural)), "cases": listed(case)}),
    through=record(
        {
            "kept": listed(natural),
            "merged": listed(row(maybe(natural), listed(natural))),
            "proof": lambda value, depth: evidence(value, depth),
        }
    ),
    reduced=record(
        {
            "visible": listed(natural),
            "reductions": listed(choice("prune", drop=natural, pre=natural, post=natural)),
            "proof": lambda value, depth: evidence(value, depth),
        }
    ),
    localised=record({"parts": listed(lambda value, depth: local_part(value, depth))}),
)
local_part = record(
    {"kept": natural, "classes": listed(row(natural, listed(natural))), "at": listed(natural), "proof": evidence}
)
values = table(whole(0, 256))
shared_values = record({"atomic": flag, "values": values}, default={"atomic": False})
local_values = record({"at": text_of, "values": values})
named = lambda shape: lambda value, depth: value if type(value) is str else shape(value, depth)
property_shape = choice(
    "assertions",
    "deadlock",
    error_label=text_of,
    mutex=text_of,
    at_most=text_of,
    never=text_of,
    race=text_of,
    stuck=text_of,
    invariant=text_of,
    state=text_of,
    covers=listed(configuration),
    satisfies=condition_shape,
)
certificate_shape = record(
    {
        "format": text_of,
        "version": natural,
        "tool": text_of,
        "input": record({"name": text_of, "kind": text_of, "hash": text_of}),
        "problem": record(
            {
                "initial": choice(
                    main=count,
                    families=listed(
                        record(
                            {"shared": natural, "threads": listed(row(natural, natural)), "any": listed(natural)}
                        )
                    ),
                ),
                "bound": choice("any", threads=natural, tokens=natural),
                "slot_reuse": flag,
                "init_free": flag,
            }
        ),
        "states": record({"shared": listed(named(shared_values)), "local": listed(named(local_values))}),
        "targets": listed(
            record(
                {
                    "name": text_of,
                    "property": property_shape,
                    "verdict": choice("safe", "unsafe"),
                    "evidence": natural,
                }
            )
        ),
        "undecided": listed(text_of),
        "evidence": listed(evidence),
        "cutoff": maybe(
            record(
                {
                    "threads": natural,
                    "runs": listed(row(maybe(natural), maybe(natural), configuration)),
                    "reachable": listed(row(natural, natural, natural)),
                    "rest": natural,
                    "except": listed(row(natural, natural, natural)),
                    "needed": maybe(
                        record({"state": row(natural, natural), "configurations": listed(configuration)})
                    ),
                },
                ["needed"],
            )
        ),
    },
    default={"undecided": [], "cutoff": None},
)


def read_certificate(path):
    pairs = lambda found: (dict if len({k for k, _ in found}) == len(found) else Twice)(found)
    number = lambda digits: -0.0 if digits == "-0" else int(digits)
    with open(path, encoding="utf-8") as file:
        doc = json.load(file, object_pairs_hook=pairs, parse_int=number, parse_constant=no_part)
    if type(doc) is dict and doc.get("format") == "throng-c-certificate":
        raise Skipped("c")
    doc = certificate_shape(doc, 0)
    if doc["format"] != "throng-certificate" or doc["version"] not in (1, 2):
        raise Unreadable("no certificate of versions 1 and 2")
    return doc


# ── what a rule does ──


def config(shared, threads):
    return shared, frozenset((l, n) for l, n in threads.items() if n > 0)


def covers(big, small):
    have = dict(big[1])
    return big[0] == small[0] and all(have.get(l, 0) >= n for l, n in small[1])


def spread(count, options):
    """Every way for `count` threads to choose among options; any number choose them all."""
    if count == OMEGA:
        return [Counter({o: OMEGA for o in options})]
    return [Counter(choice) for choice in combinations_with_replacement(options, count)]


def fire(r, c, bound):
    """All configurations that a rule leads to."""
    shared, rest = c[0], Counter(dict(c[1]))
    if shared != r.src or any(rest[l] < n for l, n in r.take.items()):
        return []
    for l, n in r.take.items():
        rest[l] -= n
    ways = [[Counter({l: n})] if l not in r.fates else spread(n, r.fates[l]) for l, n in rest.items() if n > 0]
    found = set()
    size = sum(rest.values()) + sum(r.put.values()) + sum(r.spawn.values())
    for way in product(*ways):
        after = Counter(r.put)
        if bound is None or size <= bound:
            after.update(r.spawn)
        for moved in way:
            after.update(moved)
        after.pop(None, None)
        if bound is None or sum(after.values()) <= bound:
            found.add(config(r.dst, after))
    return found


def predecessors(r, c):
    """The smallest configurations from which a rule leads above `c`."""
    if c[0] != r.dst:
        return
    rest = Counter(dict(c[1])) - r.put - r.spawn
    back = lambda l: ([] if l in r.fates else [l]) + [p for p, qs in r.fates.items() if l in qs]
    for way in product(*[spread(n, back(l)) for l, n in rest.items()]):
        before = Counter(r.take)
        for moved in way:
            before.update(moved)
        yield config(r.src, before)


# ── the rules of docs/formats.md ──


def about(condition):
    """The places that a condition is about; None if it asks what can move."""
    if condition in (DEAD, LIVE):
        return {None}
    if condition[0] == AT_LEAST:
        return {p for p, _ in condition[1]}
    return set().union(*map(about, condition[1]))


def two(threads):
    """The threads one by one; two stand for more."""
    return [l for l, n in threads.items() for _ in range(2 if n > 1 else 1) if n > 0]


def together(group, threads):
    """Whether these threads can be built of the views of one shared state."""
    want = two(threads)
    return all(a in group for a in want) and all(b in group[a] for a, b in combinations(want, 2))


class Decoder:
    def __init__(self, system, doc):
        self.system, self.doc = system, doc
        self.index = numbering(system.local)
        self.names = {"shared": system.shared, "local": system.local}
        problem = doc["problem"]
        bound = problem["bound"]
        self.threads = bound.get("threads") if isinstance(bound, dict) else None
        self.tokens = bound.get("tokens") if isinstance(bound, dict) else None
        need(self.tokens is None if not system.net else self.threads is None, "the bound is for another kind of input")
        need(self.threads != 0, "a bound of no threads")
        need("families" in problem["initial"], "systems start in families")
        self.families = []
        for f in problem["initial"]["families"]:
            threads = self.config([f["shared"], f["threads"]])
            self.families.append((threads, [self.local(l) for l in f["any"]]))

        order = self.index
        self.led = {}  # rules by shared state and leader, the first local state that they take
        for r in system.rules:
            leader = min(r.take, key=order) if r.take else None
            self.led.setdefault((r.src, leader), []).append(r)

    def rules_from(self, shared, locals):
        """Rules that may fire where these local states occur."""
        return [r for l in [None, *locals] for r in self.led.get((shared, l), ())]

    def state(self, which, i):
        names = self.doc["states"][which]
        need(i < len(names), "no %s state number %s" % (which, i))
        need(type(names[i]) is str and names[i] in self.names[which], "the input has no state %s" % names[i])
        return names[i]

    def local(self, i):
        return self.state("local", i)

    def config(self, c, omega=False):
        shared, listed = c
        threads = Counter()
        for l, n in listed:
            need(n != "any" or omega, "`any` counts only in downward sets")
            need(n == "any" or 0 < n < 2**31, "a count is 0 or too large")
            threads[self.local(l)] += OMEGA if n == "any" else n
        need(sum(n for _, n in listed if n != "any") < 2**31, "a configuration has too many threads")
        return config(self.state("shared", shared), threads)

    def is_blocking(self):
        return any(not to for r in self.system.rules for to in r.fates.values())

    def initial(self, most):
        """Every initial configuration within the bound; at most `most` threads, if that is not None."""
        for (shared, threads), free in self.families:
            threads, free = Counter(dict(threads)), sorted(set(free))
            room = 0 if most is None else most - sum(threads.values())
            if not free:
                ways = [()] if room >= 0 else []
            elif self.tokens is not None:
                ranges = [[[l] * n for n in range(max(0, self.tokens - threads[l]) + 1)] for l in free]
                ways = (sum(way, []) for way in product(*ranges))
            else:
                need(most is not None, "a finite set cannot hold every initial configuration")
                ways = (way for k in range(room + 1) for way in combinations_with_replacement(free, k))
            for extra in ways:
                yield config(shared, threads + Counter(extra))

    def is_initial(self, c):
        for (shared, least), free in self.families:
            more = Counter(dict(c[1]))
            more.subtract(dict(least))
            ok = c[0] == shared and all(n >= 0 and (n == 0 or l in free) for l, n in more.items())
            if ok and self.tokens is not None:
                ok = all(n == 0 or dict(c[1])[l] <= self.tokens for l, n in more.items())
            if ok and (self.threads is None or sum(n for _, n in c[1]) <= self.threads):
                return True
        return False

    def omega_families(self):
        for (shared, threads), free in self.families:
            yield config(shared, Counter(dict(threads)) + Counter({l: OMEGA for l in free}))

    def trace(self, bad, start, steps):
        now = self.run(start, steps)
        need(self.is_bad(now, bad), "the run ends in a configuration that is not bad")

    def run(self, start, steps):
        """The last configuration of a run."""
        now = self.config(start)
        need(self.is_initial(now), "the run starts elsewhere")
        for i, step in enumerate(steps):
            after = self.config(step["after"])
            need(self.leads(now, step["by"], after, self.threads), "step %d leads elsewhere" % (i + 1))
            now = after
        return now

    def is_bad(self, c, bad):
        """Whether a configuration is in a target: covers one of a set, or satisfies a condition."""
        covered = any(covers(c, b) for b in bad.configs)
        return covered and (bad.condition is None or self.satisfies(c, bad.condition))

    def satisfies(self, c, condition):
        if condition in (DEAD, LIVE):
            moves = any(fire(r, c, None) for r in self.rules_from(c[0], dict(c[1])))
            return moves == (condition == LIVE)
        if condition[0] == AT_LEAST:
            have = {self.index(p): n for p, n in c[1]}
            return sum(n * have.get(p, 0) for p, n in condition[1]) >= condition[2]
        return (all if condition[0] == ALL else any)(self.satisfies(c, part) for part in condition[1])

    def has_ended(self, l):
        """Whether no rule ever takes a thread from a local state, or moves it."""
        moves = lambda r: l in r.take or any(to != l for to in r.fates.get(l, ()))
        return not any(moves(r) for r in self.system.rules)

    def is_deadlock(self, c):
        stuck = not any(fire(r, c, self.threads) for r in self.rules_from(c[0], dict(c[1])))
        return stuck and not all(self.has_ended(l) for l, _ in c[1])

    def deadlock(self, evidence):
        """A run into a deadlock, a closed set without one, or views and vectors: the threads of a deadlock are all in local states that cannot move alone."""
        ((kind, body),) = evidence.items()
        if kind == "trace":
            last = self.run(**body)
            return need(self.is_deadlock(last), "the run does not end in a deadlock")
        if kind == "closed":
            self.closed(Bad(frozenset()), **body)
            for c in map(self.config, body["configurations"]):
                need(not self.is_deadlock(c), "a member is a deadlock: %s" % (c,))
            return
        need(
            kind == "invariants" and body["views"] is not None and not body["basis"] + body["trees"],
            "%s is not a proof" % kind,
        )
        need(self.threads is None and self.tokens is None, "this is sound for any number of threads only")
        need(not self.is_blocking(), "threads block others by their presence")
        linear = [(*self.vector(signed=True, **v), [], []) for v in body["vectors"]]
        groups = self.closed_views(body["views"], linear)
        if any(n < 0 for v in body["vectors"] for _, n in v["local"]):
            for s, group in groups.items():
                for r in self.rules_from(s, group):
                    vanishes = together(group, r.take) and any(None in r.fates.get(b, ()) for b in group)
                    need(not vanishes, "bystanders may vanish that count less than nothing")
        for s, group in groups.items():
            if self.led.get((s, None)):
                continue
            alone = lambda r, l: r.take == Counter([l])
            stuck = [l for l in group if not any(alone(r, l) for r in self.led.get((s, l), ()))]
            for l in stuck:
                others = [o for o in stuck if o in group[l]]
                too_much = lambda v: v[0](s, {l: 1}) > v[1] and all(v[2](o) >= 0 for o in others)
                need(self.has_ended(l) or any(map(too_much, linear)), "a deadlock with %s | %s is not ruled out" % (s, l))

    def leads(self, before, by, after, bound):
        """Whether a step led by a thread at `by` leads from one configuration to another."""
        by = None if by is None else self.local(by)
        return any(after in fire(r, before, bound) for r in self.led.get((before[0], by), ()))

    def forward(self, bad, members, starts, inside, bound, counts=lambda c: True):
        """The set holds every start, its steps lead into it, and no member is bad."""
        for c in starts:
            need(inside(c), "an initial configuration is missing: %s" % (c,))
        for m in members:
            need(not self.is_bad(m, bad), "a member is bad: %s" % (m,))
            for r in self.rules_from(m[0], dict(m[1])):
                for after in fire(r, m, bound):
                    need(not counts(after) or inside(after), "%s leads outside to %s" % (m, after))

    def closed(self, bad, configurations):
        members = {self.config(c) for c in configurations}
        self.forward(bad, members, self.initial(self.threads), members.__contains__, self.threads)

    def downward(self, bad, configurations):
        need(not self.is_blocking(), "threads block others by their presence")
        members = [self.config(c, True) for c in configurations]
        by_shared, known = {}, set(members)
        for shared, threads in members:
            by_shared.setdefault(shared, []).append(dict(threads))

        def below(c):
            near = by_shared.get(c[0], ())
            return c in known or any(all(m.get(l, 0) >= n for l, n in c[1]) for m in near)

        # What members stand for is more than themselves: a condition says nothing about them.
        self.forward(Bad(bad.configs), members, self.omega_families(), below, None)

    def invariants(self, bad, views, vectors, basis, trees):
        bad = bad.configs
        if views is None:
            need(not vectors + trees, "vectors without views")
            return self.upward(bad, [self.config(c) for c in basis], lambda c: False)
        trees = [[(*self.vector(**v), [], [])] for v in vectors] + [self.leaves(tree) for tree in trees]
        groups = self.closed_views(views, [leaf for tree in trees for leaf in tree])

        def excludes(leaf, c):
            value, most, _, never, entered = leaf
            return any(c[0] in states for states in never) or value(*c) > most - sum(n for _, n in entered)

        def ruled_out(c):
            by_views = c[0] not in groups or not together(groups[c[0]], dict(c[1]))
            return by_views or any(all(excludes(leaf, c) for leaf in tree) for tree in trees)

        if basis:
            return self.upward(bad, [self.config(c) for c in basis], ruled_out)
        for b in bad:
            need(ruled_out(b), "a bad configuration is not ruled out: %s" % (b,))

    def upward(self, bad, basis, ruled_out):
        if not bad and not basis:
            return
        above = lambda c: any(covers(c, b) for b in basis) or ruled_out(c)
        for b in bad:
            need(above(b), "a bad configuration is above no element: %s" % (b,))
        for b in basis:
            need(not any(covers(f, b) for f in self.omega_families()), "an initial configuration is above %s" % (b,))
            for r in self.system.rules:
                for before in predecessors(r, b):
                    need(above(before), "%s leads to %s and is above no element" % (before, b))

    def views(self, blocks):
        """Shared state -> local state -> those that may be there together with it."""
        groups = {}
        for s, left, right in blocks:
            group = groups.setdefault(self.state("shared", s), {})
            left = {self.local(l) for l in left}
            right = left if right is None else {self.local(l) for l in right}
            for a in left | right:
                group.setdefault(a, set()).update(right if a in left else (), left if a in right else ())
        return groups

    def closed_views(self, blocks, linear):
        groups = self.views(blocks)

        def hold(s, threads):
            need(s in groups and together(groups[s], threads), "a view is missing among %s | %s" % (s, threads))

        for (s, threads), free in self.families:
            hold(s, Counter(dict(threads)) + Counter({l: 2 for l in set(free)}))
        for s, group in groups.items():
            for r in self.rules_from(s, group):
                if not together(group, r.take):
                    continue
                hold(r.dst, r.put + r.spawn)
                after = groups[r.dst]
                by = set(group).intersection(*(group[t] for t in r.take))
                fates = {b: {f for f in r.fates.get(b, [b]) if f is not None} for b in by}
                for value, _, count, never, entered in linear:
                    if any(s in states or r.dst in states for states in never):
                        continue
                    drop = sum(n for states, n in entered if s not in states and r.dst in states)
                    grows = value(r.dst, r.put) + value(None, r.spawn) + drop > value(s, r.take)
                    grows |= any(count(f) > count(b) for b in by for f in fates[b])
                    need(not grows, "a vector grows: %s" % (r,))
                fated = set().union(*fates.values())
                need(fated <= set(after), "a view is missing: a bystander with %s" % r.dst)
                for p in r.put + r.spawn:
                    need(fated <= after[p], "a view is missing: %s | %s with a bystander" % (r.dst, p))
                for b in by if r.src != r.dst or r.fates else ():
                    partners = set().union(*(fates[c] for c in by & group[b]))
                    for f in fates[b]:
                        need(partners <= after[f], "a view is missing: %s | %s with a bystander" % (r.dst, f))
        return groups

    def vector(self, shared, local, signed=False):
        """The sum that a vector gives a configuration, what no reachable one exceeds, and what a thread counts."""
        of_shared = {self.state("shared", s): n for s, n in shared}
        of_local = {self.local(l): n for l, n in local}
        need(signed or all(n >= 0 for n in of_local.values()), "a vector is negative at a local state")
        count = lambda l: of_local.get(l, 0)
        value = lambda s, threads: of_shared.get(s, 0) + sum(count(l) * n for l, n in dict(threads).items())
        for _, free in self.families:
            need(all(count(l) <= 0 for l in free), "any number of threads may start where a vector counts")
        return value, max((value(s, threads) for (s, threads), _ in self.families), default=-OMEGA), count

    def leaves(self, tree):
        """The cases of runs: a vector for those that are never in some sets of shared states, and enter others, each time with a drop."""
        waiting, found = [[]], []
        for node in tree:
            need(waiting, "a tree has more nodes than parts")
            above = waiting.pop()
            if "split" in node:
                states = {self.state("shared", s) for s in node["split"]}
                need(len(above) < 64, "a tree is too deep")
                need(not any(s in states for (s, _), _ in self.families), "a run starts where it should enter")
                waiting += [above + [(states, True)], above + [(states, False)]]
            else:
                drops = node["leaf"]["drops"]
                entered = [states for states, enters in above if enters]
                need(len(drops) == len(entered) and all(n >= 0 for n in drops), "a leaf lacks a drop")
                vector = self.vector(node["leaf"]["shared"], node["leaf"]["local"])
                never = [states for states, enters in above if not enters]
                found.append((*vector, never, list(zip(entered, drops))))
        need(not waiting, "a tree lacks a part")
        return found

    def through(self, bad, kept, merged, proof):
        """Local states are taken for others; the rules into and out of all shared states but `kept` become one."""
        need(not any(r.fates for r in self.system.rules), "a rule moves bystanders")
        pairs = [(self.state("local", l), to) for to, ls in merged for l in ls]
        image = {l: None if to is None else self.state("local", to) for l, to in pairs}
        need(len(image) == len(pairs), "a state is taken for two")

        def merge(threads):
            found = Counter()
            for l, n in dict(threads).items():
                found[image.get(l, l)] += n
            del found[None]
            return found

        rules = [rule(r.src, r.dst, merge(r.take), merge(r.put + r.spawn)) for r in self.system.rules]
        skipped = {s for r in rules for s in (r.src, r.dst)} - {self.state("shared", s) for s in kept}
        leaving = {}
        for r in rules:
            leaving.setdefault(r.src, []).append(r)
        need(self.threads is None and self.tokens is None, "states are passed through for any number of threads")
        need(not any(c[0] in skipped for c in bad.configs), "a skipped state is bad")
        need(not any(c[0] in skipped for c, _ in self.families), "a skipped state is initial")
        tails = {}  # the paths from a skipped state to a kept one

        def extend(r):
            first = rule(r.src, r.dst, r.take, r.put + r.spawn)
            if r.dst not in skipped:
                return [first]
            join = lambda t: Rule(
                r.src, t.dst, r.take + (t.take - first.put), t.put + (first.put - t.take), Counter(), {}
            )
            return [join(t) for t in tails[r.dst]]

        begun, waiting = set(), list(skipped)
        while waiting:  # paths may be long: no recursion
            m = waiting[-1]
            later = {r.dst for r in leaving.get(m, ()) if r.dst in skipped and r.dst not in tails}
            if m in tails or not later:
                tails.setdefault(m, [w for r in leaving.get(m, ()) for w in extend(r)])
                waiting.pop()
                continue
            need(m not in begun, "a cycle stays within the skipped states")
            begun.add(m)
            waiting.extend(later)
        whole = [w for r in rules if r.src not in skipped for w in extend(r)]
        need("through" not in proof, "states are passed through once")
        smaller = Decoder(self.system._replace(rules=whole), self.doc)
        images = lambda free: {image.get(l, l) for l in free} - {None}
        smaller.families = [(config(s, merge(c)), images(free)) for (s, c), free in self.families]
        changed = {self.index(l) for l in (*image, *image.values()) if l is not None}
        kept = bad.condition is not None and about(bad.condition).isdisjoint(changed | {None})
        smaller.safe(Bad([config(s, merge(c)) for s, c in bad.configs], bad.condition if kept else None), proof)

    def reduced(self, bad, visible, reductions, proof):
        """A net is made smaller; `visible` places, which the question is about, stay as they are."""
        need(self.threads is None and self.tokens is None, "nets are reduced for any number of tokens")
        need(len(self.families) == 1 and not self.families[0][1], "nets with one initial marking are reduced")
        ((shared, start), _), start = self.families[0], Counter(dict(self.families[0][0][1]))
        plain = all(r.src == r.dst == shared and not r.fates for r in self.system.rules)
        need(plain, "only nets are reduced")
        asked = set() if bad.condition is None else about(bad.condition)
        need(None not in asked, "which steps are possible is not kept")
        seen = {self.local(l) for l in visible}
        places = {l for _, threads in bad.configs for l, _ in threads}
        need(places <= seen and asked <= {self.index(l) for l in seen}, "a place of the question is not visible")
        rules, links, known = {}, {}, set()

        def add(take, put):
            key = frozenset(take.items()), frozenset(put.items())
            if key[0] == key[1] or key in known:
                return
            known.add(key)
            i = add.next = add.next + 1
            rules[i] = take, put
            for l in {*take, *put}:
                links.setdefault(l, set()).add(i)

        def remove(i):
            take, put = rules.pop(i)
            known.discard((frozenset(take.items()), frozenset(put.items())))
            for l in {*take, *put}:
                links[l].discard(i)
            return take, put

        def drop(l):
            for i in list(links.get(l, ())):
                add(*({m: n for m, n in side.items() if m != l} for side in remove(i)))
            start.pop(l, None)

        def prune():
            lacking = {i: len(take) for i, (take, _) in rules.items()}
            marked, waiting = set(), [*start, *(l for take, put in rules.values() if not take for l in put)]
            while waiting:
                l = waiting.pop()
                for i in () if l in marked else links.get(l, ()):
                    lacking[i] -= l in rules[i][0]
                    if not lacking[i]:
                        waiting.extend(rules[i][1])
                marked.add(l)
            for i in [i for i, n in lacking.items() if n]:
                remove(i)
            matter, places, waiting = set(), set(), [*seen]
            while waiting:
                l = waiting.pop()
                for i in () if l in places else links.get(l, ()):
                    change = rules[i][1].get(l, 0) - rules[i][0].get(l, 0)
                    if change > 0 or change and l in seen:
                        matter.add(i)
                        waiting.extend(rules[i][0])
                places.add(l)
            for i in set(rules) - matter:
                remove(i)
            for l in {*links, *start} - places:
                drop(l)

        def agglomerate(l, post):
            into = [i for i in links.get(l, ()) if l in rules[i][1]]
            out = [i for i in links.get(l, ()) if l in rules[i][0]]
            need(into and out and not set(into) & set(out), "%s is not passed through" % l)
            inner, outer, near = (out, into, 0) if post else (into, out, 1)
            far, w = 1 - near, rules[inner[0]][near][l]
            for i in inner:
                need(rules[i][near] == {l: w} and seen.isdisjoint(rules[i][far]), "more than %s is changed" % l)
            fits = lambda n: n % w == 0 and (n == w or len(inner) == 1)
            need(all(fits(rules[i][far][l]) for i in outer), "numbers of tokens do not fit")
            waiting = start.pop(l, 0)
            need(not waiting or post and len(inner) == 1 and fits(waiting), "numbers of tokens do not fit")
            times = lambda n, threads: Counter({m: n * k for m, k in threads.items()})
            start.update(times(waiting // w, rules[inner[0]][far]) if waiting else ())
            new = []
            for i in outer:
                for j in inner:
                    whole = list(rules[i])
                    rest = Counter({m: k for m, k in whole[far].items() if m != l})
                    whole[far] = dict(rest + times(rules[i][far][l] // w, rules[j][far]))
                    new.append(whole)
            for i in into + out:
                remove(i)
            for take, put in new:
                add(take, put)

        add.next = 0
        for r in self.system.rules:
            add(dict(r.take), dict(r.put + r.spawn))
        for one in reductions:
            kind, l = (one, None) if one == "prune" else ((k, self.local(i)) for k, i in one.items()).__next__()
            need(l not in seen, "the question is about %s" % l)
            prune() if l is None else drop(l) if kind == "drop" else agglomerate(l, kind == "post")
        need("reduced" not in proof, "a net is reduced once")
        smaller = Decoder(self.system._replace(rules=[rule(shared, shared, *r) for r in rules.values()]), self.doc)
        smaller.families = [(config(shared, start), ())]
        smaller.safe(bad, proof)

    def refutation(self, bad, traps, cases):
        """Cases of what is bad, each of which contradicts the state equation."""
        rules, index = self.system.rules, self.index
        states = {s for r in rules for s in (r.src, r.dst)} | {c[0] for c, _ in self.families}
        plain = not any(r.fates for r in rules) and len(states) == 1 and self.threads is None
        need(plain, "state equations are about nets")
        traps = [{index(self.local(l)) for l in trap} for trap in traps]
        holds = lambda threads, trap: any(index(l) in trap for l, n in dict(threads).items() if n > 0)
        for trap in traps:
            need(all(holds(c[1], trap) for c, _ in self.families), "a trap is empty at the start")
            stays = all(holds(r.put + r.spawn, trap) or not holds(r.take, trap) for r in rules)
            need(stays, "a rule can empty a trap")
        whole = join(ANY, [covering(c[1], index) for c in bad.configs])
        if bad.condition is not None:
            whole = join(ALL, [whole, bad.condition])

        def assume(held, part):
            comparisons, open_ = held
            if part[0] == AT_LEAST:
                return [*comparisons, part], open_
            if part[0] == ANY:
                return comparisons, [*open_, part[1]]
            for inner in part[1]:
                comparisons, open_ = assume((comparisons, open_), inner)
            return comparisons, open_

        waiting = [assume(([], []), counted(whole, rules, index))]
        for case_ in cases:
            need(waiting, "there are more cases than parts")
            comparisons, open_ = waiting.pop()
            if "split" in case_:
                which = case_["split"]
                need(which < len(open_), "a disjunction that is split is not open")
                rest = comparisons, open_[:which] + open_[which + 1 :]
                waiting += [assume(rest, part) for part in reversed(open_[which])]
                continue
            body = case_["linear"]
            weights = [(index(self.local(l)), n) for l, n in body["weights"]]
            need(len(dict(weights)) == len(weights), "a state has two weights")
            weights = dict(weights)
            value = lambda threads: sum(weights.get(index(l), 0) * n for l, n in dict(threads).items())
            need(all(value(r.put) + value(r.spawn) <= value(r.take) for r in rules), "a sum grows")
            for _, free in self.families:
                need(all(weights.get(index(l), 0) <= 0 for l in free), "any number may start where a sum counts")
            used, asked = Counter(), 0
            for chosen, available in ((body["comparisons"], comparisons), (body["traps"], traps)):
                for which, times in chosen:
                    need(which < len(available) and 0 <= times <= 2**40, "what is used is not there")
                    comparison = available[which]
                    if isinstance(comparison, set):
                        comparison = (AT_LEAST, [(p, 1) for p in comparison], 1)
                    asked += comparison[2] * times
                    for p, n in comparison[1]:
                        used[p] += n * times
            need(all(used[p] <= weights.get(p, 0) for p in {*used, *weights}), "more is used than the sum has")
            start = max((value(c[1]) for c, _ in self.families), default=-OMEGA)
            need(asked > start, "the required value of the sum does not exceed its value at the start")
        need(not waiting, "a case is left open")

    def safe(self, bad, evidence):
        ((kind, body),) = evidence.items()
        need(kind in ("closed", "downward", "invariants", "refutation", "through", "reduced"), "%s is not a proof" % kind)
        getattr(self, kind)(bad, **body)

    def evidence(self, place):
        pieces = self.doc["evidence"]
        need(place < len(pieces), "the evidence is not there")
        return pieces[place]

    def answers(self, asked):
        """Whether it answers what is asked: families, bound, targets; None for what `throng cutoff` asks."""
        families, bound, targets, deadlock = asked
        as_set = lambda families: {(c, frozenset(free)) for c, free in families}
        same = as_set(self.families) == as_set(families)
        need(same, "answers another question: it starts elsewhere")
        mine = self.tokens if self.system.net else self.threads
        need(mine == bound, "answers another question: its bound is %s, that of the question %s" % (mine, bound))
        if targets is None:
            return
        found = {}
        for target in self.doc["targets"]:
            key = "deadlock" if target["property"] == "deadlock" else self.bad(target)
            found.setdefault(key, []).append(target["verdict"])
        asked = [t if isinstance(t, Largest) else self.sought(t) for t in targets] + ["deadlock"] * deadlock
        shown = lambda t: self.shows_largest(t.sum, found) if isinstance(t, Largest) else t in found
        open_ = [t for t in asked if not shown(t)]
        reached = any("unsafe" in found.get(t, ()) for t in asked if not isinstance(t, Largest))
        need(reached or not open_, "answers another question: nothing is said about %s" % open_[:1])

    def sought(self, target):
        """What a target of the question asks for, as certificates express it: configurations, or a condition unless it is upward closed."""
        if not isinstance(target, tuple):
            return Bad(frozenset(target))
        smallest = markings(target)
        if smallest is None:
            return Bad(frozenset([config("0", {})]), target)
        name = self.system.local.__getitem__
        return Bad(frozenset(config("0", {name(p): n for p, n in m}) for m in smallest))

    def shows_largest(self, sum_, found):
        """Whether it is shown that a sum reaches some value and not the next one."""
        everything = frozenset([config("0", {})])
        at = lambda least: found.get(Bad(everything, (AT_LEAST, sum_, least)), ())
        if not sum_:
            return "safe" in found.get(Bad(everything, FALSE), ())
        values = [b.condition[2] for b in found if b != "deadlock" and b.condition and b.condition[:2] == (AT_LEAST, sum_)]
        return any("safe" in at(n) and (n == 1 or "unsafe" in at(n - 1)) for n in values)

    def condition(self, c):
        if c in ("dead", "live"):
            return DEAD if c == "dead" else LIVE
        ((kind, body),) = c.items()
        if kind == "at-least":
            found = at_least([(self.index(self.local(l)), n) for l, n in body[0]], body[1])
            need(found[0] == AT_LEAST, "a comparison is decided without a configuration")
            return found
        return join(ALL if kind == "all" else ANY, [self.condition(part) for part in body])

    def bad(self, target):
        if "satisfies" in target["property"]:
            need(self.system.shared == ["0"], "conditions are about nets")
            return Bad(frozenset([config("0", {})]), self.condition(target["property"]["satisfies"]))
        need("covers" in target["property"], "systems have configurations as targets")
        return Bad(frozenset(self.config(c) for c in target["property"]["covers"]))

    def judge(self):
        shared = {}  # targets that share their evidence are checked once
        for target in self.doc["targets"]:
            about_deadlock = target["property"] == "deadlock"
            bad = [] if about_deadlock else self.bad(target)
            evidence = self.evidence(target["evidence"])
            is_run = "trace" in evidence
            need(is_run == (target["verdict"] == "unsafe"), "this is not evidence for %s" % target["verdict"])
            if about_deadlock:
                self.deadlock(evidence)
            elif is_run:
                self.trace(bad, **evidence["trace"])
            elif bad.condition is None and "refutation" not in evidence:
                shared.setdefault(target["evidence"], set()).update(bad.configs)
            else:
                self.safe(bad, evidence)
        for place, configs in shared.items():
            self.safe(Bad(configs), self.evidence(place))
        if self.doc.get("cutoff") is not None:
            self.cutoff(**self.doc["cutoff"])

    def cutoff(self, threads, runs, reachable, rest, **more):
        need(self.threads is None and self.tokens is None, "a cutoff is about any number of threads")
        size = lambda c: sum(n for _, n in c[1])
        nodes, listed = [], set()
        for before, by, c in runs:
            c = self.config(c)
            need(size(c) <= threads, "a run has more threads: %s" % (c,))
            need(before is None or 0 <= before < len(nodes), "a node of the runs precedes its parent")
            fits = self.is_initial(c) if before is None else self.leads(nodes[before], by, c, None)
            need(fits, "a run does not lead to %s" % (c,))
            nodes.append(c)
        for s, l, at in reachable:
            s, l = self.state("shared", s), self.local(l)
            need(0 <= at < len(nodes) and covers(nodes[at], config(s, {l: 1})), "no run reaches %s | %s" % (s, l))
            listed.add((s, l))
        reached = set(listed)
        ruled_out = {}
        for s, l, why in more["except"]:
            s, l = self.state("shared", s), self.local(l)
            ruled_out.setdefault(why, []).append(config(s, {l: 1}))
            listed.add((s, l))
        for why, bad in ruled_out.items():
            self.safe(Bad(bad), self.evidence(why))
        ((kind, body),) = self.evidence(rest).items()
        self.safe(Bad([]), self.evidence(rest))
        if kind == "downward":
            held = {(c[0], l) for c in (self.config(c, True) for c in body["configurations"]) for l, _ in c[1]}
        else:
            need(kind == "invariants" and body["views"] is not None and not body["vectors"] + body["trees"] + body["basis"],
                 "%s does not contain all reachable thread states" % kind)
            held = {(s, l) for s, group in self.views(body["views"]).items() for l in group}
        need(held <= listed, "nothing is said about whether %s can be reached" % (held - listed))
        if more["needed"] is not None:
            s, l = more["needed"]["state"]
            need((self.state("shared", s), self.local(l)) in reached, "the needed state is not reached")
            state = config(self.state("shared", s), {self.local(l): 1})
            members = {self.config(c) for c in more["needed"]["configurations"]}
            fewer = max(threads - 1, 0)
            few = lambda c: size(c) <= fewer
            self.forward(Bad([state]), members, self.initial(fewer), members.__contains__, None, few)


def read_question(system, path, options, kind, about_cutoff):
    """What `throng check` asks about this input with these options; None without them: whatever the certificate states."""
    if options.its_own_question:
        return None
    programs = (options.error_label, options.mutex, options.at_most, options.never, options.race)
    if any(programs) or options.stuck or options.invariant:
        raise Unreadable("labels and expressions are for programs")
    shared, local = system.shared, system.local
    initial, bound = system.initial, options.threads
    if options.initial is not None:
        initial = [complete(read_initial(options.initial, shared, local), system.complements)]
    least = min(sum(n for _, n in c[1]) for c, _ in initial)
    if bound == 0 or bound is not None and not system.net and least > bound:
        raise Unreadable("more threads exist at the start than are allowed")
    if about_cutoff and not options.target and options.prop is None and not options.deadlock:
        return initial, bound, None, False
    targets = [read_target(text, shared, local) for text in options.target]
    beside = os.path.splitext(path)[0] + (".xml" if kind == "pnml" else ".prop")
    if options.prop is not None:
        targets += read_prop(options.prop, shared, local, system.rules)
    elif not targets and kind != "spec" and os.path.isfile(beside):
        targets += read_prop(beside, shared, local, system.rules)
    targets = targets or system.targets
    if not targets and not options.deadlock:
        raise Unreadable("there is nothing to check: no target is given")
    return initial, bound, targets, options.deadlock


def check(path, certificate, options):
    try:
        doc = read_certificate(certificate)
        kind = (options.kind or path.rsplit(".", 1)[-1]).lower().replace("ttd", "tts")
        if kind not in READERS:
            raise Skipped(kind)
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            system = READERS[kind](file.read(), options.init_free)
        about_cutoff = not doc["targets"] and doc["cutoff"] is not None
        asked = read_question(system, path, options, kind, about_cutoff)
        need(doc["targets"] or doc["cutoff"] is not None, "it answers nothing")
        need(doc["input"]["kind"] == kind, "the certificate is about another kind of input")
        decoder = Decoder(system, doc)
        if asked is not None:
            decoder.answers(asked)
        decoder.judge()
        return 0, "VALID" if asked is not None else "VALID for the certificate's own question"
    except Invalid as why:
        return 10, "INVALID %s" % why
    except Skipped as why:
        return 0, "SKIPPED %s" % why
    except Unreadable as why:
        return 2, "UNREADABLE %s" % why
    except Exception as why:  # whatever it is, there is no answer
        return 2, "UNREADABLE %s: %s" % (type(why).__name__, why)


def main(arguments):
    usage = "certify.py [OPTIONS] INPUT CERTIFICATE [INPUT CERTIFICATE ...]"
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(usage=usage, description=__doc__, formatter_class=form, allow_abbrev=False)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--from", dest="kind", choices=["bp", "nbp", "tts", "ttd", "ntts", "spec", "pnml"])
    parser.add_argument("--initial")
    parser.add_argument("--threads", type=lambda n: int(n) if re.fullmatch("[0-9]+", n) else parser.error(n))
    for option in ("--target", "--error-label", "--mutex", "--at-most", "--never", "--race", "--stuck", "--invariant"):
        parser.add_argument(option, action="append", default=[])
    parser.add_argument("--deadlock", action="store_true")
    parser.add_argument("--prop")
    parser.add_argument("--init-free", action="store_true")
    parser.add_argument("--no-slot-reuse", action="store_true")
    parser.add_argument("--its-own-question", action="store_true")
    options = parser.parse_intermixed_args(arguments)
    if len(options.files) % 2:
        parser.error("an input without a certificate")
    asked = {k: v for k, v in vars(options).items() if k not in ("files", "kind", "its_own_question")}
    if options.its_own_question and any(v is not None and v not in ([], False) for v in asked.values()):
        parser.error("--its-own-question leaves nothing to ask for")
    worst = 0
    for path, certificate in zip(options.files[::2], options.files[1::2]):
        status, text = check(path, certificate, options)
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        print("%s  %s" % (certificate, shown), flush=True)
        worst = max(worst, status, key=[0, 10, 2].index)
    return worst


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))
