(* Properties of whole configurations, which larger ones need not have: deadlocks, and conditions on numbers of threads. Nothing is proved in this file; all of
   it is to be read. *)
Require Import List NArith ZArith PArith.
Require Import System.
Import ListNotations.

(* 11. What verdicts about them say: some reachable configuration is bad. *)
Definition meets (bd : bound) (sys : system) (bad : config -> Prop) : Prop := exists c, reachable bd sys c /\ bad c.

(* 12. A deadlock: no step is possible, and some thread has not ended. A thread has ended where no rule takes or moves it. *)
Definition ended (sys : system) (l : positive) : Prop :=
  forall r, In r (rules sys) -> ~ In l (threads (take r)) /\ forall o, In o (fates r l) -> o = Some l.
Definition deadlock (bd : bound) (sys : system) (c : config) : Prop :=
  (forall d, ~ step bd sys c d) /\ exists l, In l (snd c) /\ ~ ended sys l.

(* 13. A condition: a sum of coefficients times numbers of threads is at least so much; no step is possible; some step is; all of these; any of these. *)
Inductive condition :=
| At_least (terms : list (positive * Z)) (least : Z)
| Dead
| Live
| All_of (parts : list condition)
| Any_of (parts : list condition).
Definition value_of (terms : list (positive * Z)) (c : list positive) : Z :=
  fold_right (fun e n => (snd e * Z.of_nat (count_occ Pos.eq_dec c (fst e)) + n)%Z) 0%Z terms.
Fixpoint satisfies (sys : system) (c : config) (k : condition) : Prop :=
  match k with
  | At_least terms least => (least <= value_of terms (snd c))%Z
  | Dead => forall d, ~ step Any sys c d
  | Live => exists d, step Any sys c d
  | All_of parts => fold_right (fun p rest => satisfies sys c p /\ rest) True parts
  | Any_of parts => fold_right (fun p rest => satisfies sys c p \/ rest) False parts
  end.
