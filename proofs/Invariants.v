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
(* A step decreases the value by [k] at least. *)
Definition check_vector_step (V : views) (v : vector) (k : Z) (r : rule) : bool :=
  match PM.find (src r) V with
  | None => true
  | Some g =>
    if together g (take r) then
      (weight (of_shared v) (dst r) + (sum v (put r) + sum v (spawn r)) + k <=? value v (src r, take r))
      && (stays r || forallb (fun b => forallb (fun y => weight (of_local v) y <=? weight (of_local v) b) (present (fates r b)))
                       (PS.elements (bystanders g (take r))))
    else true
  end.
Definition check_vector (sys : system) (V : views) (v : vector) : bool :=
  nonnegative v && forallb (fun f => forallb (fun l => weight (of_local v) l <=? 0) (any f)) (families sys)
  && forallb (check_vector_step V v 0) (rules sys).
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
Lemma vector_step V v k r c d : forallb (fun e => symmetric (snd e)) (PM.elements V) = true -> nonnegative v = true ->
  check_vector_step V v k r = true -> loose_step r c d -> built V c -> worth v d + k <= worth v c.
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
    apply step_loose in S as (r & Ir & S). pose proof (vector_step V v 0 r c d Sy H1 (H3 r Ir) S B). lia.
Qed.

(* ---- trees: runs that are never in some shared states, and runs that enter them ---- *)
Inductive division := Divide (X : PS.t) (never entered : division) | Settled (v : vector) (drops : list Z).
Definition inside (s : positive) (sets : list PS.t) : bool := existsb (PS.mem s) sets.
(* What a step between these shared states takes from the value: each set with its drop. *)
Definition enters (a b : positive) (X : PS.t) : bool := negb (PS.mem a X) && PS.mem b X.
Definition drop_of (test : PS.t -> bool) (entered : list (PS.t * Z)) : Z :=
  fold_right (fun e n => (if test (fst e) then snd e else 0) + n) 0 entered.
Definition check_leaf_step (V : views) (never : list PS.t) (entered : list (PS.t * Z)) (v : vector) (r : rule) : bool :=
  inside (src r) never || inside (dst r) never || check_vector_step V v (drop_of (enters (src r) (dst r)) entered) r.
Definition check_leaf (sys : system) (V : views) (never entered : list PS.t) (v : vector) (drops : list Z) : bool :=
  nonnegative v && forallb (fun f => forallb (fun l => weight (of_local v) l <=? 0) (any f)) (families sys)
  && Nat.eqb (length drops) (length entered) && forallb (Z.leb 0) drops
  && forallb (check_leaf_step V never (combine entered drops) v) (rules sys).
(* Nothing starts in any of the sets. [entered] has the last set first. *)
Fixpoint check_tree (sys : system) (V : views) (never entered : list PS.t) (t : division) : bool :=
  match t with
  | Divide X a b => forallb (fun f => negb (PS.mem (at_shared f) X)) (families sys)
      && check_tree sys V (X :: never) entered a && check_tree sys V never (X :: entered) b
  | Settled v drops => check_leaf sys V never entered v (rev drops)
  end.
Fixpoint tree_exceeds (sys : system) (never : list PS.t) (t : division) (c : counted) : bool :=
  match t with
  | Divide X a b => tree_exceeds sys (X :: never) a c && tree_exceeds sys never b c
  | Settled v drops => inside (fst c) never
      || forallb (fun f => value v (at_shared f, fixed f) <? value v c + fold_right Z.add 0 drops) (families sys)
  end.

