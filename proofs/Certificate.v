(* What an accepted piece of evidence means: one function and one theorem for each kind of property. *)
Require Import List Bool NArith PArith.
Require Import FMapPositive MSetPositive.
Require Import System Property Multiset Firing Index Packed Trace Closed Downward Views Basis Invariants Quotient Condition Deadlock Refutation.
Import ListNotations.

Inductive proof :=
| Closed_ (D : list packed_config)
| Downward_ (D : downward)
| Invariants_ (V : option views) (vs : vectors) (B : basis)
| Refutation_ (x : refutation).
Inductive evidence :=
| Trace_ (start : counted) (later : taken_steps)
| Proof_ (e : proof)
| Through_ (m : merging) (kept : PS.t) (fuel : nat) (e : proof).
Inductive verdict := Safe | Unsafe | Invalid.

Definition check_proof (bd : bound) (e : proof) (sys : system) (targets : list counted) : bool :=
  match e with
  | Closed_ D => check_closed bd sys targets D
  | Downward_ D => check_downward sys targets D
  | Invariants_ V vs B => check_invariants sys targets V vs B
  | Refutation_ x => check_refutation bd sys (covering_one targets) x
  end.
Definition check (bd : bound) (sys : system) (targets : list counted) (e : evidence) : verdict :=
  match e with
  | Trace_ s l => if check_trace bd sys targets s l then Unsafe else Invalid
  | Proof_ e => if check_proof bd e sys targets then Safe else Invalid
  | Through_ m kept fuel e =>
    match bd with
    | Any => if check_quotient sys targets m kept fuel (check_proof Any e) then Safe else Invalid
    | _ => Invalid
    end
  end.

Lemma check_proof_sound bd e sys targets : check_proof bd e sys targets = true -> ~ reaches bd sys targets.
Proof.
  destruct e as [D|D|V vs B|x]; simpl; [apply check_closed_sound | apply check_downward_sound | apply check_invariants_sound |].
  intros H (c & t & R & I & C). apply (check_refutation_sound _ _ _ _ H). exists c. split; [exact R | exact (covering_one_spec sys c t targets I C)].
Qed.

Theorem check_sound bd sys targets e :
  (check bd sys targets e = Safe -> ~ reaches bd sys targets) /\
  (check bd sys targets e = Unsafe -> reaches bd sys targets).
Proof.
  destruct e as [s l | e | m kept fuel e]; simpl.
  - destruct check_trace eqn:E; split; try discriminate. intros _. eapply check_trace_sound; eauto.
  - destruct check_proof eqn:E; split; try discriminate. intros _. eapply check_proof_sound; eauto.
  - destruct bd; [| split; discriminate | split; discriminate]. destruct check_quotient eqn:E; split; try discriminate.
    intros _. eapply check_quotient_sound; eauto. intros q ts. apply check_proof_sound.
Qed.
Print Assumptions check_sound.

(* Conditions: runs, closed sets and refutations, also of a quotient that changes nothing that the condition is about. *)
Definition check_condition_proof (bd : bound) (k : condition) (e : proof) (sys : system) : bool :=
  match e with
  | Closed_ D => check_condition_set bd sys k D
  | Refutation_ x => check_refutation bd sys k x
  | _ => false
  end.
Definition one_kept_state (sys : system) (kept : PS.t) : bool :=
  match families sys with [] => false | f :: _ => one_state (at_shared f) sys && PS.mem (at_shared f) kept end.
Lemma check_condition_proof_sound bd k e sys : check_condition_proof bd k e sys = true -> ~ meets bd sys (fun c => satisfies sys c k).
Proof. destruct e as [D|D|V vs B|x]; simpl; try discriminate; [apply check_condition_set_sound | apply check_refutation_sound]. Qed.
Lemma check_condition_quotient_sound sys k m kept fuel e : keeps_condition m k = true -> one_kept_state sys kept = true ->
  check_quotient sys [] m kept fuel (fun q _ => check_condition_proof Any k e q) = true -> ~ meets Any sys (fun c => satisfies sys c k).
