#!/usr/bin/env python3
"""Programs with a growing parameter, which show where the limits are: grow.py FAMILY N prints one, grow.py without arguments lists the families.

The options that `throng check` needs are in the first line of the output."""

import sys


def bits(name, width):
    return ["%s%d" % (name, i) for i in range(width)]


def plus_one(number):
    """The bits of number + 1, the lowest first."""
    return ["%s ^ (%s)" % (x, " & ".join(number[:i])) if i else "!" + x for i, x in enumerate(number)]


def minus_one(number):
    return ["%s ^ (%s)" % (x, " & ".join("!" + y for y in number[:i])) if i else "!" + x for i, x in enumerate(number)]


def assign(left, right):
    return "%s := %s" % (", ".join(left), ", ".join(right))


def declare(names):
    return "decl %s;" % ", ".join(name + " := 0" for name in names)


def readers(n):
    """A reader-writer lock that counts readers in n bits."""
    count = bits("r", n)
    none = " & ".join("!" + x for x in count)
    return "", """%s
decl writing := 0, in_use := 0;
void main() begin
  while * do
    if * then
      %s constrain !writing & !(%s);
      assert(!in_use);
      %s;
    else
      writing := 1 constrain !writing & %s;
      assert(!in_use);
      in_use := 1; in_use := 0;
      writing := 0;
    fi
  od
end
""" % (declare(count), assign(count, plus_one(count)), " & ".join(count), assign(count, minus_one(count)), none)


def ordered(n):
    """n locks, taken in order, as many as a thread likes: no deadlock."""
    locks = bits("lock", n)
    take = "".join("    if * then %s := 1 constrain !%s; %s := 0; fi;\n" % (x, x, x) for x in locks)
    nested = "".join("  %s := 1 constrain !%s;\n" % (x, x) for x in locks)
    free = "".join("  %s := 0;\n" % x for x in reversed(locks))
    return "--deadlock", "%s\nvoid main() begin\n%s%s%send\n" % (declare(locks), nested, free, take)


def levels(n):
    """Functions that call the one below twice, n levels."""
    text = "decl lock := 0, busy := 0;\nvoid f0() begin\n  lock := 1 constrain !lock;\n  assert(!busy);\n  busy := 1; busy := 0;\n  lock := 0;\nend\n"
    for i in range(1, n + 1):
        text += "void f%d() begin\n  f%d();\n  f%d();\nend\n" % (i, i - 1, i - 1)
    return "", text + "void main() begin\n  f%d();\nend\n" % n


def lines(n):
    """A cache with n lines: a write updates the copies of the others, who keep theirs valid."""
    dirty, owned = bits("dirty", n), bits("mine", n)
    text = declare(dirty) + "\nvoid main() begin\n  %s\n  while * do\n" % declare(owned)
    for d, m in zip(dirty, owned):
        text += "    if * then\n      %s, %s := 1, 1 constrain !%s;\n      assert(%s);\n      %s, %s := 0, 0;\n    fi;\n" % (d, m, d, d, d, m)
    return "", text + "  od\nend\n"


def priorities(n):
    """A queue for each of n priorities that holds at most three items, and a lock: no queue is emptied twice."""
    text, names = "", []
    for i in range(n):
        names += ["low%d" % i, "high%d" % i]
    text = declare(names) + "\ndecl lock := 0;\nvoid main() begin\n  while * do\n    lock := 1 constrain !lock;\n"
    for i in range(n):
        q = ["low%d" % i, "high%d" % i]
        full, empty = " & ".join(q), " & ".join("!" + x for x in q)
        text += "    if * then\n      if !(%s) then %s; fi;\n    else if !(%s) then\n      assert(%s | %s);\n      %s;\n    fi; fi;\n" % (
            full, assign(q, plus_one(q)), empty, q[0], q[1], assign(q, minus_one(q)))
    return "", text + "    lock := 0;\n  od\nend\n"


def singletons(n):
    """n objects, each made by the first thread that finds none, without a lock: one is made twice."""
    made, done = bits("made", n), bits("done", n)
    text = declare(made + done) + "\nvoid main() begin\n"
    for m, d in zip(made, done):
        text += "  if !%s then\n    %s := 1;\n    assert(!%s);\n    %s := 1;\n  fi;\n" % (m, m, d, d)
    return "", text + "end\n"


def named(n):
    """A reader-writer lock with n places for readers, each with a name of its own."""
    place = bits("reader", n)
    text = declare(place) + "\ndecl writer := 0, writing := 0;\nvoid main() begin\n  while * do\n"
    for p in place:
        text += "    if * then %s := 1 constrain !writer & !%s; assert(!writing); %s := 0; fi;\n" % (p, p, p)
    return "", text + """    if * then
      writer := 1 constrain !writer & %s;
      assert(!writing);
      writing := 1;
      writing := 0;
      writer := 0;
    fi
  od
end
""" % " & ".join("!" + p for p in place)


def coherent(n):
    """Caches of n lines: a write takes the copies of all others away, a read their ownership."""
    owned, mine, valid = bits("owned", n), bits("mine", n), bits("valid", n)
    text = declare(owned) + "\nvoid main() begin\n  %s\n  while * do\n" % declare(mine + valid)
    for o, m, v in zip(owned, mine, valid):
        text += "    if * then %s, %s, %s, %s$, %s$ := 1, 1, 1, 0, 0; fi;\n" % (o, m, v, m, v)
        text += "    if * then %s, %s, %s, %s$ := 0, 0, 1, 0; fi;\n" % (o, m, v, m)
        text += "    assert(!%s | (%s & %s));\n" % (m, o, v)
    return "", text + "  od\nend\n"


FAMILIES = [readers, named, ordered, levels, lines, coherent, priorities, singletons]


def main():
    families = {family.__name__: family for family in FAMILIES}
    if len(sys.argv) != 3 or sys.argv[1] not in families or not sys.argv[2].isdigit():
        sys.exit("\n".join("%s N: %s" % (name, family.__doc__) for name, family in families.items()))
    options, text = families[sys.argv[1]](int(sys.argv[2]))
    sys.stdout.write("// throng check %s\n%s" % (options, text))


if __name__ == "__main__":
    main()
