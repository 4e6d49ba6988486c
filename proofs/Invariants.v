(* Vectors, and all three kinds of invariants together: views, vectors and a basis relative to them. *)
Require Import List Bool Arith NArith ZArith PArith Lia Permutation.
Require Import FMapPositive MSetPositive.
Require Import System Multiset Firing Index Trace Downward Views Basis.
Import ListNotations.

(* ---- vectors ---- *)
Open Scope Z_scope.
Record vector := { of_shared : PM.t Z; of_local : PM.t Z }.
Definition weight (m : PM.t Z) (x : positive) : Z := match PM.find x m with Some z => z | None => 0 end.
Definition sum (v : vector) (b : bag) : Z := fold_right (fun e n => weight (of_local v) (fst e) * Z.of_N (snd e) + n) 0 (PM.elements b).
Definition value (v : vector) (c : counted) : Z := weight (of_shared v) (fst c) + sum v (snd c).
Definition nonnegative (v : vector) : bool := forallb (fun e => 0 <=? snd e) (PM.elements (of_local v)).
Definition check_vector_step (V : views) (v : vector) (r : rule) : bool :=
  match PM.find (src r) V with
  | None => true
  | Some g =>
    if together g (take r) then
      (weight (of_shared v) (dst r) + (sum v (put r) + sum v (spawn r)) <=? value v (src r, take r))
      && (stays r || forallb (fun b => forallb (fun y => weight (of_local v) y <=? weight (of_local v) b) (present (fates r b)))
                       (PS.elements (bystanders g (take r))))
    else true
  end.
Definition check_vector (sys : system) (V : views) (v : vector) : bool :=
  nonnegative v && forallb (fun f => forallb (fun l => weight (of_local v) l <=? 0) (any f)) (families sys)
  && forallb (check_vector_step V v) (rules sys).
(* More than every initial configuration counts. *)
Definition exceeds (sys : system) (v : vector) (c : counted) : bool :=
  forallb (fun f => value v (at_shared f, fixed f) <? value v c) (families sys).

Definition list_sum (v : vector) (l : list positive) : Z := fold_right (fun x n => weight (of_local v) x + n) 0 l.
Lemma list_sum_app v a b : list_sum v (a ++ b) = list_sum v a + list_sum v b.
Proof. induction a; simpl; lia. Qed.
Lemma list_sum_perm v a b : Permutation a b -> list_sum v a = list_sum v b.
Proof. induction 1; simpl; lia. Qed.
Lemma list_sum_repeat v x n : list_sum v (repeat x n) = weight (of_local v) x * Z.of_nat n.
Proof. induction n; [simpl; lia|]. simpl list_sum. rewrite IHn. lia. Qed.
Lemma sum_threads v b : sum v b = list_sum v (threads b).
Proof.
  unfold sum, threads, listed. induction (PM.elements b) as [|[x n] es IH]; simpl; [auto|].
  rewrite list_sum_app, list_sum_repeat, IH. simpl. rewrite N_nat_Z. reflexivity.
Qed.
Lemma nonnegative_weight v x : nonnegative v = true -> 0 <= weight (of_local v) x.
Proof.
  unfold nonnegative, weight. rewrite forallb_forall. intros H. destruct (PM.find x (of_local v)) eqn:F; [|lia].
  apply PM.elements_correct in F. specialize (H _ F). simpl in H. lia.
Qed.
Lemma list_sum_sub v a b : nonnegative v = true -> sub a b -> list_sum v a <= list_sum v b.
Proof.
  intros H [e P]. rewrite (list_sum_perm v _ _ P), list_sum_app. assert (0 <= list_sum v e); [|lia].
  induction e as [|x e IH]; simpl; [lia|]. clear P IH. pose proof (nonnegative_weight v x H).
  assert (0 <= list_sum v e); [|lia]. induction e as [|y e IH]; simpl; [lia|]. pose proof (nonnegative_weight v y H). lia.
Qed.
Definition worth (v : vector) (c : config) : Z := weight (of_shared v) (fst c) + list_sum v (snd c).
Lemma vector_step V v r c d : forallb (fun e => symmetric (snd e)) (PM.elements V) = true -> nonnegative v = true ->
  check_vector_step V v r = true -> loose_step r c d -> built V c -> worth v d <= worth v c.