(* A run with the shared states that it has been in, the last one first. *)
Inductive seen (bd : bound) (sys : system) : list positive -> config -> Prop :=
| seen_start c : initial bd sys c -> seen bd sys [fst c] c
| seen_step h c d : seen bd sys h c -> step bd sys c d -> seen bd sys (fst d :: h) d.
Lemma reachable_seen bd sys c : reachable bd sys c -> exists h, seen bd sys h c.
Proof. induction 1 as [c I | c d R [h IH] S]; eexists; [apply seen_start, I | exact (seen_step _ _ _ _ _ IH S)]. Qed.
Lemma seen_reachable bd sys h c : seen bd sys h c -> reachable bd sys c.
Proof. induction 1 as [c I | h c d S IH T]; [exact (reachable_start _ _ _ I) | exact (reachable_step _ _ _ _ IH T)]. Qed.
Lemma seen_now bd sys h c : seen bd sys h c -> In (fst c) h.
Proof. destruct 1; left; reflexivity. Qed.
Definition touched (h : list positive) (X : PS.t) : bool := existsb (fun s => PS.mem s X) h.
Definition apart (sys : system) (X : PS.t) : Prop := forall f, In f (families sys) -> PS.mem (at_shared f) X = false.

Lemma drop_of_le f g E : (forall e, In e E -> 0 <= snd e) -> (forall X, In X (map fst E) -> f X = true -> g X = true) -> drop_of f E <= drop_of g E.
Proof.
  induction E as [|[X d] E IH]; intros P H; simpl; [lia|]. assert (drop_of f E <= drop_of g E) by (apply IH; intros; [apply P | apply H]; simpl; auto).
  specialize (P (X, d) (or_introl eq_refl)). specialize (H X (or_introl eq_refl)). simpl in P. destruct (f X), (g X); try lia.
Qed.
Lemma drop_of_or f g E : (forall e, In e E -> 0 <= snd e) -> drop_of (fun X => f X || g X) E <= drop_of f E + drop_of g E.
Proof.
  induction E as [|[X d] E IH]; intros P; simpl; [lia|]. assert (D := IH (fun e I => P e (or_intror I))). specialize (P (X, d) (or_introl eq_refl)).
  simpl in P. destruct (f X), (g X); simpl; lia.
Qed.
Lemma leaf_seen bd sys V never entered v drops h c : check_views sys V = true -> check_leaf sys V never entered v drops = true ->
  (forall X, In X entered -> apart sys X) -> seen bd sys h c -> (forall s, In s h -> inside s never = false) ->
  exists f, In f (families sys) /\ worth v c + drop_of (touched h) (combine entered drops) <= value v (at_shared f, fixed f).
Proof.
  intros HV H A S. assert (Sy : forallb (fun e => symmetric (snd e)) (PM.elements V) = true).
  { apply andb_true_iff in HV as [HV _]. apply andb_true_iff in HV. tauto. }
  apply andb_true_iff in H as [H H5]. apply andb_true_iff in H as [H H4]. apply andb_true_iff in H as [H H3]. apply andb_true_iff in H as [H1 H2].
  rewrite forallb_forall in H2, H4, H5.
  assert (Pos : forall e, In e (combine entered drops) -> 0 <= snd e).
  { intros [X d] I. apply in_combine_r in I. specialize (H4 d I). simpl. lia. }
  assert (In_ : forall X, In X (map fst (combine entered drops)) -> In X entered).
  { intros X I. apply in_map_iff in I as ([Y d] & <- & I). apply in_combine_l in I. exact I. }
  induction S as [c I | h c d S IH T]; intros N.
  - destruct I as (f & extra & If & E & Any_ & P & _). exists f. split; [auto|]. unfold value, worth; simpl.
    rewrite E, (list_sum_perm v _ _ P), list_sum_app, sum_threads. specialize (H2 f If). rewrite forallb_forall in H2.
    assert (list_sum v extra <= 0).
    { clear - Any_ H2. induction extra as [|x extra IHx]; simpl; [lia|].
      inversion Any_; subst. specialize (H2 x H1) as Q. apply Z.leb_le in Q. specialize (IHx H3). lia. }
    assert (drop_of (touched [at_shared f]) (combine entered drops) <= drop_of (fun _ => false) (combine entered drops)).
    { apply drop_of_le; [exact Pos|]. intros X I. unfold touched; simpl. rewrite (A X (In_ X I) f If). discriminate. }
    assert (Zero : forall E, drop_of (fun _ => false) E = 0) by (induction E0; simpl; lia). rewrite Zero in H0. lia.
  - destruct (IH (fun s I => N s (or_intror I))) as (f & If & Le). exists f. split; [auto|].
    assert (B := check_views_sound bd sys V HV c (seen_reachable _ _ _ _ S)).
    assert (Dst := N (fst d) (or_introl eq_refl)). assert (Src := N (fst c) (or_intror (seen_now _ _ _ _ S))).
    apply step_loose in T as (r & Ir & T). specialize (H5 r Ir). unfold check_leaf_step in H5.
    assert (Ends : fst c = src r /\ fst d = dst r) by (apply loose_below in T as (rest & os & F & G & _); auto).
    destruct Ends as [F G]. rewrite F in Src. rewrite G in Dst. rewrite Src, Dst in H5. simpl in H5.
    pose proof (vector_step V v _ r c d Sy H1 H5 T B).
    assert (drop_of (touched (fst d :: h)) (combine entered drops)
      <= drop_of (fun X => touched h X || enters (src r) (dst r) X) (combine entered drops)).
    { apply drop_of_le; [exact Pos|]. intros X I. unfold touched; simpl. rewrite G. intros Q. apply orb_true_iff.
      destruct (existsb (fun s => PS.mem s X) h) eqn:Old; [left; reflexivity|]. right. apply orb_true_iff in Q as [Q|Q]; [|discriminate].
      unfold enters. rewrite Q, andb_true_r. apply negb_true_iff, Bool.not_true_iff_false. intros M.
      assert (Y : existsb (fun s => PS.mem s X) h = true) by (apply existsb_exists; exists (fst c); rewrite F; split; [rewrite <- F; exact (seen_now _ _ _ _ S) | exact M]).
      rewrite Old in Y. discriminate. }
    pose proof (drop_of_or (touched h) (enters (src r) (dst r)) (combine entered drops) Pos). lia.
