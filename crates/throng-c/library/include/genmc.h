/* What programs written for GenMC call, as far as it has a meaning here. */
#pragma once

/* Executions in which the condition is false are not looked at. */
void __VERIFIER_assume(int condition);

/* Any value. */
int __VERIFIER_nondet_int(void);

/* Marks of waiting loops. They do nothing: waiting loops are recognised as they are. */
void __VERIFIER_loop_begin(void);
void __VERIFIER_spin_start(void);
void __VERIFIER_spin_end(int ends);
