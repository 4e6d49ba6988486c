/* What programs written for Dartagnan call, as far as it has a meaning here. */
#pragma once

void __VERIFIER_assert(int condition);

/* Executions in which the condition is false are not looked at. */
void __VERIFIER_assume(int condition);

/* Any value. */
int __VERIFIER_nondet_int(void);
unsigned int __VERIFIER_nondet_uint(void);
_Bool __VERIFIER_nondet_bool(void);

/* How often the loop is to be unrolled. It does nothing: loops are not cut short. */
void __VERIFIER_loop_bound(int passes);

/* Marks of waiting loops. They do nothing: waiting loops are recognised as they are. */
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int ends);

/* Waits as long as the condition holds. */
#define await_while(condition) while (condition)