Qed.
Lemma drop_of_all (f : PS.t -> bool) entered drops : length drops = length entered -> (forall X, In X entered -> f X = true) ->
  drop_of f (combine entered drops) = fold_right Z.add 0 drops.
Proof.
  revert drops. induction entered as [|X E IH]; intros [|d ds] L H; simpl in *; try lia. rewrite (H X (or_introl eq_refl)), IH; [lia | lia | auto].
Qed.
Lemma sum_rev ds : fold_right Z.add 0 (rev ds) = fold_right Z.add 0 ds.
Proof.
  assert (App : forall a b, fold_right Z.add 0 (a ++ b) = fold_right Z.add 0 a + fold_right Z.add 0 b) by (induction a; intros; simpl; [lia|rewrite IHa; lia]).
  induction ds; simpl; [auto|]. rewrite App, IHds. simpl. lia.
Qed.
Lemma inside_cons s X sets : inside s (X :: sets) = PS.mem s X || inside s sets.
Proof. reflexivity. Qed.
Lemma tree_seen bd sys V t h c d : check_views sys V = true -> seen bd sys h c -> covers c d -> forall never entered,
  check_tree sys V never entered t = true -> (forall X, In X entered -> apart sys X /\ touched h X = true) ->
  (forall s, In s h -> inside s never = false) -> tree_exceeds sys never t d = false.
