(* Runs: the evidence for UNSAFE. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
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
Lemma leads_step bd sys c by_ d : leads bd (index_rules (rules sys)) c by_ d = true -> step bd sys (written c) (written d).
Proof.
  intros H. apply existsb_exists in H as (r & I & H). apply andb_true_iff in H as [H F]. apply andb_true_iff in H as [A B].
  apply Pos.eqb_eq in A, B. apply existsb_exists in F as (d' & J & P). apply eqb_perm in P.
  eapply (fire_sound bd sys r (written c) (snd c) (written d) d'); simpl; eauto using rules_led_In.
Qed.

Fixpoint check_steps (bd : bound) (ix : rule_index) (targets : list counted) (now : counted) (later : list (option positive * counted)) : bool :=
  match later with
  | [] => existsb (coversb now) targets
  | (by_, d) :: t => leads bd ix now by_ d && check_steps bd ix targets d t
  end.
Definition check_trace (bd : bound) (sys : system) (targets : list counted) (start : counted) (later : list (option positive * counted)) : bool :=
  initialb bd sys start && check_steps bd (index_rules (rules sys)) targets start later.

Theorem check_trace_sound bd sys targets start later :
  check_trace bd sys targets start later = true -> reaches bd sys targets.
Proof.
  intros H. apply andb_true_iff in H as [I H]. apply initialb_initial, reachable_start in I.
  revert start I H. induction later as [|[by_ d] later IH]; simpl; intros now R H.
  - apply existsb_exists in H as (t & J & C). exists (written now), t. apply coversb_covers in C. auto.
  - apply andb_true_iff in H as [L H]. apply (IH d); [|exact H]. apply reachable_step with (written now); [exact R | apply leads_step with by_, L].
Qed.
