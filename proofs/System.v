(* Systems with any number of threads: the specification. Nothing is proved in this file; all of it is to be read. *)
Require Import List NArith PArith Permutation.
Require Import FMapPositive MSetPositive.
Import ListNotations.
Module PM := PositiveMap.
Module PS := PositiveSet.

(* 1. Shared states and local states are numbers from 1. A bag says how often each local state occurs, in binary;
   [threads] writes it out as a list. *)
Definition bag := PM.t N.
Definition listed (entries : list (positive * N)) : list positive :=
  flat_map (fun e => repeat (fst e) (N.to_nat (snd e))) entries.
Definition threads (b : bag) : list positive := listed (PM.elements b).

(* 2. A configuration: the shared state, and the local states of all threads, in any order. *)
Definition config := (positive * list positive)%type.

(* 3. A configuration is at least a counted one if it has its shared state and all its threads. *)
Definition counted := (positive * bag)%type.
Definition contains (c b : list positive) := exists rest, Permutation c (b ++ rest).
Definition covers (c : config) (t : counted) := fst c = fst t /\ contains (snd c) (threads (snd t)).

(* 4. A rule: in [src], take the threads [take], put [put], create [spawn], go to [dst]. Every other thread at p goes to one of
   [moves p], independently (None: it vanishes; an empty list: its presence blocks the rule), or stays if p is not listed. *)
Record rule := { src : positive; dst : positive; take : bag; put : bag; spawn : bag; moves : PM.t (list (option positive)) }.
Definition fates (r : rule) (p : positive) : list (option positive) :=
  match PM.find p (moves r) with Some os => os | None => [Some p] end.

(* Those that remain of threads that may vanish. *)
Fixpoint present (os : list (option positive)) : list positive :=
  match os with [] => [] | Some x :: t => x :: present t | None :: t => present t end.

(* 5. Where a system starts: [fixed] threads, and any number of further ones in states of [any]. *)
Record family := { at_shared : positive; fixed : bag; any : list positive }.
Record system := { rules : list rule; families : list family }.

(* 6. Any number of threads; at most n at any time; or, for nets, a place of [any] holds at most n tokens at the start. *)
Inductive bound := Any | Threads (n : N) | Tokens (n : N).
Definition size (c : list positive) : N := N.of_nat (length c).
Definition within (bd : bound) (n : N) : bool := match bd with Threads most => N.leb n most | _ => true end.

(* 7. One step. A step that would exceed the bound creates no threads; if what it puts is too much, there is no step. *)
Inductive step (bd : bound) (sys : system) (c d : config) : Prop :=
  a_step r rest os created :
    In r (rules sys) -> fst c = src r -> fst d = dst r ->
    Permutation (snd c) (threads (take r) ++ rest) ->
    Forall2 (fun p o => In o (fates r p)) rest os ->
    created = (if within bd (size (rest ++ threads (put r) ++ threads (spawn r))) then threads (spawn r) else []) ->
    Permutation (snd d) (threads (put r) ++ created ++ present os) ->
    within bd (size (snd d)) = true ->
    step bd sys c d.

(* 8. Initial configurations. A place that has more than n tokens among the fixed ones gets no further ones. *)
Definition starts_within (bd : bound) (c extra : list positive) : Prop :=
  match bd with
  | Tokens n => Forall (fun l => (N.of_nat (count_occ Pos.eq_dec c l) <= n)%N) extra
  | _ => within bd (size c) = true
  end.
Definition initial (bd : bound) (sys : system) (c : config) : Prop :=
  exists f extra, In f (families sys) /\ fst c = at_shared f /\ Forall (fun l => In l (any f)) extra /\
    Permutation (snd c) (threads (fixed f) ++ extra) /\ starts_within bd (snd c) extra.

(* 9. Reachability. *)
Inductive reachable (bd : bound) (sys : system) : config -> Prop :=
| reachable_start c : initial bd sys c -> reachable bd sys c
| reachable_step c d : reachable bd sys c -> step bd sys c d -> reachable bd sys d.

(* 10. What verdicts are about: some reachable configuration covers a target. *)
Definition reaches (bd : bound) (sys : system) (targets : list counted) : Prop :=
  exists c t, reachable bd sys c /\ In t targets /\ covers c t.