Proof.
  intros HV S C. induction t as [X a IHa b IHb | v drops]; intros never entered H E N; simpl in *.
  - apply andb_true_iff in H as [H Hb]. apply andb_true_iff in H as [Hx Ha].
    assert (Ax : apart sys X) by (intros f If; rewrite forallb_forall in Hx; specialize (Hx f If); apply negb_true_iff, Hx).
    destruct (touched h X) eqn:Tx.
    + rewrite (IHb never (X :: entered) Hb); [apply andb_false_r | | exact N]. intros Y [<-|I]; [auto | apply E, I].
    + rewrite (IHa (X :: never) entered Ha E); [reflexivity|]. intros s I. rewrite inside_cons, (N s I), orb_false_r.
      apply Bool.not_true_iff_false. intros M. assert (touched h X = true) by (apply existsb_exists; exists s; auto). congruence.
  - apply Bool.not_true_iff_false. intros Q. destruct C as [C1 C2]. assert (C3 : sub (threads (snd d)) (snd c)) by exact C2.
    apply orb_true_iff in Q as [Q|Q]; [rewrite <- C1, (N _ (seen_now _ _ _ _ S)) in Q; discriminate|].
    destruct (leaf_seen bd sys V never entered v (rev drops) h c HV H (fun X I => proj1 (E X I)) S N) as (f & If & Le).
    rewrite forallb_forall in Q. specialize (Q f If). apply Z.ltb_lt in Q.
    apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H _]. apply andb_true_iff in H as [H L]. apply andb_true_iff in H as [Nn _].
    apply Nat.eqb_eq in L. rewrite (drop_of_all _ _ _ L (fun X I => proj2 (E X I))), sum_rev in Le.
    pose proof (list_sum_sub v _ _ Nn C3). unfold value, worth in *. simpl in *. rewrite C1 in Le. rewrite (sum_threads v (snd d)) in Q. lia.
Qed.
Close Scope Z_scope.

(* ---- invariants ---- *)
Record vectors := { of_all_runs : list vector; by_cases : list division }.
Definition no_vectors (vs : vectors) : bool := match vs with {| of_all_runs := []; by_cases := [] |} => true | _ => false end.
Definition ruled_out (sys : system) (V : option views) (vs : vectors) (c : counted) : bool :=
  match V with
  | None => false
  | Some V => negb (builtb V c) || existsb (fun v => exceeds sys v c) (of_all_runs vs) || existsb (fun t => tree_exceeds sys [] t c) (by_cases vs)
  end.
Definition check_invariants (sys : system) (targets : list counted) (V : option views) (vs : vectors) (B : basis) : bool :=
  match V with
  | None => no_vectors vs
  | Some V => check_views sys V && forallb (check_vector sys V) (of_all_runs vs) && forallb (check_tree sys V [] []) (by_cases vs)
  end && check_basis sys targets B (ruled_out sys V vs).

Theorem check_invariants_sound bd sys targets V vs B : check_invariants sys targets V vs B = true -> ~ reaches bd sys targets.
Proof.
  intros H. apply andb_true_iff in H as [H1 H2]. apply (check_basis_sound bd sys B (ruled_out sys V vs)); [|exact H2].
  intros c d R C. destruct V as [V|]; [|reflexivity]. apply andb_true_iff in H1 as [H1 HT]. apply andb_true_iff in H1 as [HV HW]. simpl.
  assert (Sy : forallb (fun e => symmetric (snd e)) (PM.elements V) = true).
  { clear - HV. apply andb_true_iff in HV as [HV _]. apply andb_true_iff in HV. tauto. }
  rewrite (built_covers V c d Sy C (check_views_sound bd sys V HV c R)). simpl.
  apply Bool.not_true_iff_false. intros E. apply orb_true_iff in E as [E|E].
  - apply existsb_exists in E as (v & Iv & E). rewrite forallb_forall in HW. specialize (HW v Iv).
    destruct (vector_reachable bd sys V v HV HW c R) as (f & If & Le).
    unfold exceeds in E. rewrite forallb_forall in E. specialize (E f If). apply Z.ltb_lt in E.
    assert (nonnegative v = true) as N by (unfold check_vector in HW; apply andb_true_iff in HW as [HW _]; apply andb_true_iff in HW; tauto).
    destruct C as [C1 C2]. assert (C3 : sub (threads (snd d)) (snd c)) by exact C2. pose proof (list_sum_sub v _ _ N C3).
    unfold value, worth in *. simpl in *. rewrite C1 in Le. rewrite (sum_threads v (snd d)) in E. lia.
  - apply existsb_exists in E as (t & It & E). rewrite forallb_forall in HT. destruct (reachable_seen bd sys c R) as [h S].
    rewrite (tree_seen bd sys V t h c d HV S C [] [] (HT t It)) in E; [discriminate | intros X [] | reflexivity].
Qed.
