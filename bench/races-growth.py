#!/usr/bin/env python3
"""usage: races-growth.py THRONG [MODULES …]: asks about races of generated programs of growing size,
and prints a table in Markdown. Each module has a list under a lock, functions that call those of two
other modules, and a function that a thread calls."""
import pathlib
import resource
import subprocess
import sys
import tempfile

HEAD = """#include <pthread.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
"""

MODULE = """
struct list_@ { pthread_mutex_t lock; struct node *head; int length; } list_@ = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };
struct node *make_@(int value) {
  struct node *node = malloc(sizeof *node);
  node->value = value;
  node->next = 0;
  return node;
}
void push_@(struct list_@ *list, struct node *node) {
  pthread_mutex_lock(&list->lock);
  node->next = list->head;
  list->head = node;
  list->length++;
  pthread_mutex_unlock(&list->lock);
}
struct node *pop_@(struct list_@ *list) {
  pthread_mutex_lock(&list->lock);
  struct node *node = list->head;
  if (node) {
    list->head = node->next;
    list->length--;
  }
  pthread_mutex_unlock(&list->lock);
  return node;
}
int work_@(int value) {
  push_@(&list_@, make_@(value));
  CALLS
  struct node *node = pop_@(&list_@);
  return node ? node->value : value;
}
void *thread_@(void *argument) {
  for (int i = 0; i < 10; i++)
    work_@(i);
  return argument;
}
"""


def program(modules):
    """Returns a program with so many modules."""
    text = HEAD
    for n in range(modules):
        calls = " ".join(f"value += work_{k}(value);" for k in sorted({n // 2, n // 3}) if k < n)
        text += MODULE.replace("CALLS", calls or "value++;").replace("@", str(n))
    starts = "".join(f"  pthread_create(&t, 0, thread_{n}, 0);\n" for n in range(modules))
    return text + "int main(void) {\n  pthread_t t;\n" + starts + "  return 0;\n}\n"


throng, sizes = sys.argv[1], [int(n) for n in sys.argv[2:]] or [25, 50, 100, 200, 400, 800]
print("| lines | processor time | memory | verdict |")
print("| ---: | ---: | ---: | --- |")
for modules in sizes:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "grown.c"
        path.write_text(program(modules))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [throng, "check", str(path), "--race", "--timeout", "300", "--memory", "4000"]
        ran = subprocess.run([*command, "--jobs", "1", "--json"], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        lines = len(path.read_text().splitlines())
        word = {0: "SAFE", 10: "UNSAFE", 1: "UNKNOWN"}.get(ran.returncode, "refused")
        print(f"| {lines} | {seconds:.1f} s | {after.ru_maxrss >> 10} MB | {word} |", flush=True)
