(* Bases: sets that are closed under predecessors, relative to what is ruled out otherwise. *)
Require Import List Bool Arith NArith PArith Lia Permutation.
Require Import System Multiset Firing Index Trace.
Import ListNotations.

Definition basis := PM.t (list bag).
Definition above (B : basis) (c : config) := exists b, In b (lookup B (fst c)) /\ sub (threads b) (snd c).
(* Elements by one of their local states: what is below a configuration has all its states there. *)
Definition basis_index := PM.t (PM.t (list bag)).
Definition first_key (b : bag) : positive := leader_key (match support b with [] => None | l :: _ => Some l end).
Definition index_basis (B : basis) : basis_index := PM.map (group first_key) B.
Definition aboveb (X : basis_index) (ruled_out : counted -> bool) (c : counted) : bool :=
  match PM.find (fst c) X with
  | None => false
  | Some m => existsb (fun b => leb b (snd c)) (lookup m (leader_key None))
      || existsb (fun l => existsb (fun b => leb b (snd c)) (lookup m (leader_key (Some l)))) (support (snd c))
  end || ruled_out c.
Definition check_rule (B : basis) (X : basis_index) (ruled_out : counted -> bool) (r : rule) : bool :=
  forallb (fun b => forallb (fun w => (Pos.eqb (src r) (dst r) && leb b w) || aboveb X ruled_out (src r, w)) (predecessors r b))
    (lookup B (dst r)).
(* No configuration that starts in the family is above b. *)
Definition starts_below (f : family) (b : bag) : bool :=
  negb (forallb (fun l => mem l (any f)) (support (minus b (fixed f)))).
Definition check_basis (sys : system) (targets : list counted) (B : basis) (ruled_out : counted -> bool) : bool :=
  let X := index_basis B in
  forallb (aboveb X ruled_out) targets
  && forallb (check_rule B X ruled_out) (rules sys)
  && forallb (fun f => forallb (starts_below f) (lookup B (at_shared f))) (families sys).

Section Sound.
  Variables (bd : bound) (sys : system) (B : basis) (ruled_out : counted -> bool).
  Hypothesis ruled_out_sound : forall c d, reachable bd sys c -> covers c d -> ruled_out d = false.
  Lemma aboveb_above c d : reachable bd sys c -> covers c d -> aboveb (index_basis B) ruled_out d = true -> above B c.
  Proof.
    intros R C H. apply orb_true_iff in H as [H|H]; [|rewrite (ruled_out_sound c d R C) in H; discriminate].
    assert (K : exists b, In b (lookup B (fst d)) /\ leb b (snd d) = true).
    { unfold index_basis in H. rewrite find_map in H. unfold lookup at 1. destruct (PM.find (fst d) B) as [bs|]; [|discriminate]. simpl in H.
      assert (E : exists k, existsb (fun b => leb b (snd d)) (lookup (group first_key bs) k) = true).
      { apply orb_true_iff in H as [H|H]; [eauto|]. apply existsb_exists in H as (l & _ & H). eauto. }
      destruct E as [k E]. apply existsb_exists in E as (b & I & S). apply group_iff in I as [I _]. eauto. }
    destruct K as (b & I & S). destruct C as [C1 C2]. exists b. rewrite C1.
    split; [exact I|]. apply leb_sub in S. apply sub_trans with (threads (snd d)); auto.
  Qed.
  Theorem check_basis_sound targets : check_basis sys targets B ruled_out = true -> ~ reaches bd sys targets.
  Proof.
    intros H. unfold check_basis in H. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
    rewrite forallb_forall in H1, H2, H3.
    assert (N : forall c, reachable bd sys c -> ~ above B c).
    { intros c R. induction R as [c I | c d R IH S].
      - destruct I as (f & extra & If & E & A & P & _). intros (b & Ib & Sb). rewrite E in Ib.
        specialize (H3 f If). rewrite forallb_forall in H3. specialize (H3 b Ib).
        apply negb_true_iff in H3. apply Bool.not_true_iff_false in H3. apply H3.
        apply forallb_forall. intros l Il. apply mem_In. rewrite Forall_forall in A. apply A.
        apply support_In, cnt_In in Il. apply cnt_In. rewrite cnt_minus in Il. rewrite sub_cnt in Sb. rewrite perm_cnt in P.
        specialize (Sb l). specialize (P l). rewrite cnt_app in P. lia.
      - apply step_loose in S as (r & Ir & S). intros (b & Ib & Sb). apply IH.
        destruct (predecessors_complete r c d b S Sb) as (w & Iw & Sw).
        apply loose_below in S as (rest & os & F & T & P & M & _).
        specialize (H2 r Ir). unfold check_rule in H2. rewrite forallb_forall in H2. rewrite T in Ib. specialize (H2 b Ib).
        rewrite forallb_forall in H2. specialize (H2 w Iw). apply orb_true_iff in H2 as [H2|H2].
        + apply andb_true_iff in H2 as [E L]. apply Pos.eqb_eq in E. apply leb_sub in L. exists b. rewrite F. split; [|exact (sub_trans _ _ _ L Sw)]. rewrite E. exact Ib.
        + apply (aboveb_above c (src r, w)); auto. split; auto. }
    intros (c & t & R & It & C). apply (N c R). apply (aboveb_above c t); auto.
  Qed.
End Sound.