Proof.
  intros Sy N H L (g & Fg & Tg). apply loose_below in L as (rest & os & F & T & P & M & D). unfold check_vector_step in H. rewrite <- F, Fg in H.
  assert (Sg := views_symmetric _ _ _ Sy Fg).
  apply (Together_perm g Sg _ _ P) in Tg. assert (BI := fun b => bystanders_mem g (take r) rest b Tg).
  apply Together_app in Tg as (Tt & _ & _). apply (together_iff g Sg) in Tt. rewrite Tt in H.
  apply andb_true_iff in H as [H1 H2]. apply Z.leb_le in H1. unfold value, worth in *. simpl in H1. rewrite !sum_threads in H1.
  apply (list_sum_sub v _ _ N) in D. rewrite !list_sum_app in D. rewrite (list_sum_perm v _ _ P), list_sum_app.
  rewrite F, T in *. assert (X : list_sum v (present os) <= list_sum v rest); [|lia].
  apply orb_true_iff in H2 as [H2|H2]; [apply stays_moved in M; [|exact H2]; subst os; rewrite present_Some; lia|].
  rewrite forallb_forall in H2. clear - H2 M BI N. induction M as [|a o rest os I M IH]; simpl; [lia|].
  assert (list_sum v (present os) <= list_sum v rest) by (apply IH; intros b Ib; apply BI; right; auto).
  assert (Ba := BI a (or_introl eq_refl)). apply elements_mem in Ba. specialize (H2 a Ba). rewrite forallb_forall in H2.
  pose proof (nonnegative_weight v a N). destruct o as [y|]; simpl; [|lia]. apply present_In in I. specialize (H2 y I). lia.
Qed.
Lemma vector_reachable bd sys V v : check_views sys V = true -> check_vector sys V v = true ->
  forall c, reachable bd sys c -> exists f, In f (families sys) /\ worth v c <= value v (at_shared f, fixed f).
Proof.
  intros HV H c R. assert (Sy : forallb (fun e => symmetric (snd e)) (PM.elements V) = true).
  { apply andb_true_iff in HV as [HV _]. apply andb_true_iff in HV. tauto. }
  apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  rewrite forallb_forall in H2, H3. induction R as [c I | c d R (f & If & IH) S].
  - destruct I as (f & extra & If & E & A & P & _). exists f. split; [auto|]. unfold value, worth; simpl.
    rewrite E, (list_sum_perm v _ _ P), list_sum_app, sum_threads. specialize (H2 f If). rewrite forallb_forall in H2.
    assert (list_sum v extra <= 0); [|lia]. clear - A H2. induction extra as [|x extra IHx]; simpl; [lia|].
    inversion A; subst. specialize (H2 x H1) as Q. apply Z.leb_le in Q. specialize (IHx H3). lia.
  - exists f. split; [auto|]. assert (B := check_views_sound bd sys V HV c R).
    apply step_loose in S as (r & Ir & S). pose proof (vector_step V v r c d Sy H1 (H3 r Ir) S B). lia.
Qed.
Close Scope Z_scope.

(* ---- invariants ---- *)
Definition ruled_out (sys : system) (V : option views) (vs : list vector) (c : counted) : bool :=
  match V with None => false | Some V => negb (builtb V c) || existsb (fun v => exceeds sys v c) vs end.
Definition check_invariants (sys : system) (targets : list counted) (V : option views) (vs : list vector) (B : basis) : bool :=
  match V with None => match vs with [] => true | _ => false end | Some V => check_views sys V && forallb (check_vector sys V) vs end
  && check_basis sys targets B (ruled_out sys V vs).

Theorem check_invariants_sound bd sys targets V vs B : check_invariants sys targets V vs B = true -> ~ reaches bd sys targets.
Proof.
  intros H. apply andb_true_iff in H as [H1 H2]. apply (check_basis_sound bd sys B (ruled_out sys V vs)); [|exact H2].
  intros c d R C. destruct V as [V|]; [|reflexivity]. apply andb_true_iff in H1 as [HV HW]. simpl.
  assert (Sy : forallb (fun e => symmetric (snd e)) (PM.elements V) = true).
  { clear - HV. apply andb_true_iff in HV as [HV _]. apply andb_true_iff in HV. tauto. }
  rewrite (built_covers V c d Sy C (check_views_sound bd sys V HV c R)). simpl.
  apply Bool.not_true_iff_false. intros E. apply existsb_exists in E as (v & Iv & E).
  rewrite forallb_forall in HW. specialize (HW v Iv).
  destruct (vector_reachable bd sys V v HV HW c R) as (f & If & Le).
  unfold exceeds in E. rewrite forallb_forall in E. specialize (E f If). apply Z.ltb_lt in E.
  assert (nonnegative v = true) as N by (unfold check_vector in HW; apply andb_true_iff in HW as [HW _]; apply andb_true_iff in HW; tauto).
  destruct C as [C1 C2]. assert (C3 : sub (threads (snd d)) (snd c)) by exact C2. pose proof (list_sum_sub v _ _ N C3).
  unfold value, worth in *. simpl in *. rewrite C1 in Le. rewrite (sum_threads v (snd d)) in E. lia.
Qed.