Proof.
  intros K O H (c & R & S). unfold one_kept_state in O. destruct (families sys) as [|f fs]; [discriminate|]. apply andb_true_iff in O as [O1 O2].
  destruct (check_quotient_reachable sys [] m kept fuel _ c H R) as (q & Hq & Rq); [rewrite (one_state_reachable Any _ sys c O1 R); exact O2|].
  apply (check_condition_proof_sound _ _ _ _ Hq). exists (merge_config m c). split; [exact Rq | exact (satisfies_merge m sys q c k K S)].
Qed.
Definition check_condition (bd : bound) (sys : system) (k : condition) (e : evidence) : verdict :=
  match e with
  | Trace_ s l => if check_condition_run bd sys k s l then Unsafe else Invalid
  | Proof_ e => if check_condition_proof bd k e sys then Safe else Invalid
  | Through_ m kept fuel e =>
    match bd with
    | Any => if keeps_condition m k && one_kept_state sys kept && check_quotient sys [] m kept fuel (fun q _ => check_condition_proof Any k e q)
             then Safe else Invalid
    | _ => Invalid
    end
  end.
Theorem check_condition_sound bd sys k e :
  (check_condition bd sys k e = Safe -> ~ meets bd sys (fun c => satisfies sys c k)) /\
  (check_condition bd sys k e = Unsafe -> meets bd sys (fun c => satisfies sys c k)).
Proof.
  destruct e as [s l | e | m kept fuel e]; simpl.
  - destruct check_condition_run eqn:E; split; try discriminate. intros _. eapply check_condition_run_sound; eauto.
  - destruct check_condition_proof eqn:E; split; try discriminate. intros _. eapply check_condition_proof_sound; eauto.
  - destruct bd; [| split; discriminate | split; discriminate]. destruct (_ && _ && _) eqn:E; split; try discriminate. intros _.
    apply andb_true_iff in E as [E E3]. apply andb_true_iff in E as [E1 E2]. exact (check_condition_quotient_sound sys k m kept fuel e E1 E2 E3).
Qed.
Print Assumptions check_condition_sound.

(* Deadlocks: runs, closed sets, and for any number of threads views with vectors. *)
Definition no_trees (vs : vectors) : bool := match by_cases vs with [] => true | _ => false end.
Definition check_deadlock (bd : bound) (sys : system) (e : evidence) : verdict :=
  match e, bd with
  | Trace_ s l, _ => if check_deadlock_run bd sys s l then Unsafe else Invalid
  | Proof_ (Closed_ D), _ => if check_deadlock_set bd sys D then Safe else Invalid
  | Proof_ (Invariants_ (Some V) vs B), Any => if PM.is_empty B && no_trees vs && check_deadlock_invariants sys V (of_all_runs vs) then Safe else Invalid
  | _, _ => Invalid
  end.
Theorem check_deadlock_sound bd sys e :
  (check_deadlock bd sys e = Safe -> ~ meets bd sys (deadlock bd sys)) /\
  (check_deadlock bd sys e = Unsafe -> meets bd sys (deadlock bd sys)).
Proof.
  destruct e as [s l | [D|D|[V|] vs B|x] | m kept fuel e]; simpl; try (split; discriminate).
  - destruct check_deadlock_run eqn:E; split; try discriminate. intros _. eapply check_deadlock_run_sound; eauto.
  - destruct check_deadlock_set eqn:E; split; try discriminate. intros _. eapply check_deadlock_set_sound; eauto.
  - destruct bd; try (split; discriminate). destruct (PM.is_empty B && _ && _) eqn:E; split; try discriminate. intros _.
    apply andb_true_iff in E as [_ E]. eapply check_deadlock_invariants_sound; eauto.
Qed.
Print Assumptions check_deadlock_sound.
