(* Runs: the evidence for UNSAFE. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import FMapPositive MSetPositive.
Require Import System Multiset Firing Index.
Import ListNotations.

Definition mem (x : positive) (l : list positive) : bool := existsb (Pos.eqb x) l.
Lemma mem_In x l : mem x l = true <-> In x l.
Proof.
  unfold mem. rewrite existsb_exists. split; [intros (y & I & E); apply Pos.eqb_eq in E; congruence | exists x; split; [auto | apply Pos.eqb_refl]].
Qed.
Definition starts_withinb (bd : bound) (c extra : bag) : bool :=
  match bd with Tokens n => forallb (fun l => N.leb (many c l) n) (support extra) | _ => within bd (total c) end.
Definition initialb (bd : bound) (sys : system) (c : counted) : bool :=
  existsb (fun f => Pos.eqb (fst c) (at_shared f) && leb (fixed f) (snd c)
                    && forallb (fun l => mem l (any f)) (support (minus (snd c) (fixed f)))
                    && starts_withinb bd (snd c) (minus (snd c) (fixed f))) (families sys).
Definition leads (bd : bound) (ix : rule_index) (c : counted) (by_ : option positive) (d : counted) : bool :=
  existsb (fun r => Pos.eqb (fst c) (src r) && Pos.eqb (fst d) (dst r) && existsb (eqb (snd d)) (fire bd r (snd c)))
    (rules_led ix (fst c) by_).
Definition coversb (c t : counted) : bool := Pos.eqb (fst c) (fst t) && leb (snd t) (snd c).

Definition written (c : counted) : config := (fst c, threads (snd c)).
Lemma coversb_covers c t : coversb c t = true <-> covers (written c) t.
Proof. unfold coversb, covers. rewrite andb_true_iff, Pos.eqb_eq, leb_sub. reflexivity. Qed.
Lemma initialb_initial bd sys c : initialb bd sys c = true -> initial bd sys (written c).
Proof.
  intros H. apply existsb_exists in H as (f & I & H). apply andb_true_iff in H as [H W]. apply andb_true_iff in H as [H A].
  apply andb_true_iff in H as [E S]. apply Pos.eqb_eq in E. apply leb_sub in S. rewrite forallb_forall in A.
  exists f, (threads (minus (snd c) (fixed f))). split; [auto|]. split; [auto|]. split; [|split].
  - apply Forall_forall. intros l J. apply mem_In, A, support_In, J.
  - apply perm_cnt. intros x. rewrite sub_cnt in S. specialize (S x). simpl. rewrite cnt_app, cnt_minus. lia.
  - destruct bd; simpl in *; try rewrite total_size in W; auto. rewrite forallb_forall in W. apply Forall_forall. intros l J.
    apply support_In, W, N.leb_le in J. fold (cnt (threads (snd c)) l). rewrite cnt_threads. lia.
Qed.
Lemma leads_step bd sys rs c by_ d : incl rs (rules sys) -> leads bd (index_rules rs) c by_ d = true -> step bd sys (written c) (written d).
Proof.
  intros Inc H. apply existsb_exists in H as (r & I & H). apply andb_true_iff in H as [H F]. apply andb_true_iff in H as [A B].
  apply Pos.eqb_eq in A, B. apply existsb_exists in F as (d' & J & P). apply eqb_perm in P. apply rules_led_In, Inc in I.
  eapply (fire_sound bd sys r (written c) (snd c) (written d) d'); simpl; eauto.
Qed.

Definition taken_steps := list (option positive * counted).
Fixpoint check_steps (bd : bound) (ix : rule_index) (now : counted) (later : taken_steps) : bool :=
  match later with [] => true | (by_, d) :: t => leads bd ix now by_ d && check_steps bd ix d t end.
Fixpoint ends (now : counted) (later : taken_steps) : counted := match later with [] => now | (_, d) :: t => ends d t end.
(* Rules that leave no shared state of the run are not indexed. *)
Definition visited (start : counted) (later : taken_steps) : PS.t := fold_right (fun e => PS.add (fst (snd e))) (PS.add (fst start) PS.empty) later.
Definition check_run (bd : bound) (sys : system) (start : counted) (later : taken_steps) : bool :=
  let there := visited start later in
  initialb bd sys start && check_steps bd (index_rules (filter (fun r => PS.mem (src r) there) (rules sys))) start later.
Definition check_trace (bd : bound) (sys : system) (targets : list counted) (start : counted) (later : taken_steps) : bool :=
  check_run bd sys start later && existsb (coversb (ends start later)) targets.

Lemma check_run_reachable bd sys start later : check_run bd sys start later = true -> reachable bd sys (written (ends start later)).
Proof.
  intros H. apply andb_true_iff in H as [I H]. apply initialb_initial, reachable_start in I.
  set (rs := filter _ _) in H. assert (Inc : incl rs (rules sys)) by (intros r J; apply filter_In in J; tauto). clearbody rs.
  revert start I H. induction later as [|[by_ d] later IH]; simpl; intros now R H; [exact R|].
  apply andb_true_iff in H as [L H]. apply (IH d); [|exact H]. apply reachable_step with (written now); [exact R | exact (leads_step _ _ _ _ _ _ Inc L)].
Qed.
Theorem check_trace_sound bd sys targets start later :
  check_trace bd sys targets start later = true -> reaches bd sys targets.
Proof.
  intros H. apply andb_true_iff in H as [R H]. apply check_run_reachable in R. apply existsb_exists in H as (t & J & C).
  exists (written (ends start later)), t. apply coversb_covers in C. auto.
Qed.
